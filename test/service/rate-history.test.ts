import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../directory.ts';
import type { Clock } from '../../src/clock.ts';
import { UserError } from '../../src/errors.ts';
import { createLimiter } from '../../src/service/limiter.ts';
import { openRateHistory } from '../../src/service/rate-history.ts';

function temporary(): string {
  return join(temporaryDirectory(), 'rate.ndjson');
}

/** A wall clock that shows the time it is set to. */
function wallClock(): Clock & { now: number } {
  const clock = {
    now: Date.UTC(2026, 0, 1),
    monotonic: () => clock.now,
    wall: () => clock.now,
    uptime: () => clock.now,
    sleep: () => new Promise<void>(() => undefined),
    every: () => () => undefined,
  };
  return clock;
}

/** How long ago the requests of earlier runs were answered. */
function ages(path: string, clock: Clock, others: readonly string[] = []): number[] {
  return openRateHistory(path, clock, others)
    .load()
    .map((at) => clock.wall() - at);
}

test('a restart has the answers of earlier runs', () => {
  const path = temporary();
  const clock = wallClock();
  const first = openRateHistory(path, clock);
  first.record([clock.now - 9_000, clock.now], 0);
  clock.now += 1_000;
  const second = openRateHistory(path, clock);
  second.record([clock.now], 0);
  second.record([clock.now, clock.now + 500], 0);
  clock.now += 1_000;
  expect(ages(path, clock)).toEqual([11_000, 2_000, 1_000, 500]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('requests in flight when the process was killed count as answered now', () => {
  const path = temporary();
  const clock = wallClock();
  openRateHistory(path, clock).record([clock.now], 2);
  clock.now += 20_000;
  expect(ages(path, clock)).toEqual([20_000, 0, 0]);
});

test('a limiter records each request before it is sent, and its answer', async () => {
  const path = temporary();
  const clock = wallClock();
  const history = openRateHistory(path, clock);
  const limiter = createLimiter({ rate: { requests: 9, seconds: 60 }, reserve: 0, concurrency: 1, clock, history });
  await limiter.schedule(async () => {
    clock.now += 5_000;
    expect(ages(path, clock)).toEqual([0]);
  });
  clock.now += 3_000;
  expect(ages(path, clock)).toEqual([3_000]);
  await limiter.stop();
});

test('answers dated in the future count as answered now: the clock was set back since', () => {
  const path = temporary();
  const clock = wallClock();
  openRateHistory(path, clock).record([clock.now], 0);
  clock.now -= 3_600_000;
  expect(ages(path, clock)).toEqual([0]);
});

test.each(['garbage\n', '{"answered":[1', '{"answered":["x"],"in_flight":0}\n', ''])(
  'a damaged file is ignored: %j',
  (text) => {
    const path = temporary();
    writeFileSync(path, text);
    expect(ages(path, wallClock())).toEqual([]);
  },
);

test('the file is bounded over many runs', () => {
  const path = temporary();
  const clock = wallClock();
  for (let run = 0; run < 30; run += 1) {
    const times = Array.from({ length: 200 }, (_, nth) => clock.now + nth * 10);
    openRateHistory(path, clock).record(times, 0);
    clock.now += 120_000;
  }
  expect(ages(path, clock)).toHaveLength(2_200);
  clock.now += 25 * 3_600_000;
  openRateHistory(path, clock).record([], 0);
  expect(ages(path, clock)).toEqual([]);
});

test('a path that cannot be written is an error before anything is sent', () => {
  expect(() => openRateHistory(join(temporary(), 'not', 'there'), wallClock())).toThrow(UserError);
});

test('the history of another run is read but not changed', () => {
  const [own, other] = [temporary(), temporary()];
  const clock = wallClock();
  openRateHistory(other, clock).record([clock.now], 0);
  const before = readFileSync(other, 'utf8');
  clock.now += 1_000;
  expect(ages(own, clock, [other])).toEqual([1_000]);
  openRateHistory(own, clock, [other]).record([clock.now], 0);
  expect(ages(own, clock, [other])).toEqual([1_000, 0]);
  expect(readFileSync(other, 'utf8')).toBe(before);
});
