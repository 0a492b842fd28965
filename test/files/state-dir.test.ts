// Lost without it: a file could be written through a link, or be readable by others.
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../directory.ts';
import { Redactor } from '../../src/redact.ts';
import { RunLog } from '../../src/files/run-log.ts';
import { systemClock } from '../../src/clock.ts';
import { openRateHistory } from '../../src/store/rate-history.ts';
import { removeLeftovers, temporaryName } from '../../src/files/private-file.ts';
import { writeLines } from '../../src/files/write-lines.ts';
import { StateDir } from '../../src/files/state-dir.ts';

it('creates a state directory that only its owner can read', async () => {
  const state = await StateDir.create(join(temporaryDirectory(), 'a', 'state'));
  expect((await stat(state.path)).mode & 0o777).toBe(0o700);
});

it('closes directories and files to others that exist with open modes', async () => {
  const path = temporaryDirectory();
  await mkdir(join(path, 'dry-run'));
  await writeFile(join(path, 'run.log'), 'old\n');
  for (const each of ['.', 'dry-run', 'run.log']) await chmod(join(path, each), 0o777);
  const state = await StateDir.create(path);
  await state.directory('dry-run');
  new RunLog(state.file('run.log'), new Redactor()).close();
  const modes = ['.', 'dry-run', 'run.log'].map(async (each) => (await stat(join(path, each))).mode & 0o777);
  expect(await Promise.all(modes)).toEqual([0o700, 0o700, 0o600]);
});

describe('nothing is written through a symbolic link', () => {
  async function linked(name: string): Promise<{ state: StateDir; outside: string }> {
    const base = temporaryDirectory();
    const outside = join(base, 'outside');
    await writeFile(outside, 'mine');
    const state = await StateDir.create(join(base, 'state'));
    await symlink(outside, state.file(name));
    return { state, outside };
  }

  it.each([
    ['a log', async (state: StateDir) => new RunLog(state.file('f'), new Redactor())],
    ['a database', async (state: StateDir) => openRateHistory({ file: () => state.file('f') }, systemClock)],
  ])('%s', async (_name, open) => {
    const { state, outside } = await linked('f');
    await expect(open(state)).rejects.toThrow(/cannot (write|use) .*f: it is a symbolic link/);
    expect(await readFile(outside, 'utf8')).toBe('mine');
  });

  it('a directory', async () => {
    const base = temporaryDirectory();
    await mkdir(join(base, 'outside'));
    const state = await StateDir.create(join(base, 'state'));
    await symlink(join(base, 'outside'), state.file('rejects'));
    await expect(state.directory('rejects')).rejects.toThrow(/rejects: it is a symbolic link/);
  });
});

it('a named pipe in place of a file is refused, and not waited for', async () => {
  const state = await StateDir.create(join(temporaryDirectory(), 'state'));
  spawnSync('mkfifo', [state.file('run.log')]);
  expect(() => new RunLog(state.file('run.log'), new Redactor())).toThrow('it is a named pipe');
});

it('says that the directory of another user may not be used, and not that there is none', async () => {
  const path = temporaryDirectory();
  await chmod(path, 0o000);
  const isRoot = process.geteuid!() === 0;
  // Root may enter everything.
  if (isRoot) process.seteuid!(65_534);
  try {
    expect(() => StateDir.find(path)).toThrow(`cannot use the state directory ${path}: EACCES`);
  } finally {
    if (isRoot) process.seteuid!(0);
    await chmod(path, 0o700);
  }
});

describe('several commands write the same file at the same time', () => {
  it('line by line', async () => {
    const path = join(temporaryDirectory(), 'errors.csv');
    const lines = function* (): Generator<string> {
      yield 'one\n';
      writeLines(path, '', ['other\n'], (line) => line);
      yield 'two\n';
    };
    writeLines(path, '', lines(), (line) => line);
    expect(await readFile(path, 'utf8')).toBe('one\ntwo\n');
    expect(await readdir(dirname(path))).toEqual(['errors.csv']);
  });

  it('what one that was killed left is deleted once it is old', async () => {
    const path = temporaryDirectory();
    const [old, young] = [1, 2].map(() => temporaryName(join(path, 'errors.csv'))) as [string, string];
    for (const each of [old, young, join(path, 'mine.tmp')]) await writeFile(each, 'Ada');
    for (const each of [old, join(path, 'mine.tmp')]) await utimes(each, 0, 0);
    removeLeftovers(path);
    expect((await readdir(path)).sort()).toEqual([basename(young), 'mine.tmp'].sort());
  });
});
