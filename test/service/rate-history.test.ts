import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Clock } from '../../src/clock.ts';
import { UserError } from '../../src/errors.ts';
import { openRateHistory } from '../../src/service/rate-history.ts';

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'rate-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'rate.ndjson');
}

/** A wall clock that shows the time it is set to. */
function wallClock(): Clock & { now: number } {
  const clock = {
    now: Date.UTC(2026, 0, 1),
    monotonic: () => clock.now,
    wall: () => clock.now,
    uptime: () => clock.now,
    sleep: async () => undefined,
    every: () => () => undefined,
  };
  return clock;
}

test('a restart keeps the answers within the window, and drops the others', async () => {
  const path = temporary();
  const clock = wallClock();
  const history = await openRateHistory(path, clock);
  for (const wait of [50_000, 10_000, 5_000]) {
    history.sent();
    history.answered();
    clock.now += wait;
  }
  await history.close();
  expect((await openRateHistory(path, clock)).recent(60_000)).toEqual([15_000, 5_000]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('requests in flight when the process was killed count as answered now', async () => {
  const path = temporary();
  const clock = wallClock();
  const killed = await openRateHistory(path, clock);
  killed.sent();
  killed.sent();
  killed.answered();
  clock.now += 20_000;
  expect((await openRateHistory(path, clock)).recent(60_000)).toEqual([20_000, 0]);
});

test('a second restart still has the history', async () => {
  const path = temporary();
  const clock = wallClock();
  const first = await openRateHistory(path, clock);
  first.sent();
  await openRateHistory(path, clock);
  clock.now += 1_000;
  expect((await openRateHistory(path, clock)).recent(60_000)).toEqual([1_000]);
});

test('answers dated in the future count as answered now: the clock was set back since', async () => {
  const path = temporary();
  const clock = wallClock();
  const history = await openRateHistory(path, clock);
  history.sent();
  history.answered();
  clock.now -= 3_600_000;
  expect((await openRateHistory(path, clock)).recent(60_000)).toEqual([0]);
});

test('an incomplete or damaged line is ignored', async () => {
  const path = temporary();
  const clock = wallClock();
  writeFileSync(path, `garbage\n{"event":"answered","at":${clock.now - 7}}\n{"event":"answ`);
  expect((await openRateHistory(path, clock)).recent(60_000)).toEqual([7]);
});

test('the file is bounded, and requests in flight survive its rewriting', async () => {
  const path = temporary();
  const clock = wallClock();
  const history = await openRateHistory(path, clock);
  history.sent();
  for (let request = 0; request < 20_000; request += 1) {
    clock.now += 600;
    history.sent();
    history.answered();
  }
  expect(statSync(path).size).toBeLessThan(500_000);
  expect(readFileSync(path, 'utf8')).toContain('"sent"');
  const again = await openRateHistory(path, clock);
  expect(again.recent(60_000)).toHaveLength(101);
});

test('all requests of the longest window are kept, however many they are', async () => {
  const path = temporary();
  const clock = wallClock();
  const history = await openRateHistory(path, clock, [], 50_000_000);
  for (let request = 0; request < 12_000; request += 1) {
    clock.now += 10_000;
    history.sent();
    history.answered();
  }
  const again = await openRateHistory(path, clock, [], 50_000_000);
  expect(again.recent(50_000_000)).toHaveLength(5_000);
});

test('of requests that no window counts, the latest are kept', async () => {
  const path = temporary();
  const clock = wallClock();
  const history = await openRateHistory(path, clock, [], 1_000);
  for (let request = 0; request < 12_000; request += 1) {
    clock.now += 500;
    history.sent();
    history.answered();
  }
  expect(statSync(path).size).toBeLessThan(500_000);
  const again = await openRateHistory(path, clock, [], 1_000);
  expect(again.recent(86_400_000)).toHaveLength(2_000);
});

test('a path that cannot be written is an error before anything is sent', async () => {
  await expect(openRateHistory(join(temporary(), 'not', 'there'), wallClock())).rejects.toBeInstanceOf(UserError);
});

test('the history of another run is read but not changed', async () => {
  const [own, other] = [temporary(), temporary()];
  const clock = wallClock();
  const beside = await openRateHistory(other, clock);
  beside.sent();
  beside.answered();
  const before = readFileSync(other, 'utf8');
  clock.now += 1_000;
  const history = await openRateHistory(own, clock, [other]);
  history.sent();
  history.answered();
  expect(history.recent(60_000)).toEqual([1_000, 0]);
  expect(readFileSync(other, 'utf8')).toBe(before);
  expect(readFileSync(own, 'utf8')).not.toContain(before.trim().split('\n').at(-1)!);
});
