/** A faster clock for runs that wait: their backoff, pauses and outages last a fifth of the time. */
import { createRequire } from 'node:module';
import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../src/clock.ts';
import { DIST } from './program.ts';

const TIMES = 5;

/** Milliseconds since 1970 by that clock, for a service whose limit or outage lasts so long. */
export function fastNow(): number {
  return performance.timeOrigin + performance.now() * TIMES;
}

/** Used by runs in this process during all tests of the file. Timeouts of requests and the wall clock are as they were. */
export function useFastClock(): void {
  const built = createRequire(import.meta.url)(`${DIST}clock.js`) as { systemClock: typeof systemClock };
  for (const clock of [systemClock, built.systemClock]) {
    const real = { ...clock };
    const fast: Partial<typeof systemClock> = {
      monotonic: () => real.monotonic() * TIMES,
      sleep: (ms, signal) => real.sleep(ms / TIMES, signal),
      every: (ms, tick) => real.every(ms / TIMES, tick),
    };
    beforeAll(() => void Object.assign(clock, fast));
    afterAll(() => void Object.assign(clock, real));
  }
}
