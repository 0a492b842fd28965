import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Lock, lockHolder } from '../src/lock.ts';
import { StateDir } from '../src/state-dir.ts';
import { backfill, environmentOf, FAST, files, sandbox, start, workspace } from './e2e/harness.ts';

async function stateDir(): Promise<StateDir> {
  return StateDir.create(join(await workspace(), 'state'));
}

/** Another process that holds the lock of this directory, as a run does. */
async function holding(state: StateDir): Promise<ChildProcess> {
  const module = (name: string): string => JSON.stringify(join(import.meta.dirname, '../dist', name));
  const program = `
    import { Lock, nameHolder } from ${module('lock.js')};
    import { StateDir } from ${module('state-dir.js')};
    import { openCheckpoint } from ${module('store/checkpoint.js')};
    const state = await StateDir.create(${JSON.stringify(state.path)});
    globalThis.lock = Lock.acquire(state);
    nameHolder(openCheckpoint(state));
    console.log('held');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

it('locks a state directory for one run at a time, for any path to it', async () => {
  const base = await workspace();
  const state = await StateDir.create(join(base, 'state'));
  await symlink(state.path, join(base, 'alias'));
  const lock = Lock.acquire(state);
  const alias = await StateDir.create(join(base, 'alias'));
  expect(() => Lock.acquire(alias)).toThrow('another run is using');
  lock.release();
  Lock.acquire(alias).release();
});

it('names the process that holds the lock, and is free as soon as that is killed', async () => {
  const state = await stateDir();
  const child = await holding(state);
  expect(() => Lock.acquire(state)).toThrow(
    expect.objectContaining({
      message: expect.stringContaining(`process ${child.pid} on ${hostname()}, since 20`) as string,
      exitCode: 3,
    }),
  );
  expect(lockHolder(state)).toMatchObject({ pid: child.pid, host: hostname() });
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(lockHolder(state)).toBeUndefined();
  Lock.acquire(state).release();
});

it('nobody holds the lock of a directory in which nothing ran', async () => {
  expect(lockHolder(await stateDir())).toBeUndefined();
});

it('holds while others look who holds it, and those who look do not keep a run from taking it', async () => {
  const state = await stateDir();
  const lock = Lock.acquire(state);
  for (let look = 0; look < 20; look += 1) expect(lockHolder(state)).toBeDefined();
  expect(() => Lock.acquire(state)).toThrow('another run is using');
  lock.release();
  for (let look = 0; look < 20; look += 1) expect(lockHolder(state)).toBeUndefined();
  Lock.acquire(state).release();
});

it('a lock that is no database says which file is in the way', async () => {
  const state = await stateDir();
  await writeFile(state.file('run.lock'), 'x'.repeat(5000));
  expect(() => Lock.acquire(state)).toThrow(
    expect.objectContaining({ name: 'UserError', message: expect.stringContaining('run.lock') as string }),
  );
});

it('a second run is refused while the first goes on; `status` looks; after kill -9 the next run continues', async () => {
  const service = await sandbox({ faults: { rules: [{ kind: 'latency', min_ms: 300, max_ms: 300 }] } });
  const cwd = await workspace();
  await files(cwd, {
    'people.csv': `Id,Name\n${Array.from({ length: 40 }, (_, id) => `${id},Name ${id}\n`).join('')}`,
    'mapping.yaml':
      'version: 1\nmigration: people\nsources: { people: { path: people.csv } }\n' +
      'events:\n  - { type: lead/created, source: people, data: { external_id: Id, full_name: Name } }\n',
  });
  const posts = (): number => service.requests().filter(({ method }) => method === 'POST').length;
  const run = ['run', 'mapping.yaml', '--concurrency', '1', ...FAST];
  const env = environmentOf(service);
  const first = start(run, { cwd, env });
  await expect.poll(posts, { timeout: 20_000 }).toBeGreaterThan(1);

  const second = await backfill(run, { cwd, env });
  expect(second.code, second.stderr).toBe(3);
  expect(second.stderr).toContain(`process ${first.child.pid} on ${hostname()}`);
  const status = await backfill(['status', 'mapping.yaml'], { cwd });
  expect(status.code, status.stderr).toBe(0);
  expect(status.stdout).toContain(`running: process ${first.child.pid} on ${hostname()}`);

  first.child.kill('SIGKILL');
  await first.ended;
  service.setFaults({ rules: [] });
  const third = await backfill(run, { cwd, env });
  expect(third.code, third.stderr).toBe(0);
  expect(service.state().leads).toHaveLength(40);
});
