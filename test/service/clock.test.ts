// Lost without it: a machine that slept could count as an outage.
import { describe, expect, test } from 'vitest';
import { SleepWatch } from '../../src/clock.ts';
import { backoff, backoffCeiling, retried } from '../../src/service/retry.ts';
import { VirtualClock } from './virtual-clock.ts';

describe('SleepWatch', () => {
  test.each([
    ['the monotonic clock stood still', (clock: VirtualClock) => clock.suspend(3_600_000), 3_605_000],
    ['the monotonic clock advanced as well', (clock: VirtualClock) => clock.leap(3_600_000), 3_600_000],
  ])('reports a sleep when %s', (_name, suspend, gap) => {
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

  test('ignores a wall clock that jumps back and forth by hours, and a busy event loop', () => {
    const clock = new VirtualClock();
    const slept: number[] = [];
    const watch = new SleepWatch(clock, (ms) => slept.push(ms));
    for (const jump of [-3_600_000, 9 * 3_600_000, -5 * 3_600_000]) {
      clock.setWall(jump);
      clock.pass(5_000);
    }
    clock.leap(10_000);
    clock.pass(5_000);
    expect(slept).toEqual([]);
    expect(watch.awake()).toBe(clock.monotonic());
    watch.stop();
    clock.stop();
  });
});

describe('backoff', () => {
  test('has a ceiling that doubles from one second to one minute', () => {
    expect([1, 2, 3, 6, 7, 8, 1_000].map((nth) => backoffCeiling(nth) / 1_000)).toEqual([1, 2, 4, 32, 60, 60, 60]);
  });

  test('has full jitter', () => {
    expect(backoff(3, () => 0)).toBe(0);
    expect(backoff(3, () => 0.5)).toBe(2_000);
    expect(backoff(3, () => 0.999)).toBeLessThan(4_000);
  });
});

describe('a REST request', () => {
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
  ])('with the results %j ends as %s after %i attempts', async (kinds, last, made) => {
    expect(await attempts(kinds)).toEqual([last, made]);
  });

  test('is not retried when the service asks for a wait of more than ten minutes', async () => {
    let made = 0;
    const request = async () => ({ kind: 'rate_limited', retryAfterMs: (made++ === 0 ? 600 : 601) * 1000 });
    await retried(request, { clock });
    expect(made).toBe(2);
  });
});
