// Lost without it: a reader could write, or two runs hold one directory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { readdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { StateDir } from '../../src/files/state-dir.ts';
import { Lock, lockHolder } from '../../src/store/lock.ts';
import { readState } from '../../src/store/open.ts';
import { Database, type Schema } from '../../src/store/sqlite.ts';
import { checkWhole } from '../../src/store/whole.ts';
import { temporaryDirectory } from '../directory.ts';
import { mapping, project, workspace } from '../e2e/harness.ts';
import { StateOf } from '../state.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

it('a state without a checkpoint or a plan reads as an empty one, and cannot be written to', async () => {
  const root = join(await workspace(), 'state');
  const dry = await StateOf.create(join(root, 'dry-run'));
  dry.source('people').event('lead/created', '1', { full_name: 'Ada' });
  dry.close();
  const state = await StateDir.existing(root);
  for (const [output, events] of [
    [await StateDir.existing(join(root, 'dry-run')), 1],
    [state, 0],
  ] as const) {
    const db = readState(state, output);
    expect(db.get('select count(*) as number from event')).toEqual({ number: events });
    expect(db.get('select count(*) as number from checkpoint.sent')).toEqual({ number: 0 });
    expect(() => db.run('delete from event')).toThrow('it cannot be written');
    db.close();
  }
});

it('rows are read one by one while memory is collected', async () => {
  const given = await StateOf.create(join(await workspace(), 'state'));
  given.source('people');
  given.plan.transaction(() => {
    for (let id = 0; id < 2_000; id += 1) given.event('lead/created', String(id), { full_name: 'x' });
  });
  const db = readState(given.close());
  let read = 0;
  for (const { data } of db.each<{ data: string }>('select data from event')) {
    expect(JSON.parse(data)).toMatchObject({ full_name: 'x' });
    read += 1;
    // An iterator once lost its statement to this, and the process with it.
    if (read % 500 !== 0) continue;
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(read).toBe(2_000);
  db.close();
});

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

const DIST = pathToFileURL(join(import.meta.dirname, '../../dist/')).href;

/** A process that holds the lock of a state directory until it is killed. */
async function holding(state: StateDir): Promise<{ readonly pid: number; kill(): Promise<void> }> {
  const program = `
    import { Lock } from '${DIST}store/lock.js';
    import { StateDir } from '${DIST}files/state-dir.js';
    globalThis.lock = Lock.acquire(await StateDir.existing(${JSON.stringify(state.path)}));
    console.log('held');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return {
    pid: child.pid!,
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}

it('one run at a time holds a state directory, whatever the path to it, until it is killed', async () => {
  const base = await workspace();
  const state = await StateDir.create(join(base, 'state'));
  await symlink(state.path, join(base, 'alias'));
  const alias = await StateDir.create(join(base, 'alias'));
  expect(lockHolder(state)).toBeUndefined();
  const holder = await holding(state);
  expect(() => Lock.acquire(alias)).toThrow(expect.objectContaining({ exitCode: 3 }) as Error);
  expect(lockHolder(alias)).toBeDefined();
  await holder.kill();
  expect(lockHolder(alias)).toBeUndefined();
  const lock = Lock.acquire(alias);
  expect(lockHolder(state)).toBeDefined();
  lock.release();
  expect(lockHolder(state)).toBeUndefined();
  expect((await stat(state.file('run.lock'))).mode & 0o777).toBe(0o600);
});

it('a dry run waits while another one is at work in the same directory', async () => {
  const { start, state } = await project({
    'mapping.yaml': mapping({ people: 'type: lead/created, data: { external_id: id, full_name: name }' }),
    'people.csv': 'id,name\n1,Ada\n',
  });
  const dryRun = await (await StateDir.create(state())).directory('dry-run');
  const lock = Lock.acquire(dryRun);
  const waiting = start('--dry-run');
  await expect.poll(() => waiting.stderr(), { timeout: 120_000 }).toContain('another dry run');
  expect((await readdir(dryRun.path)).filter((name) => !name.startsWith('run.lock'))).toEqual([]);
  lock.release();
  expect((await waiting.ended).code).toBe(0);
  expect(await readdir(dryRun.path)).toContain('plan.db');
});
