import { expect, it } from 'vitest';
import { readTimeline, totalOfBin, type Timeline } from '../../src/pages/history.ts';
import { readState } from '../../src/store/open.ts';
import { stateDirectory } from '../state.ts';

const START = Date.parse('2026-03-02T08:00:00Z');

/** The timeline of answers so many seconds after the start. */
async function timelineOf(offsets: Iterable<number>): Promise<Timeline> {
  const answers = Array.from(offsets, (seconds) => ({ at: new Date(START + seconds * 1000).toISOString() }));
  const db = readState(await stateDirectory({ runs: [{ at: new Date(START).toISOString(), answers }] }));
  const timeline = readTimeline(db);
  db.close();
  return timeline;
}

function* every(seconds: number, count: number, from = 0): Generator<number> {
  for (let index = 0; index < count; index += 1) yield from + index * seconds;
}

function sum({ bins }: Timeline): number {
  return bins.reduce((total, bin) => total + totalOfBin(bin), 0);
}

it('a timeline is empty if nothing was settled', async () => {
  expect((await timelineOf([])).bins).toEqual([]);
});

it('a timeline shows a short run in seconds, without those that have no answer', async () => {
  const { step, bins } = await timelineOf([0, 0, 1, 3]);
  expect(step).toBe(1);
  expect(bins.map((bin) => [bin.at - START / 1000, totalOfBin(bin)])).toEqual([
    [0, 2],
    [1, 1],
    [3, 1],
  ]);
});

it('a timeline uses a step that fits the columns, and loses no event', async () => {
  const found = await timelineOf(every(0.6, 50_000));
  expect(found.step).toBe(900);
  expect(found.bins.length).toBeLessThanOrEqual(60);
  expect(sum(found)).toBe(50_000);
});

it('a pause of a day makes the steps of a timeline no longer', async () => {
  const { step, bins } = await timelineOf([...every(1, 100), ...every(1, 50, 86_400)]);
  expect(step).toBe(5);
  expect(bins.map(({ at }) => at - START / 1000)).toContain(86_400);
});

it('a timeline covers months without losing events', async () => {
  const found = await timelineOf(every(700, 10_000));
  expect(sum(found)).toBe(10_000);
  expect(found.step).toBeGreaterThanOrEqual(86_400);
});
