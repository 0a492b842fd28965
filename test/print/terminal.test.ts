import { describe, expect, it } from 'vitest';
import { sectionOf, type Figures, type Cells } from '../../src/figures/figures.ts';
import { countsSection, prioritiesSection } from '../../src/figures/counts.ts';
import { SCREEN_LINES, screenOf } from '../../src/print/terminal.ts';
import type { CountedState } from '../../src/plan/counts.ts';

function linesOf(figures: Figures, columns: number, isWhole = false): string[] {
  return screenOf(figures, { columns, isWhole }).map((line) => line.map(({ text }) => text).join(''));
}

const VERDICT = { word: 'DONE', text: ': all of it', mood: 'done', details: [] } as const;

function list(count: number, noun = 'cause'): Figures['sections'][number] {
  return sectionOf({
    id: noun,
    title: noun.toUpperCase(),
    columns: [
      { head: '', kind: 'text' },
      { head: '', kind: 'place' },
      { head: 'frees', kind: 'number' },
      { head: '', kind: 'code' },
    ],
    rows: Array.from({ length: count }, (_, at): Cells => [
      `the value number ${at} is not a date that exists`,
      `contacts.csv:${at}`,
      count - at,
      'bad_date',
    ]),
    limit: { most: 8, least: 3, noun, rest: 'errors.csv', isSummed: false },
  });
}

describe('a screen', () => {
  it.each([60, 80, 120])('of %i columns has no wider line, and at most thirty lines', (columns) => {
    const sections = [list(40), list(40, 'warning'), list(3, 'change')];
    const lines = linesOf({ verdict: VERDICT, sections }, columns);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns);
    expect(lines.length).toBeLessThanOrEqual(SCREEN_LINES);
    expect(lines[0]).toMatch(/^DONE/);
  });

  it('says how much of a list it leaves out, and where all of it is; with --all it leaves out nothing', () => {
    const figures = { verdict: VERDICT, sections: [list(40)] };
    const said = linesOf(figures, 120).join('\n');
    const rows = said.match(/the value number/g)!.length;
    expect(said).toContain(`${40 - rows} more causes in errors.csv`);
    expect(
      linesOf(figures, 120, true)
        .join('\n')
        .match(/the value number/g),
    ).toHaveLength(40);
  });

  it('never leaves out a single row: the line that says so takes its place', () => {
    expect(linesOf({ verdict: VERDICT, sections: [list(9)] }, 120).join('\n')).not.toContain('more cause');
  });

  it('places codes and places below a row that has no room for them', () => {
    const figures = { verdict: VERDICT, sections: [list(1)] };
    expect(linesOf(figures, 120)).toContain(
      '  the value number 0 is not a date that exists  contacts.csv:0      1  bad_date',
    );
    expect(
      linesOf(figures, 60)
        .slice(-2)
        .map((line) => line.trim()),
    ).toEqual([
      expect.stringMatching(/^the value number 0 is not a date that exists +1$/),
      'contacts.csv:0   bad_date',
    ]);
  });

  it('never breaks a command', () => {
    const command = `npx crm-backfill run ${'x'.repeat(100)}.yaml`;
    const next = sectionOf({
      id: 'next',
      title: '',
      columns: [
        { head: '', kind: 'label' },
        { head: '', kind: 'text' },
        { head: '', kind: 'command' },
      ],
      rows: [['Next', 'send it', command]],
    });
    expect(
      linesOf({ verdict: VERDICT, sections: [next] }, 60)
        .at(-1)!
        .trim(),
    ).toBe(command);
  });

  it('shows what a terminal would interpret by its code point', () => {
    const name = sectionOf({ id: 'a', title: 'A', columns: [{ head: '', kind: 'text' }], rows: [['\u001b[2Jx\ny']] });
    expect(linesOf({ verdict: VERDICT, sections: [name] }, 60).at(-1)).toBe('  [U+001B][2Jx\\ny');
  });
});

describe('the counts', () => {
  const states: CountedState[] = [
    { type: 'lead/created', state: 'ready', code: null, is_chosen: 1, count: 3 },
    { type: 'lead/created', state: 'retry', code: null, is_chosen: 1, count: 1 },
    { type: 'lead/created', state: 'invalid', code: null, is_chosen: 1, count: 2 },
    { type: 'deal/created', state: 'acknowledged', code: null, is_chosen: 1, count: 5 },
    { type: 'deal/created', state: 'held', code: null, is_chosen: 0, count: 7 },
  ];

  it('have every event in one column: what is tried again is to be sent, and what is not selected is not', () => {
    const { columns, rows, totals } = countsSection(states);
    expect(columns.map(({ head }) => head)).toEqual([
      '',
      'events',
      'acknowledged',
      'to send',
      'not selected',
      'invalid',
    ]);
    expect([...rows, ...totals]).toEqual([
      ['leads', 6, 0, 4, 0, 2],
      ['deals', 12, 5, 0, 7, 0],
      ['all', 18, 5, 4, 7, 2],
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

  it('are absent where there is one', () => {
    expect(prioritiesSection([counts(0, null)], now)).toBeUndefined();
  });
});
