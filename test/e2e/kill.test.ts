import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { withoutTimes } from '../../src/sandbox/index.ts';
import { backfill, environmentOf, FAST, sandbox, start, summaryOf, workspace } from './harness.ts';

const KILLS = 20;

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

/** Service ids differ between two sandboxes; references are compared by external id. */
function withoutIds(state: Record<string, object[]>): unknown {
  const external = new Map<unknown, unknown>();
  for (const record of Object.values(state).flat() as { id: unknown; externalId: unknown }[]) {
    external.set(record.id, record.externalId);
  }
  return JSON.parse(JSON.stringify(state, (_key, value: unknown) => external.get(value) ?? value));
}
