import { spawn } from 'node:child_process';
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Lock, StateDir } from '../src/state-dir.ts';

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'backfill-lock-'));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

it('locks a state directory for one run at a time, for any path to it', async () => {
  const base = await directory();
  const state = await StateDir.create(join(base, 'state'));
  await symlink(state.path, join(base, 'alias'));
  const lock = await Lock.acquire(state, { takeOver: false });
  const alias = await StateDir.create(join(base, 'alias'));
  await expect(Lock.acquire(alias, { takeOver: false })).rejects.toThrow('in use by process');
  await expect(Lock.acquire(alias, { takeOver: true })).rejects.toThrow('in use by process');
  await lock.release();
  await (await Lock.acquire(alias, { takeOver: false })).release();
});

it('releases the lock immediately if its process is killed', async () => {
  const state = await StateDir.create(join(await directory(), 'state'));
  const program = `
    import { Lock, StateDir } from ${JSON.stringify(join(import.meta.dirname, '../dist/state-dir.js'))};
    await Lock.acquire(await StateDir.create(${JSON.stringify(state.path)}), { takeOver: false });
    console.log('held');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await expect(Lock.acquire(state, { takeOver: false })).rejects.toThrow(`in use by process ${child.pid}`);
  child.kill('SIGKILL');
  await once(child, 'close');
  await (await Lock.acquire(state, { takeOver: false })).release();
});

it('takes over the lock of another machine only on request', async () => {
  const state = await StateDir.create(join(await directory(), 'state'));
  await writeFile(state.file('lock.json'), JSON.stringify({ host: 'elsewhere', pid: 1, at: '2026-01-01T00:00:00Z' }));
  await expect(Lock.acquire(state, { takeOver: false })).rejects.toThrow('in use by elsewhere');
  await (await Lock.acquire(state, { takeOver: true })).release();
});

it('creates a state directory that only its owner can read', async () => {
  const state = await StateDir.create(join(await directory(), 'a', 'state'));
  expect((await stat(state.path)).mode & 0o777).toBe(0o700);
});
