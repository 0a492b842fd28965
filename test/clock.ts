/** A faster clock for runs that wait: their backoff, pauses and outages last a fifth of the time. */
import { createRequire } from 'node:module';
import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../src/clock.ts';
import { DIST } from './program.ts';

let times = 1;

/** The same clock in milliseconds since 1970, for a service with a limit or an outage. */
export function serviceNow(): number {
  return performance.timeOrigin + performance.now() * times;
}

/** Used by runs in this process during all tests of the file. Timeouts of requests and the wall clock are as they were. */
export function useFastClock(): void {
  beforeAll(() => void (times = 5));
  afterAll(() => void (times = 1));
  const built = createRequire(import.meta.url)(`${DIST}clock.js`) as { systemClock: typeof systemClock };
  for (const clock of [systemClock, built.systemClock]) {
    const real = { ...clock };
    const fast: Partial<typeof systemClock> = {
      monotonic: () => real.monotonic() * times,
      sleep: (ms, signal) => real.sleep(ms / times, signal),
      every: (ms, tick) => real.every(ms / times, tick),
    };
    beforeAll(() => void Object.assign(clock, fast));
    afterAll(() => void Object.assign(clock, real));
  }
}
