import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Sandbox } from '../../src/commands/sandbox/index.ts';
import { backfill, environmentOf, FAST, sandbox, start, summaryOf, workspace } from './harness.ts';
import { withoutTimes } from '../sandbox/client.ts';

/** `npm run soak` has 200, with faults. */
const KILLS = 4;

it(`loses and duplicates nothing when it is killed at ${KILLS} random moments`, { timeout: 300_000 }, async () => {
  const latency = { rules: [{ kind: 'latency', min_ms: 5, max_ms: 60 } as const] };
  const concurrency = 4;
  const args = ['run', 'mapping.yaml', '--concurrency', String(concurrency), ...FAST];

  const calm = await sandbox();
  const calmDirectory = await workspace('demo');
  const undisturbed = summaryOf(await backfill([...args, '--json'], { cwd: calmDirectory, env: environmentOf(calm) }));

  const service = await sandbox({ faults: latency });
  const cwd = await workspace('demo');
  const env = environmentOf(service);
  const sent = (): number => service.requests().filter(({ method }) => method === 'POST').length;
  let killed = 0;
  for (let round = 0; round < 200 && killed < KILLS; round += 1) {
    const before = sent();
    const run = start(args, { cwd, env });
    const ended = run.ended.then(() => true);
    // Half of the kills happen at any time during a run, half of them while it is sending.
    if (round % 2 === 0) await Promise.race([ended, sleep(Math.random() * 900)]);
    else {
      while (sent() === before && !(await Promise.race([ended, sleep(2).then(() => false)])));
      await sleep(Math.random() * 40);
    }
    run.child.kill('SIGKILL');
    const { signal } = await run.ended;
    if (signal === 'SIGKILL') killed += 1;
  }
  expect(killed).toBe(KILLS);

  const last = summaryOf(await backfill([...args, '--json'], { cwd, env }));
  expect(last.events).toEqual(undisturbed.events);
  expect(last.errors_by_code).toEqual(undisturbed.errors_by_code);
  expect(withoutIds(withoutTimes(service.state()))).toEqual(withoutIds(withoutTimes(calm.state())));
  // Only requests that were in flight at a kill were sent again.
  expect(sent()).toBeLessThanOrEqual(undisturbed.events.acknowledged + killed * concurrency);
  expect(service.triggersFired).toBe(0);
});

/**
 * A program to import first: kills the process at the moment that is given, when the plan of this survey takes the place of
 * the one before.
 */
const killAtRename = (moment: string): string => `
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const { renameSync, rmSync } = fs;
  const die = () => process.kill(process.pid, 'SIGKILL');
  fs.rmSync = (path, options) => {
    if ('${moment}' === 'log' && String(path).endsWith('plan.db-wal')) die();
    rmSync(path, options);
  };
  fs.renameSync = (from, to) => {
    const isPlan = String(to).endsWith('plan.db');
    if (isPlan && '${moment}' === 'before') die();
    renameSync(from, to);
    if (isPlan && '${moment}' === 'after') die();
  };
  syncBuiltinESMExports();`;

it.each([
  ['before the log of the plan before is removed', 'log'],
  ['immediately before the rename', 'before'],
  ['immediately after the rename', 'after'],
])('goes on after it was killed while a new plan took the place of the old one: %s', async (_when, moment) => {
  const service = await sandbox();
  const cwd = await workspace('demo');
  const env = environmentOf(service);
  const args = ['run', 'mapping.yaml', ...FAST, '--json'];
  // A run that stopped halfway: its plan and its checkpoint are in use.
  const first = summaryOf(await backfill([...args, '--max-requests', '20'], { cwd, env }));
  expect(first.events.acknowledged).toBeGreaterThan(0);
  const sent = new Set(idsOf(service));

  const preload = `--import=data:text/javascript,${encodeURIComponent(killAtRename(moment))}`;
  const killed = await start(args, { cwd, env: { ...env, NODE_OPTIONS: preload } }).ended;
  expect(killed.signal, killed.stderr).toBe('SIGKILL');
  expect(new Set(idsOf(service))).toEqual(sent);

  const status = await backfill(['status', 'mapping.yaml', '--json'], { cwd, env });
  expect(summaryOf(status).events.acknowledged, status.stderr).toBe(first.events.acknowledged);
  const last = summaryOf(await backfill(args, { cwd, env }));
  expect(last.events.pending).toBe(0);
  expect(last.this_run.already_acknowledged).toBe(first.events.acknowledged);
  expect(idsOf(service)).toHaveLength(new Set(idsOf(service)).size);
});

/** The ids of all events that were sent, in their order. */
function idsOf(service: Sandbox): unknown[] {
  const posts = service.requests().filter(({ method }) => method === 'POST');
  return posts.map(({ body }) => (body as { id: unknown }).id);
}

/** Service ids differ between two sandboxes; references are compared by external id. */
function withoutIds(state: Record<string, object[]>): unknown {
  const external = new Map<unknown, unknown>();
  for (const record of Object.values(state).flat() as { id: unknown; externalId: unknown }[]) {
    external.set(record.id, record.externalId);
  }
  return JSON.parse(JSON.stringify(state, (_key, value: unknown) => external.get(value) ?? value));
}
