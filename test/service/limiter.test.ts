import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLimiter, NotSent } from '../../src/service/limiter.ts';
import { simulate, fakedClock, type Measured, type Scenario } from '../bench/simulation.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets faked time pass until the promise is settled. */
async function inFakedTime<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const end = (): void => void (isSettled = true);
  promise.then(end, end);
  while (!isSettled) await vi.advanceTimersByTimeAsync(250);
  return promise;
}

const rate = { requests: 10, seconds: 60 };
const options = { rate, reserve: 0, concurrency: 10, clock: fakedClock };
/** A job that takes 100 ms. */
const job = (): Promise<number> => fakedClock.sleep(100).then(() => Date.now());

describe('against a strict sliding window', () => {
  const scenario: Scenario = {
    limit: 40,
    windowMs: 60_000,
    requests: 201,
    concurrency: 10,
    latency: [20, 800],
  };
  const measure = (more: Partial<Scenario> = {}): Promise<Measured> =>
    inFakedTime(simulate('limiter', { ...scenario, ...more }));

  test('no request is refused, and at least 98.5 % of the limit is used', async () => {
    const { refused, utilisation } = await measure();
    expect(refused).toBe(0);
    expect(utilisation).toBeGreaterThanOrEqual(0.985);
  });

  test('with another client on the key fewer than 1 % are refused, and the other one is not starved', async () => {
    const { refused, accepted, foreignRefused } = await measure({ foreign: 12 });
    expect(refused / (refused + accepted)).toBeLessThan(0.01);
    expect(foreignRefused).toBeLessThanOrEqual(2);
  });

  test('where refused calls count too, it does not livelock with another client', async () => {
    const { accepted, minutes } = await measure({ foreign: 12, countsRefused: true });
    expect(accepted).toBe(201);
    expect(minutes).toBeLessThan(12);
  });
});
