// Lost without it: a damaged or foreign database could be used.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { StateDir } from '../../src/files/state-dir.ts';
import { CHECKPOINT } from '../../src/store/checkpoint-schema.ts';
import { openCheckpoint } from '../../src/store/checkpoint.ts';
import { PLAN } from '../../src/store/plan-schema.ts';
import { Database } from '../../src/store/sqlite.ts';
import { workspace } from '../e2e/harness.ts';

let directory: string;
let checkpoint: string;
beforeEach(async () => {
  directory = await workspace();
  checkpoint = join(directory, 'checkpoint.db');
});

/** The error with its hint, and its exit code. */
function refusal(act: () => unknown): { code: number; text: string } {
  try {
    act();
  } catch (error) {
    if (error instanceof UserError) return { code: error.exitCode, text: `${error.message}\n${error.hint ?? ''}` };
    throw error;
  }
  throw new Error('it was accepted');
}

function fill(path: string, rows: number): void {
  const db = Database.open(path, CHECKPOINT);
  db.transaction(() => {
    for (let n = 0; n < rows; n += 1) db.run('insert into setting values (?, ?)', `name ${n}`, 'x'.repeat(500));
  });
  db.close();
}

describe('a database', () => {
  it('is created for its owner only, with all that belongs to it', () => {
    const db = Database.open(checkpoint, CHECKPOINT);
    db.exec('pragma checkpoint.journal_mode = wal');
    db.run("insert into setting values ('a', 'b')");
    for (const suffix of ['', '-wal', '-shm']) expect(statSync(checkpoint + suffix).mode & 0o777).toBe(0o600);
    db.close();
  });

  it('that a killed process had only begun to create counts as none, and is created', () => {
    writeFileSync(checkpoint, '');
    expect(Database.read(checkpoint, CHECKPOINT)).toBeUndefined();
    const plan = Database.inMemory(PLAN);
    plan.attach(checkpoint, 'checkpoint', CHECKPOINT);
    expect(plan.all('select * from checkpoint.request')).toEqual([]);
    plan.close();
    Database.open(checkpoint, CHECKPOINT).close();
    const db = Database.read(checkpoint, CHECKPOINT)!;
    expect(db.all('select * from sent')).toEqual([]);
    db.close();
  });

  it('can be read while another process writes it, and not written by those who read', () => {
    fill(checkpoint, 1);
    const writer = Database.open(checkpoint, CHECKPOINT);
    writer.exec('pragma checkpoint.journal_mode = wal; begin');
    writer.run("insert into setting values ('new', 'x')");
    const reader = Database.read(checkpoint, CHECKPOINT)!;
    expect(reader.get('select count(*) as n from setting')).toEqual({ n: 1 });
    expect(refusal(() => reader.run('delete from setting'))).toMatchObject({
      text: expect.stringContaining('it cannot be written') as string,
    });
    writer.exec('commit');
    expect(reader.get('select count(*) as n from setting')).toEqual({ n: 2 });
    reader.close();
    writer.close();
  });

  it('that a process was writing when it was killed is as it was after its last commit', () => {
    fill(checkpoint, 3);
    const program = `
      import { Database } from ${JSON.stringify(join(import.meta.dirname, '../../dist/store/sqlite.js'))};
      import { CHECKPOINT } from ${JSON.stringify(join(import.meta.dirname, '../../dist/store/checkpoint-schema.js'))};
      const db = Database.open(${JSON.stringify(checkpoint)}, CHECKPOINT);
      db.exec('pragma checkpoint.journal_mode = wal; pragma checkpoint.synchronous = full');
      db.run("insert into setting values ('committed', 'x')");
      db.exec('begin');
      for (let n = 0; n < 20000; n += 1) db.run('insert into setting values (?, ?)', 'lost ' + n, 'x'.repeat(200));
      process.kill(process.pid, 'SIGKILL');`;
    const { signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program]);
    expect(signal, stderr.toString()).toBe('SIGKILL');
    const db = Database.open(checkpoint, CHECKPOINT);
    expect(db.get('select count(*) as n from setting')).toEqual({ n: 4 });
    db.close();
  });

  it('holds back nothing of a transaction that fails', () => {
    const db = Database.inMemory(CHECKPOINT);
    const failing = (): void => {
      db.run("insert into setting values ('a', 'b')");
      throw new Error('odd');
    };
    expect(() => db.transaction(failing)).toThrow('odd');
    expect(db.all('select * from setting')).toEqual([]);
  });
});

describe('with what to do, a file is refused that', () => {
  it.each<[string, () => void, RegExp]>([
    ['is text', () => writeFileSync(checkpoint, 'a letter '.repeat(200)), /it is not a database/],
    ['is shorter than its tables', () => (fill(checkpoint, 200), truncateSync(checkpoint, 8192)), /it is damaged/],
    [
      'has other bytes in its pages',
      () => {
        fill(checkpoint, 200);
        const bytes = readFileSync(checkpoint);
        writeFileSync(checkpoint, bytes.fill(0xa5, 4096, bytes.length - 4096));
      },
      /it is damaged/,
    ],
    [
      'another program made',
      () => {
        const db = new DatabaseSync(checkpoint);
        db.exec('create table t (a)');
        db.close();
      },
      /it was not written by this program/,
    ],
    ['is the plan', () => Database.open(checkpoint, PLAN).close(), /it was not written by this program/],
    [
      'a later version wrote',
      () => Database.open(checkpoint, { ...CHECKPOINT, version: 99 }).close(),
      /a later version/,
    ],
    [
      'an earlier version wrote',
      () => Database.open(checkpoint, { ...CHECKPOINT, version: 0 }).close(),
      /an earlier version/,
    ],
    ['is a directory', () => mkdirSync(checkpoint), /EISDIR|cannot be opened/],
    ['is a link', () => symlinkSync('/etc/passwd', checkpoint), /it is a symbolic link/],
    ['is a named pipe', () => void spawnSync('mkfifo', [checkpoint]), /it is a named pipe/],
  ])('%s', (_name, damage, expected) => {
    damage();
    const use = (): unknown => {
      const db = Database.open(checkpoint, CHECKPOINT);
      try {
        return db.all('select * from setting');
      } finally {
        db.close();
      }
    };
    const { code, text } = refusal(use);
    expect(text).toMatch(expected);
    expect(text).toContain(`cannot use ${checkpoint}: `);
    expect(text).toMatch(/restore a copy of the file|check the permissions/);
    expect(code).toBe(2);
  });
});

it('a directory in which nothing may be written is named', async (context) => {
  const disk = join(directory, 'disk');
  mkdirSync(disk);
  if (spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', disk]).status !== 0) {
    return context.skip('this process may not mount a file system');
  }
  onTestFinished(() => void spawnSync('umount', ['-l', disk]));
  const state = await StateDir.create(join(disk, 'state'));
  openCheckpoint(state).close();
  spawnSync('mount', ['-o', 'remount,ro', disk]);
  expect(refusal(() => openCheckpoint(state))).toMatchObject({
    code: 2,
    text: expect.stringMatching(/cannot use .*checkpoint\.db: .*\n.*check the permissions/) as string,
  });
});
