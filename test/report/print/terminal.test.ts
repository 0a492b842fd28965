// Lost without it: a list could be cut without saying so.
import { describe, expect, it } from 'vitest';
import { column, sectionOf, type Figures, type Cells } from '../../../src/report/figures/figures.ts';
import { countsSection, prioritiesSection } from '../../../src/report/figures/counts.ts';
import { screenOf } from '../../../src/report/print/terminal.ts';
import type { CountedState } from '../../../src/plan/counts.ts';

function linesOf(figures: Figures, columns: number): string[] {
  return screenOf(figures, columns).map((line) => line.map(({ text }) => text).join(''));
}

const VERDICT = { word: 'DONE', text: ': all of it', mood: 'done', details: [] } as const;

function list(count: number, most = 5): Figures['sections'][number] {
  return sectionOf({
    id: 'causes',
    title: 'FIX FIRST',
    columns: [column('text'), column('place'), column('number', 'frees'), column('code'), column('hint')],
    rows: Array.from({ length: count }, (_, at): Cells => [
      `the value number ${at} is not a date that exists`,
      `contacts.csv:${at}`,
      count - at,
      'bad_date',
      `write ${at} in another way`,
    ]),
    limit: { most, rest: 'errors.csv' },
  });
}

describe('a screen', () => {
  it.each([60, 80, 120])('of %i columns has no wider line, and begins with the verdict', (columns) => {
    const lines = linesOf({ verdict: VERDICT, sections: [list(40), list(3)] }, columns);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns);
    expect(lines[0]).toMatch(/^DONE/);
  });

  it('shows so many rows of a list, says where the others are, and how to fix the first', () => {
    const said = linesOf({ verdict: VERDICT, sections: [list(40)] }, 120).join('\n');
    expect(said.match(/the value number/g)).toHaveLength(5);
    expect(said).toContain('  35 more in errors.csv');
    expect(said.match(/hint: /g)).toHaveLength(1);
    expect(said).toContain('hint: write 0 in another way');
  });

  it('never leaves out a single row: the line that says so takes its place', () => {
    expect(linesOf({ verdict: VERDICT, sections: [list(6)] }, 120).join('\n')).not.toContain('more in');
  });

  it('leaves out the last columns of a table that has no room, and never a line for each cell', () => {
    const columns = [column('text'), ...Array.from({ length: 9 }, (_, at) => column('number', `number ${at}`))];
    const rows = [['Sales Pipeline', 0, 1, 2, 3, 4, 5, 6, 7, 8]];
    const lines = linesOf(
      { verdict: VERDICT, sections: [sectionOf({ id: 'wide', title: 'Wide', columns, rows })] },
      60,
    );
    expect(lines.slice(-2)).toEqual([
      'Wide              number 0  number 1  number 2  number 3',
      '  Sales Pipeline         0         1         2         3',
    ]);
  });

  it('places codes and places below a row that has no room for them', () => {
    const figures = { verdict: VERDICT, sections: [list(1)] };
    expect(linesOf(figures, 120)).toContain(
      '  the value number 0 is not a date that exists  contacts.csv:0      1  bad_date',
    );
    expect(
      linesOf(figures, 60)
        .slice(-3)
        .map((line) => line.trim()),
    ).toEqual([
      expect.stringMatching(/^the value number 0 is not a date that exists +1$/),
      'contacts.csv:0   bad_date',
      'hint: write 0 in another way',
    ]);
  });
});

describe('the counts', () => {
  const states: CountedState[] = [
    { type: 'lead/created', state: 'ready', code: null, is_chosen: 1, priority: 0, count: 3 },
    { type: 'lead/created', state: 'retry', code: null, is_chosen: 1, priority: 0, count: 1 },
    { type: 'lead/created', state: 'invalid', code: null, is_chosen: 1, priority: 0, count: 2 },
    { type: 'deal/created', state: 'acknowledged', code: null, is_chosen: 1, priority: 0, count: 5 },
    { type: 'deal/created', state: 'held', code: null, is_chosen: 0, priority: 0, count: 7 },
  ];

  it('have every event in one column: what was rejected before is rejected until it is sent again', () => {
    const { columns, rows, totals } = countsSection(states);
    expect(columns.map(({ head }) => head)).toEqual([
      '',
      'events',
      'acknowledged',
      'to send',
      'later',
      'invalid',
      'rejected',
    ]);
    expect([...rows, ...totals]).toEqual([
      ['leads', 6, 0, 3, 0, 2, 1],
      ['deals', 12, 5, 0, 7, 0, 0],
      ['all', 18, 5, 3, 7, 2, 1],
    ]);
  });
});

describe('the priorities', () => {
  const now = new Date('2026-03-02T10:42:00Z');
  const counts = (priority: number, at: string | null) => ({ priority, events: 9, acknowledged: 2, done_at: at });

  it('say of each how many events it has, and when they are done: about, while that lies ahead', () => {
    const found = [counts(1, '2026-03-01T10:42:00Z'), counts(0, '2026-03-20T12:00:00Z'), counts(-5, null)];
    expect(prioritiesSection(found, now)!.rows.map((row) => row[3])).toEqual([
      expect.not.stringContaining('about'),
      expect.stringContaining('about 20 Mar'),
      '–',
    ]);
  });
});
