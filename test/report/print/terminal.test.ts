import { describe, expect, it } from 'vitest';
import { LIMITS, sectionOf, type Figures, type Cells } from '../../../src/report/figures/figures.ts';
import { countsSection, prioritiesSection } from '../../../src/report/figures/counts.ts';
import { SCREEN_LINES, screenOf } from '../../../src/report/print/terminal.ts';
import type { CountedState } from '../../../src/plan/counts.ts';
import { comparedFields, ENTITIES } from '../../../src/kinds/index.ts';
import { explanationFigures, valuesSection } from '../../../src/report/figures/explanation.ts';
import type { RecordStory } from '../../../src/report/figures/story.ts';
import {
  VERDICT_NAMES,
  verificationFigures,
  type FieldCounts,
  type Verification,
} from '../../../src/report/figures/verification.ts';

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

  it('counts the kinds of a list that it leaves out, and shows how to fix the first cause before all others', () => {
    const causes = list(3);
    const hinted = (head: string, rows: number): Figures['sections'][number] => ({
      ...list(rows, head === 'count' ? 'warning' : 'cause'),
      columns: [
        ...causes.columns.map((each) => (each.kind === 'number' ? { ...each, head } : each)),
        { head: '', kind: 'hint' },
      ],
      rows: list(rows).rows.map((row, at) => [...row, `${head} hint ${at}`]),
    });
    const checks = { ...hinted('count', 20), limit: { ...list(1, 'warning').limit!, least: 0 } };
    const said = linesOf({ verdict: VERDICT, sections: [hinted('frees', 6), checks, list(3, 'change')] }, 80).join(
      '\n',
    );
    expect(said).toContain('hint: frees hint 0');
    expect(said).not.toContain('count hint');
    expect(said).toMatch(/\d+ (?:more )?warnings of \d+ kinds in errors.csv/);
  });

  it('shows three causes and names the codes of the others, while another list has rows to give up', () => {
    const codes = ['bad_date', 'bad_phone', 'bad_number', 'missing_value', 'invalid_email', 'unresolved_owner'];
    const causes = {
      ...list(6),
      rows: codes.map((code, at) => [
        `the value number ${at} is no date, and that is rather long`,
        'contacts.csv:1',
        1,
        code,
      ]),
      limit: LIMITS.causes,
    };
    const skipped = sectionOf({
      id: 'skipped',
      title: 'Rows skipped',
      columns: [
        { head: 'source', kind: 'label' },
        { head: 'why', kind: 'text' },
        { head: 'rows', kind: 'number' },
      ],
      rows: [['notes', 'for a reason', 15]],
      limit: LIMITS.skipped,
    });
    const stages = sectionOf({
      id: 'stages',
      title: 'Deals by stage',
      columns: [
        { head: '', kind: 'text' },
        { head: 'export', kind: 'number' },
      ],
      rows: Array.from({ length: 9 }, (_, at) => [`stage ${at}`, 1]),
      totals: [['all', 9]],
      limit: LIMITS.stages,
    });
    const notes = sectionOf({ id: 'notes', notes: Array.from({ length: 16 }, (_, at) => `note ${at}`) });
    const lines = linesOf({ verdict: VERDICT, sections: [stages, causes, skipped, notes] }, 70);
    expect(lines.filter((line) => line.includes('the value number'))).toHaveLength(3);
    expect(lines).toContain('  3 more causes in errors.csv: missing_value, invalid_email, …');
    expect(lines).toContain('Rows skipped  15 rows in left_out.csv');
    expect(lines.join('\n')).toMatch(/^  all +9$/m);
    expect(lines.length).toBeLessThanOrEqual(SCREEN_LINES);
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

  it('breaks a name and what becomes of it before the arrow', () => {
    const columns = [
      { head: '', kind: 'text' as const },
      { head: 'export', kind: 'number' as const },
    ];
    const rows = [['Sales Pipeline / Lost -> Sales / Lost', 4]];
    const lines = linesOf({ verdict: VERDICT, sections: [sectionOf({ id: 'stages', columns, rows })] }, 40);
    expect(lines.map((line) => line.trim())).toContain('-> Sales / Lost');
  });

  it('has a command alone on its line, however short', () => {
    const kinds = ['label', 'text', 'command'] as const;
    const next = sectionOf({
      id: 'next',
      columns: kinds.map((kind) => ({ head: '', kind })),
      rows: [['Resume', 'now', 'run a.yaml']],
    });
    expect(linesOf({ verdict: VERDICT, sections: [next] }, 120).slice(-2)).toEqual(['  Resume  now', '    run a.yaml']);
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

/** A verification of thousands of records with every kind of difference in every field. */
function worstVerification(): Verification {
  const counts = Object.fromEntries(VERDICT_NAMES.map((name, at) => [name, 1_000 + at])) as FieldCounts;
  const entities = ENTITIES.map((entity) => {
    const fields = Object.fromEntries(comparedFields(entity).map(({ name }) => [name, counts]));
    const read = { read_back: 60_000, missing: 12, equal: 41_000, refused: 3, not_shown: null };
    return [entity, { acknowledged: 100_000, without_id: 40, not_in_input: 7, ...read, fields }] as const;
  });
  return {
    ...{ migration: 'acme', base_url: 'https://crm.example', sample: 'all', requests: 9, finished_at: '2026-03-02' },
    exit: { code: 1, reason: 'missing' },
    entities: Object.fromEntries(entities),
    first_differences: [
      {
        ...{ entity: 'lead', external_id: '51000301', service_id: 's', field: 'full_name', verdict: 'different' },
        ...{
          expected: 'A long name that nobody has '.repeat(9),
          actual: '\u001b[31mred',
          written_at: '',
          updated_at: '',
        },
      },
    ],
    plan: { digest: '297b079e204f', is_dry_run: false },
    files: { verify: '/somewhere/verify.csv' },
  };
}

const FATE = { state: 'blocked', file: 'an export with a long name.csv', line: 123_456 } as const;

/** A record about which there is more to say than a screen has room for. */
function longStory(): RecordStory {
  const values = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`Column number ${at}`, 'long '.repeat(90)]));
  const place = { source: 'people', file: 'people.csv', line: 2, record: 1 };
  const leftOut = {
    file: 'people.csv',
    line: 2,
    field: 'phone_number',
    original: 'ask '.repeat(90),
    reason: 'no '.repeat(90),
  };
  const story: RecordStory = {
    ...{ record: 'lead:51000301', state: 'invalid', service_id: null, parent: { record: 'lead:1', name: '', ...FATE } },
    plan: { file: '/somewhere/plan.db', at: '2026-03-02T10:42:00Z', dry_run: true },
    events: [
      {
        ...{ type: 'lead/created', state: 'invalid', difference: 'changed', sends: 'lead/updated', parts: ['a', 'b'] },
        later: null,
        rows: Array.from({ length: 3 }, () => ({ ...place, raw: values, original: null })),
        ...{ data: { full_name: 'Ada '.repeat(90), custom_params: values }, occurred_at: '2023-01-01T07:00:00.000Z' },
        errors: Array.from({ length: 9 }, () => {
          return {
            kind: 'map',
            code: 'bad_date',
            field: 'joined',
            message: 'no date '.repeat(30),
            hint: 'mend it '.repeat(30),
          };
        }),
        omitted: Array.from({ length: 30 }, () => leftOut),
      },
    ],
    unused: [],
    dropped: Array.from({ length: 30 }, () => ({ ...leftOut, field: null })),
    children: {
      ...{ count: 2_000, by_state: { blocked: 2_000 } },
      first: Array.from({ length: 5 }, () => ({ record: 'comment:', name: 'Called '.repeat(90), ...FATE })),
    },
    answers: Array.from({ length: 40 }, () => ({
      ...{ at: null, sent_at: '2026-03-02T10:42:00Z', type: 'lead/created', event_id: 'e', status: 'unanswered' },
      ...{ outcome: null, code: null, service_id: null },
    })),
  };
  return story;
}

describe('a verification', () => {
  it.each([60, 80, 120])(
    'at %i columns begins with its verdict, is thirty lines long, and says what it leaves out',
    (columns) => {
      const lines = linesOf(verificationFigures(worstVerification(), new Map()), columns);
      expect(lines[0]).toMatch(/^MISSING: 123,000 of 180,000 records match/);
      for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns);
      expect(lines.length).toBeLessThanOrEqual(SCREEN_LINES);
      const text = lines.join('\n');
      expect(text).toMatch(/more differences in verify\.csv/);
      expect(text).not.toContain('\u001b');
    },
  );

  it('that ended well has twelve lines at most', () => {
    const worst = worstVerification();
    const entities = Object.entries(worst.entities).map(([entity, { fields }]) => {
      const zero: Record<string, number> = Object.fromEntries(VERDICT_NAMES.map((name) => [name, 0]));
      const same = Object.fromEntries(Object.keys(fields).map((name) => [name, { ...zero, same: 9 }]));
      const read = { acknowledged: 9, read_back: 9, equal: 9, missing: 0, refused: 0, without_id: 0, not_in_input: 0 };
      return [entity, { ...read, not_shown: null, fields: same }] as const;
    });
    const found = {
      ...worst,
      exit: { code: 0, reason: 'same' },
      entities: Object.fromEntries(entities) as unknown as Verification['entities'],
    } satisfies Verification;
    const lines = linesOf(verificationFigures(found, new Map()), 80);
    expect(lines.length).toBeLessThanOrEqual(12);
  });
});

describe('an explanation', () => {
  it.each([60, 80, 120])('at %i columns begins with what became of the record, and no line is wider', (columns) => {
    const found = { story: longStory(), live: undefined, names: new Map(), now: new Date('2026-03-02T12:00:00Z') };
    const lines = linesOf(explanationFigures(found), columns);
    expect(lines[0]).toMatch(/^INVALID lead:51000301/);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns);
    expect(lines.join('\n')).toMatch(/more fields in --all/);
    expect(lines.join('\n')).toMatch(/more answers in --all/);
  });

  it('has one line for each value, which ends where the line does, in columns as wide as their characters', () => {
    const section = valuesSection('values', 'Values', [
      ['氏名', '山田太郎'],
      ['email', 'x'.repeat(5_000)],
    ]);
    const lines = linesOf({ verdict: VERDICT, sections: [section] }, 60);
    expect(lines.slice(-2)).toEqual(['  氏名   山田太郎', `  email  ${'x'.repeat(50)}…`]);
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

  it('have every event in one column: what is tried again is to be sent, and what is not selected is not', () => {
    const { columns, rows, totals } = countsSection(states);
    expect(columns.map(({ head }) => head)).toEqual(['', 'events', 'acknowledged', 'to send', 'later', 'invalid']);
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
