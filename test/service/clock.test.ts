import { describe, expect, test } from 'vitest';
import { SleepWatch, systemClock } from '../../src/clock.ts';
import { backoff, backoffCeiling, retried } from '../../src/service/retry.ts';
import { VirtualClock } from './virtual-clock.ts';

describe('sleep', () => {
  test('lasts at least as long as asked', async () => {
    const startedAt = systemClock.monotonic();
    await systemClock.sleep(20);
    expect(systemClock.monotonic() - startedAt).toBeGreaterThanOrEqual(20);
  });

  test('ends immediately when aborted, even one of more than 25 days', async () => {
    const stop = new AbortController();
    const sleeping = systemClock.sleep(2 ** 40, stop.signal);
    setTimeout(() => stop.abort(), 5);
    await sleeping;
    await systemClock.sleep(2 ** 40, stop.signal);
  });
});

describe('the watch over the machine’s sleep', () => {
  test.each([
    ['only the wall clock went on', (clock: VirtualClock) => clock.setWall(3_600_000), 3_605_000],
    ['the monotonic clock went on too', (clock: VirtualClock) => clock.leap(3_600_000), 3_600_000],
  ])('reports that %s', (_name, suspend, gap) => {
    const clock = new VirtualClock();
    const slept: number[] = [];
    const watch = new SleepWatch(clock, (ms) => slept.push(ms));
    clock.pass(60_000);
    expect(slept).toEqual([]);
    const awake = watch.awake();
    suspend(clock);
    clock.pass(5_000);
    expect(slept).toEqual([gap]);
    expect(watch.awake() - awake).toBeLessThanOrEqual(10_000);
    watch.stop();
    clock.stop();
  });

  test('ignores a clock that is set back, and a busy event loop', () => {
    const clock = new VirtualClock();
    const slept: number[] = [];
    const watch = new SleepWatch(clock, (ms) => slept.push(ms));
    clock.setWall(-3_600_000);
    clock.pass(5_000);
    clock.leap(10_000);
    clock.pass(5_000);
    expect(slept).toEqual([]);
    expect(watch.awake()).toBe(clock.monotonic());
    watch.stop();
    clock.stop();
  });
});

describe('backoff', () => {
  test('its ceiling doubles from a second to a minute', () => {
    expect([1, 2, 3, 6, 7, 8, 1_000].map((nth) => backoffCeiling(nth) / 1_000)).toEqual([1, 2, 4, 32, 60, 60, 60]);
  });

  test('has full jitter', () => {
    expect(backoff(3, () => 0)).toBe(0);
    expect(backoff(3, () => 0.5)).toBe(2_000);
    expect(backoff(3, () => 0.999)).toBeLessThan(4_000);
  });
});

describe('a REST request is retried', () => {
  const clock = new VirtualClock(1);

  async function attempts(kinds: readonly string[], signal?: AbortSignal): Promise<[string, number]> {
    let made = 0;
    const request = async () => ({ kind: kinds[Math.min(made++, kinds.length - 1)]! });
    const last = await retried(request, { clock, ...(signal ? { signal } : {}) });
    return [last.kind, made];
  }

  test.each([
    [['answered'], 'answered', 1],
    [['refused'], 'refused', 1],
    [['unauthorised'], 'unauthorised', 1],
    [['unanswered', 'rate_limited', 'answered'], 'answered', 3],
    [['unanswered'], 'unanswered', 6],
  ])('%j ends as %s after %i attempts', async (kinds, last, made) => {
    expect(await attempts(kinds)).toEqual([last, made]);
  });

  test('but not once the run is stopping', async () => {
    expect(await attempts(['unanswered'], AbortSignal.abort())).toEqual(['unanswered', 1]);
  });
});
