import { describe, expect, it } from 'vitest';
import { Timeline, totalOfBin } from '../../src/report/timeline.ts';

const START = Date.parse('2026-03-02T08:00:00Z');

function timelineOf(offsets: Iterable<number>): Timeline {
  const timeline = new Timeline();
  for (const seconds of offsets) {
    timeline.add(new Date(START + seconds * 1000).toISOString(), 'lead/created', 'acknowledged');
  }
  return timeline;
}

function* every(seconds: number, count: number, from = 0): Generator<number> {
  for (let index = 0; index < count; index += 1) yield from + index * seconds;
}

function sum(timeline: Timeline): number {
  return timeline.periods().periods.reduce((all, { bins }) => all + bins.reduce((n, bin) => n + totalOfBin(bin), 0), 0);
}

describe('a timeline', () => {
  it('is empty if nothing was settled', () => {
    expect(timelineOf([]).periods().periods).toEqual([]);
  });

  it('shows a short run in seconds', () => {
    const { step, periods } = timelineOf([0, 0, 1, 3]).periods();
    expect(step).toBe(1);
    expect(periods.map(({ bins }) => bins.map(totalOfBin))).toEqual([[2, 1, 0, 1]]);
  });

  it('uses a step that fits the columns, and loses no event', () => {
    const timeline = timelineOf(every(0.6, 50_000));
    const { step, periods } = timeline.periods();
    expect(step).toBe(900);
    expect(periods[0]!.bins.length).toBeLessThanOrEqual(61);
    expect(sum(timeline)).toBe(50_000);
  });

  it('cuts long pauses out', () => {
    const { periods } = timelineOf([...every(1, 100), ...every(1, 50, 86_400)]).periods();
    expect(periods.map(({ from }) => from - START / 1000)).toEqual([0, 86_400]);
  });

  it('covers months without losing events', () => {
    const timeline = timelineOf(every(700, 10_000));
    expect(sum(timeline)).toBe(10_000);
    expect(timeline.periods().step).toBeGreaterThanOrEqual(86_400);
  });

  it('ignores an invalid time', () => {
    const timeline = new Timeline();
    timeline.add('soon', 'lead/created', 'acknowledged');
    expect(timeline.periods().periods).toEqual([]);
  });
});
