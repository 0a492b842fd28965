import { describe, expect, it } from 'vitest';
import { readPeriods } from '../../src/pages/history.ts';
import { totalOfBin, type Periods } from '../../src/pages/timeline.ts';
import { readState } from '../../src/store/open.ts';
import { stateDirectory } from '../state.ts';

const START = Date.parse('2026-03-02T08:00:00Z');

/** The periods of answers so many seconds after the start. */
async function periodsOf(offsets: Iterable<number>): Promise<Periods> {
  const answers = Array.from(offsets, (seconds) => ({ at: new Date(START + seconds * 1000).toISOString() }));
  const db = readState(await stateDirectory({ runs: [{ at: new Date(START).toISOString(), answers }] }));
  const periods = readPeriods(db);
  db.close();
  return periods;
}

function* every(seconds: number, count: number, from = 0): Generator<number> {
  for (let index = 0; index < count; index += 1) yield from + index * seconds;
}

function sum({ periods }: Periods): number {
  return periods.reduce((all, { bins }) => all + bins.reduce((n, bin) => n + totalOfBin(bin), 0), 0);
}

describe('a timeline', () => {
  it('is empty if nothing was settled', async () => {
    expect((await periodsOf([])).periods).toEqual([]);
  });

  it('shows a short run in seconds', async () => {
    const { step, periods } = await periodsOf([0, 0, 1, 3]);
    expect(step).toBe(1);
    expect(periods.map(({ bins }) => bins.map(totalOfBin))).toEqual([[2, 1, 0, 1]]);
  });

  it('uses a step that fits the columns, and loses no event', async () => {
    const found = await periodsOf(every(0.6, 50_000));
    expect(found.step).toBe(900);
    expect(found.periods[0]!.bins.length).toBeLessThanOrEqual(61);
    expect(sum(found)).toBe(50_000);
  });

  it('cuts long pauses out', async () => {
    const { periods } = await periodsOf([...every(1, 100), ...every(1, 50, 86_400)]);
    expect(periods.map(({ from }) => from - START / 1000)).toEqual([0, 86_400]);
  });

  it('covers months without losing events', async () => {
    const found = await periodsOf(every(700, 10_000));
    expect(sum(found)).toBe(10_000);
    expect(found.step).toBeGreaterThanOrEqual(86_400);
  });
});
