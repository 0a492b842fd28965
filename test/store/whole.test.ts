import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Schema } from '../../src/store/sqlite.ts';
import { Database } from '../../src/store/sqlite.ts';
import { checkWhole } from '../../src/store/whole.ts';
import { temporaryDirectory } from '../directory.ts';

const SCHEMA: Schema = {
  name: 'notes',
  applicationId: 7,
  version: 1,
  tables: 'create table note (id integer primary key, content text not null) strict;',
};

/** A database of about this many bytes. */
function made(bytes: number): string {
  const path = join(temporaryDirectory(), 'notes.db');
  const db = Database.open(path, SCHEMA);
  db.exec('pragma notes.journal_mode = wal');
  db.transaction(() => {
    for (let size = 0; size < bytes; size += 10_000) {
      db.run('insert into notes.note (content) values (?)', 'x'.repeat(10_000));
    }
  });
  db.close();
  return path;
}

function damage(path: string): void {
  const handle = openSync(path, 'r+');
  for (let at = 5 * 4096; at < statSync(path).size; at += 7 * 4096) {
    writeSync(handle, Buffer.alloc(4096, 0xab), 0, 4096, at);
  }
  closeSync(handle);
}

it.each([
  ['small', 100_000],
  ['large', 20_000_000],
])('a %s file is read whole, and damage in it is found', async (_what, bytes) => {
  const path = made(bytes);
  await checkWhole(path, SCHEMA).whole;
  damage(path);
  const checked = async (): Promise<void> => checkWhole(path, SCHEMA).whole;
  await expect(checked()).rejects.toThrow(`cannot use ${path}: it is damaged`);
});

it('a reading that is no longer needed can be ended', async () => {
  const check = checkWhole(made(20_000_000), SCHEMA);
  check.stop();
  await check.whole.catch(() => undefined);
});
