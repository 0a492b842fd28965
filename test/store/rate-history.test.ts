// Lost without it: a restart could exceed the limit of the service.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../directory.ts';
import type { Clock } from '../../src/clock.ts';
import type { RateHistory } from '../../src/service/recent-answers.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from '../../src/store/checkpoint-schema.ts';
import { openRateHistory } from '../../src/store/rate-history.ts';
import { Database } from '../../src/store/sqlite.ts';

/** A state directory. */
interface State {
  file(name: string): string;
}

function temporary(): State {
  const directory = temporaryDirectory();
  return { file: (name) => join(directory, name) };
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
function ages(state: State, clock: Clock, other?: State): number[] {
  const history = openRateHistory(state, clock, { other });
  const found = history.load().map((at) => clock.wall() - at);
  history.close();
  return found;
}

/** What is written in one tick is committed together. */
async function committed(): Promise<void> {
  for (let tick = 0; tick < 3; tick += 1) await setImmediate();
}

/** One run that was killed after these requests were answered, and others were sent: nothing is closed. */
async function record(
  state: State,
  clock: Clock & { now: number },
  answered: readonly number[],
  inFlight = 0,
): Promise<RateHistory> {
  const history = openRateHistory(state, clock);
  const { now } = clock;
  for (const at of answered) {
    const end = history.send();
    clock.now = at;
    end();
  }
  clock.now = now;
  for (let n = 0; n < inFlight; n += 1) history.send();
  await committed();
  return history;
}

test('a restart has the answers of earlier runs', async () => {
  const state = temporary();
  const clock = wallClock();
  await record(state, clock, [clock.now - 9_000, clock.now]);
  clock.now += 1_000;
  await record(state, clock, [clock.now, clock.now + 500]);
  clock.now += 1_000;
  expect(ages(state, clock)).toEqual([11_000, 2_000, 1_000, 500]);
  expect(statSync(state.file(CHECKPOINT_FILE)).mode & 0o777).toBe(0o600);
});

test('a clock that was set forward since, or at a restart of the machine, makes no answer older', async () => {
  const state = temporary();
  const clock = { ...wallClock(), up: 5_000_000, uptime: () => clock.up, wall: () => clock.now };
  await record(state, clock, [clock.now]);
  clock.now += 1_000;
  clock.up += 1_000;
  await record(state, clock, [clock.now]);
  clock.now += 3_600_000;
  clock.up += 20_000;
  expect(ages(state, clock)).toEqual([21_000, 20_000]);
  // The machine has been up for 9 seconds: the answers are at least as old.
  clock.up = 9_000;
  expect(ages(state, clock)).toEqual([9_000, 9_000]);
  clock.now += 3_600_000;
  clock.up += 3_600_000;
  expect(ages(state, clock)).toEqual([3_609_000, 3_609_000]);
});

test('requests in flight when the process was killed count as answered now', async () => {
  const state = temporary();
  const clock = wallClock();
  await record(state, clock, [clock.now], 2);
  clock.now += 20_000;
  expect(ages(state, clock)).toEqual([20_000, 0, 0]);
});

test('a pause that the service has asked for outlives the process, and is never longer than it was', async () => {
  const state = temporary();
  const clock = wallClock();
  const left = (other?: State): number => openRateHistory(other ? temporary() : state, clock, { other }).pauseMs;
  expect(left()).toBe(0);
  openRateHistory(state, clock).pause(60_000);
  await committed();
  clock.now += 20_000;
  expect(left()).toBe(40_000);
  expect(left(state)).toBe(40_000);
  clock.now -= 3_600_000;
  expect(left()).toBe(60_000);
  clock.now += 3_700_000;
  expect(left()).toBe(0);
});

test('the history of another run is read but not changed', async () => {
  const [own, other] = [temporary(), temporary()];
  const clock = wallClock();
  await record(other, clock, [clock.now]);
  const stored = (): unknown => {
    const db = Database.read(other.file(CHECKPOINT_FILE), CHECKPOINT)!;
    const rows = [db.all('select * from setting'), db.all('select * from answer')];
    db.close();
    return rows;
  };
  const before = stored();
  clock.now += 1_000;
  expect(ages(own, clock, other)).toEqual([1_000]);
  openRateHistory(own, clock, { other }).send()();
  await committed();
  expect(ages(own, clock, other)).toEqual([1_000, 0]);
  expect(stored()).toEqual(before);
});

test('a command beside a run sends at once, and the next run has its requests, too', async () => {
  const [state, clock] = [temporary(), wallClock()];
  await record(state, clock, [clock.now - 5_000, clock.now - 4_000]);
  for (let n = 0; n < 2; n += 1) {
    const beside = openRateHistory(state, clock, { isBeside: true });
    expect(beside.load()).toEqual([]);
    beside.send()();
    beside.close();
  }
  expect(ages(state, clock)).toEqual([5_000, 4_000, 0, 0]);
});

test('a restart begins with the limit that the service has said last', async () => {
  const state = temporary();
  const clock = wallClock();
  (await record(state, clock, [clock.now])).limitIs(40);
  await committed();
  expect(openRateHistory(state, clock).limit).toBe(40);
  expect(openRateHistory(temporary(), clock, { other: state }).limit).toBe(40);
});

test('answers dated in the future count as answered now: the clock was set back since', async () => {
  const state = temporary();
  const clock = wallClock();
  await record(state, clock, [clock.now]);
  clock.now -= 3_600_000;
  expect(ages(state, clock)).toEqual([0]);
});

test('the history is bounded over many runs', async () => {
  const state = temporary();
  const clock = wallClock();
  for (let run = 0; run < 30; run += 1) {
    const times = Array.from({ length: 200 }, (_, nth) => clock.now + nth * 10);
    await record(state, clock, times);
    clock.now += 120_000;
  }
  expect(ages(state, clock)).toHaveLength(2_000);
  clock.now += 25 * 3_600_000;
  await record(state, clock, [clock.now]);
  expect(ages(state, clock)).toEqual([0]);
});
