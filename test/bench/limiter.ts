/**
 * How close strategies get to the limit, and how often they exceed it: `npx tsx test/bench/limiter.ts`. Ten windows of 100 requests in 60 s, until
 * the first request of the eleventh is answered; 20 to 800 ms of latency, ten in flight, in simulated time.
 */
import { mock } from 'node:test';
import { simulate, STRATEGIES, type Measured, type Scenario } from './simulation.ts';

const base: Scenario = { limit: 100, windowMs: 60_000, requests: 1_001, concurrency: 10, latency: [20, 800] };
const scenarios: readonly (readonly [string, Scenario])[] = [
  ['no other client', base],
  ['no other client, refused requests count', { ...base, countsRefused: true }],
  ['another client uses 30 %', { ...base, foreign: 30 }],
  ['another client joins after three minutes and uses 30 %', { ...base, foreign: 30, foreignAfter: 3 }],
  ['another client uses 30 %, refused requests count', { ...base, foreign: 30, countsRefused: true }],
];

/** A simulation that makes no progress is cut off. */
const MOST_MINUTES = 40;

async function measure(strategy: (typeof STRATEGIES)[number], scenario: Scenario): Promise<Measured | undefined> {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  try {
    let measured: Measured | undefined;
    void simulate(strategy, scenario).then((result) => (measured = result));
    for (let ms = 0; !measured && ms < MOST_MINUTES * 60_000; ms += 1) {
      mock.timers.tick(1);
      await new Promise<void>((go) => setImmediate(go));
    }
    return measured;
  } finally {
    mock.timers.reset();
  }
}

for (const [name, scenario] of scenarios) {
  process.stdout.write(`\n${name}\n`);
  for (const strategy of STRATEGIES) {
    const result = await measure(strategy, scenario);
    const text = result
      ? `min/actual ${(result.utilisation * 100).toFixed(1)} %, ${result.refused} refused (${((result.refused * 100) / (result.refused + result.accepted)).toFixed(1)} %), ` +
        `the other client ${result.foreignRefused}, ${result.minutes.toFixed(1)} min`
      : `no end within ${MOST_MINUTES} minutes`;
    process.stdout.write(`  ${strategy.padEnd(20)} ${text}\n`);
  }
}
