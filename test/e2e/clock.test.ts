import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { FAST, mapping, project, start, summaryOf } from './harness.ts';

/** Sets the wall clock back or forth by hours every second, in every process that imports it. */
const JUMPS = `
const system = Date;
const began = performance.now();
const hours = [0, 3, -5, 9, -2];
const wall = () => system.now() + hours[Math.floor((performance.now() - began) / 1000) % hours.length] * 3_600_000;
globalThis.Date = class extends system {
  constructor(...given) {
    super(...(given.length === 0 ? [wall()] : given));
  }
  static now() {
    return wall();
  }
};`;

it('a wall clock that jumps back and forth by hours does not disturb a run', async () => {
  const { cwd, env } = await project(
    {
      'jumps.mjs': JUMPS,
      'people.csv': 'id,name\n1,Ada\n2,Grace\n3,Edsger\n',
      'mapping.yaml': mapping({ people: 'type: lead/created, data: { external_id: id, full_name: name }' }),
    },
    { faults: { rules: [{ kind: 'latency', min_ms: 4_000, max_ms: 4_000 }] } },
  );
  const preload = { NODE_OPTIONS: `--import=${pathToFileURL(join(cwd, 'jumps.mjs')).href}` };
  const args = ['run', 'mapping.yaml', '--json', '--concurrency', '1', ...FAST];
  const ended = await start(args, { cwd, env: { ...env, ...preload } }).ended;
  const { exit, events, this_run: run } = summaryOf(ended);
  expect({ exit, ...events, ...run }).toMatchObject({ exit: { code: 0 }, acknowledged: 3, retries: 0, events_sent: 3 });
  expect(run.seconds).toBeGreaterThanOrEqual(12);
  expect(run.seconds).toBeLessThan(60);
});
