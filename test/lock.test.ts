import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Halt } from '../src/halt.ts';
import { Lock, lockHolder } from '../src/lock.ts';
import { StateDir } from '../src/state-dir.ts';
import { backfill, environmentOf, FAST, files, sandbox, start, workspace } from './e2e/harness.ts';
import { VirtualClock } from './service/virtual-clock.ts';

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'backfill-lock-'));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

function virtualClock(): VirtualClock {
  const clock = new VirtualClock();
  onTestFinished(() => clock.stop());
  return clock;
}

/** A lock as a process in another container writes it that has the same host name. */
const CONTAINER = { host: hostname(), pid: 1, at: '2026-01-01T00:00:00Z', id: 'a-container', space: 'elsewhere' };

async function lockedBy(lock: object): Promise<StateDir> {
  const state = await StateDir.create(join(await directory(), 'state'));
  await writeFile(state.file('lock.json'), JSON.stringify(lock));
  return state;
}

/** Refreshes the lock like a living holder, by the clock. */
function refreshed(state: StateDir, clock: VirtualClock): void {
  let seconds = 0;
  const stop = clock.every(5_000, () => {
    seconds += 5;
    void utimes(state.file('lock.json'), seconds, seconds);
  });
  onTestFinished(stop);
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
    import { Lock } from ${JSON.stringify(join(import.meta.dirname, '../dist/lock.js'))};
    import { StateDir } from ${JSON.stringify(join(import.meta.dirname, '../dist/state-dir.js'))};
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

describe.each([
  ['another machine', { ...CONTAINER, host: 'elsewhere' }, ' on elsewhere'],
  ['a container of the same host name', CONTAINER, ''],
  ['a system that does not tell where a process runs', { ...CONTAINER, space: undefined }, ''],
])('the lock of %s', (_name, lock, place) => {
  const holder = `in use by process 1${place} (since 2026-01-01T00:00:00Z)`;

  it('holds while it is refreshed', async () => {
    const [state, clock] = [await lockedBy(lock), virtualClock()];
    refreshed(state, clock);
    await expect(Lock.acquire(state, { takeOver: false, clock })).rejects.toMatchObject({
      message: `the state directory is ${holder}`,
      exitCode: 3,
    });
  });

  it('is taken over without an option once it is not refreshed any more, which is told', async () => {
    const [state, clock] = [await lockedBy(lock), virtualClock()];
    const told: string[] = [];
    const began = clock.monotonic();
    const mine = await Lock.acquire(state, { takeOver: false, clock, notify: (message) => told.push(message) });
    expect(clock.monotonic() - began).toBeGreaterThanOrEqual(30_000);
    expect(told).toEqual([expect.stringMatching(`locked by process 1${place} .*within 30 seconds`)]);
    await mine.release();
    expect(await lockHolder(state)).toBeUndefined();
  });

  it('is taken over at once with --take-over', async () => {
    const [state, clock] = [await lockedBy(lock), virtualClock()];
    const began = clock.monotonic();
    await (await Lock.acquire(state, { takeOver: true, clock })).release();
    expect(clock.monotonic() - began).toBeLessThan(30_000);
  });

  it('is shown as that of a running process while it is refreshed', async () => {
    const state = await lockedBy(lock);
    expect(await lockHolder(state)).toEqual({ host: lock.host, pid: 1, at: lock.at });
    const old = Date.now() / 1000 - 60;
    await utimes(state.file('lock.json'), old, old);
    expect(await lockHolder(state)).toBeUndefined();
  });
});

it('the lock of an earlier version, which is never refreshed, is taken over only on request', async () => {
  const [state, clock] = [await lockedBy({ host: 'elsewhere', pid: 1, at: '2026-01-01T00:00:00Z' }), virtualClock()];
  await expect(Lock.acquire(state, { takeOver: false, clock })).rejects.toMatchObject({
    message: expect.stringContaining('in use by process 1 on elsewhere') as string,
    hint: expect.stringContaining('--take-over') as string,
  });
  await (await Lock.acquire(state, { takeOver: true, clock })).release();
});

it('of two runs that take over an abandoned lock at the same time, one gets it', async () => {
  const state = await lockedBy(CONTAINER);
  const clock = virtualClock();
  const other = { ...CONTAINER, pid: 2, id: 'another-container' };
  // The other one writes its lock just after this one.
  const stop = clock.every(32_000, () => writeFileSync(state.file('lock.json'), JSON.stringify(other)));
  onTestFinished(stop);
  await expect(Lock.acquire(state, { takeOver: false, clock })).rejects.toThrow('in use by process 2');
});

it('a run whose state directory is removed notices it without sending, and says what to do', async () => {
  const state = await StateDir.create(join(await directory(), 'state'));
  const [clock, halt] = [virtualClock(), new Halt()];
  const lock = await Lock.acquire(state, { takeOver: false, clock, halt });
  await rm(state.path, { recursive: true });
  await clock.sleep(6_000);
  await expect.poll(() => halt.reason).toBeDefined();
  expect(halt.reason).toMatchObject({
    code: 'state_removed',
    exitCode: 3,
    message: `${state.path} was removed during the run`,
    hint: expect.stringContaining('rerun with --adopt') as string,
  });
  await lock.release();
});

describe('a run whose lock was taken over while its machine slept', () => {
  it('notices it by itself, and before it sends anything', async () => {
    const state = await StateDir.create(join(await directory(), 'state'));
    const [clock, halt] = [virtualClock(), new Halt()];
    clock.stop();
    const lock = await Lock.acquire(state, { takeOver: false, clock, halt });
    await lock.confirm();
    await writeFile(state.file('lock.json'), JSON.stringify(CONTAINER));
    clock.suspend(3_600_000);
    await expect(lock.confirm()).rejects.toMatchObject({
      message: expect.stringContaining('was taken over by process 1') as string,
      exitCode: 3,
    });
    expect(halt.reason).toMatchObject({ code: 'lock_lost', exitCode: 3 });
    await lock.release();
    expect(JSON.parse(await readFile(state.file('lock.json'), 'utf8'))).toEqual(CONTAINER);
  });

  it(
    'ends with exit code 3, sends nothing more, and leaves the files to the other run',
    { timeout: 60_000 },
    async () => {
      const service = await sandbox({ faults: { rules: [{ kind: 'latency', min_ms: 1_000, max_ms: 1_000 }] } });
      const cwd = await workspace();
      await files(cwd, {
        'people.csv': `Id,Name\n${Array.from({ length: 200 }, (_, id) => `${id},Name ${id}\n`).join('')}`,
        'mapping.yaml':
          'version: 1\nmigration: people\nsources: { people: { path: people.csv } }\n' +
          'events:\n  - { type: lead/created, source: people, data: { external_id: Id, full_name: Name } }\n',
      });
      const posts = (): number => service.requests().filter(({ method }) => method === 'POST').length;
      const args = ['run', 'mapping.yaml', '--concurrency', '1', ...FAST];
      const run = start(args, { cwd, env: environmentOf(service) });
      while (posts() < 2) await new Promise((go) => setTimeout(go, 20));
      const lock = join(cwd, '.backfill/people/lock.json');
      await writeFile(lock, JSON.stringify(CONTAINER));
      const ended = await run.ended;
      expect(ended.code, ended.stderr).toBe(3);
      expect(ended.stderr).toContain('the state directory was taken over by process 1');
      expect(posts()).toBeLessThan(30);
      expect(JSON.parse(await readFile(lock, 'utf8'))).toEqual(CONTAINER);
      await expect(readFile(join(cwd, '.backfill/people/summary.json'))).rejects.toThrow('ENOENT');
    },
  );
});

it('a run that was killed in a container resumes in another one by itself', { timeout: 90_000 }, async () => {
  const service = await sandbox();
  const cwd = await workspace('demo');
  const env = environmentOf(service);
  await backfill(['run', 'mapping.yaml', '--limit', '1', ...FAST], { cwd, env });
  await writeFile(join(cwd, '.backfill/demo/lock.json'), JSON.stringify({ ...CONTAINER, host: 'gone' }));
  const ended = await backfill(['run', 'mapping.yaml', ...FAST], { cwd, env });
  expect(ended.stderr).toContain('locked by process 1 on gone');
  expect(ended.code).toBe(1);
  expect(service.state().leads.length).toBeGreaterThan(1);
});
