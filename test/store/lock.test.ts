import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { readdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { StateDir } from '../../src/files/state-dir.ts';
import { openCheckpoint } from '../../src/store/checkpoint.ts';
import { Lock, lockHolder, nameHolder } from '../../src/store/lock.ts';
import { project, start, workspace } from '../e2e/harness.ts';

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
  const { cwd, env } = await project({
    'mapping.yaml': `version: 1
migration: m
sources: { people: { path: people.csv } }
events: [{ type: lead/created, source: people, data: { external_id: id, full_name: name } }]
`,
    'people.csv': 'id,name\n1,Ada\n',
  });
  const dryRun = await (await StateDir.create(join(cwd, '.backfill/m'))).directory('dry-run');
  const lock = Lock.acquire(dryRun);
  const waiting = start(['run', 'mapping.yaml', '--dry-run'], { cwd, env });
  await expect.poll(() => waiting.stderr(), { timeout: 30_000 }).toContain('another dry run');
  expect((await readdir(dryRun.path)).filter((name) => !name.startsWith('run.lock'))).toEqual([]);
  lock.release();
  expect((await waiting.ended).code).toBe(0);
  expect(await readdir(dryRun.path)).toContain('plan.db');
});

it('the checkpoint says which process on which machine holds it', async () => {
  const state = await StateDir.create(join(await workspace(), 'state'));
  const checkpoint = openCheckpoint(state);
  nameHolder(checkpoint);
  checkpoint.close();
  expect(lockHolder(state)).toBeUndefined();
  const holder = await holding(state);
  expect(lockHolder(state)).toMatchObject({ pid: process.pid, host: hostname() });
  expect(() => Lock.acquire(state)).toThrow(`process ${process.pid} on ${hostname()}`);
  await holder.kill();
});
