import { describe, expect, it } from 'vitest';
import { column, sectionOf, type Figures, type Cells } from '../../../src/report/figures/figures.ts';
import { countsSection, prioritiesSection } from '../../../src/report/figures/counts.ts';
import { screenOf } from '../../../src/report/print/terminal.ts';
import type { CountedState } from '../../../src/plan/counts.ts';
import { comparedFields, ENTITIES } from '../../../src/kinds/index.ts';
import { explanationFigures } from '../../../src/report/figures/explanation.ts';
import type { RecordStory } from '../../../src/report/figures/story.ts';
import { VERDICTS, verificationFigures, type Verification } from '../../../src/report/figures/verification.ts';

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
  const counts = Object.fromEntries(Object.keys(VERDICTS).map((name, at) => [name, 1_000 + at]));
  const entities = ENTITIES.map((entity) => {
    const fields = Object.fromEntries(comparedFields(entity).map(({ name }) => [name, counts]));
    const read = { read_back: 60_000, missing: 12, equal: 41_000, unreadable: 5, refused: 3, not_shown: null };
    return [entity, { acknowledged: 100_000, without_id: 40, not_in_input: 7, ...read, fields }] as const;
  });
  return {
    ...{ migration: 'acme', base_url: 'https://crm.example', sample: 'all', requests: 9, finished_at: '2026-03-02' },
    exit: { code: 1, reason: 'missing' },
    entities: Object.fromEntries(entities),
    first_differences: ENTITIES.flatMap((entity) =>
      comparedFields(entity).flatMap(({ name: field }) =>
        (['different', 'edited', 'other_form'] as const).map((verdict) => ({
          ...{ entity, external_id: '51000301', service_id: 's', field, verdict, written_at: '', updated_at: '' },
          ...{ expected: 'A long name that nobody has '.repeat(9), actual: '\u001b[31mred' },
        })),
      ),
    ),
    plan: { digest: '297b079e204f', is_dry_run: false },
    files: { verify: '/somewhere/verify.csv' },
  };
}

const FATE = { state: 'blocked', place: 'an export with a long name.csv:123456' } as const;

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
        reason: null,
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
  it.each([80, 120])('at %i columns begins with its verdict, and says what it leaves out', (columns) => {
    const lines = linesOf(verificationFigures(worstVerification(), new Map()), columns);
    expect(lines[0]).toMatch(/^MISSING: 123,000 of 179,985 records match/);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns);
    const text = lines.join('\n');
    expect(text).toMatch(/more in verify\.csv/);
    expect(text).not.toContain('\u001b');
  });

  it('that ended well has twelve lines at most', () => {
    const worst = worstVerification();
    const entities = Object.entries(worst.entities).map(([entity, { fields }]) => {
      const same = Object.fromEntries(Object.keys(fields).map((name) => [name, { same: 9 }]));
      const read = { acknowledged: 9, read_back: 9, equal: 9, missing: 0, refused: 0, without_id: 0, not_in_input: 0 };
      return [entity, { ...read, not_shown: null, fields: same }] as const;
    });
    const found = {
      ...worst,
      exit: { code: 0, reason: 'same' },
      first_differences: [],
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

  it('are absent where there is one', () => {
    expect(prioritiesSection([counts(0, null)], now)).toBeUndefined();
  });
});
