/** Random histories of a migration, as plain data: what the exports say from day to day, and what disturbs the runs. */
import fc from 'fast-check';
import { FAULT_KINDS, NO_FAULTS, type Fault, type Weather } from './network.ts';
import type { Ending } from './program.ts';
import type { Habits } from './service.ts';

/** Days of disturbed runs at most. The day after the last is undisturbed. */
const MOST_DAYS = 3;

/** What a cell says: one of a few values, so that values come back; nothing; or something invalid. */
export type Letter = 'a' | 'b' | 'c' | '' | '!';
export type Cells = Readonly<Record<string, Letter>>;

export interface Row {
  readonly id: string;
  /** By day; null on days on which the export lacks it. */
  readonly days: readonly (Cells | null)[];
}

export interface Comment {
  /** Empty if the old CRM has none. */
  readonly id: string;
  readonly lead: string;
  readonly deal: string;
  readonly at: string;
  /** By day; null as above, '!' an empty comment. */
  readonly days: readonly ('a' | 'b' | '!' | null)[];
  /** By day: the lead that it belongs to then; absent if it never moves, and in older histories. */
  readonly moves?: readonly string[] | undefined;
}

/** A comment with the parent that it has on a day. */
export function commentOn(comment: Comment, day: number): Comment {
  return comment.moves ? { ...comment, lead: comment.moves[day]!, deal: '' } : comment;
}

export type IfChanged = 'report' | 'ignore' | 'update' | 'listed';

/** Of one entity; of comments only some. */
export interface Policies {
  readonly if_exists: 'reject' | 'skip' | 'update';
  readonly if_changed: IfChanged;
  readonly if_edited: 'keep' | 'overwrite';
  readonly if_missing: 'reject' | 'skip' | 'create';
  readonly if_parent_missing: 'block' | 'send' | 'omit';
  readonly if_contact_exists: 'report' | 'reject' | 'ignore';
  readonly duplicates: 'reject' | 'first' | 'last';
  readonly priority: boolean;
}

export interface Mapping {
  readonly lead: Policies;
  readonly deal: Policies;
  readonly comment: Policies;
}

export interface Run {
  readonly dryRun: boolean;
  readonly pilot: number | undefined;
  readonly only: string | undefined;
  readonly concurrency: number;
  readonly maxOutage: string;
  readonly weather: Weather;
  readonly ending: Ending | undefined;
  /** Before it, a person corrects what the last run rejected; absent in histories that are older than this. */
  readonly fixes?: boolean | undefined;
  /** With --pick; absent in older histories, too. */
  readonly pick?: string | undefined;
  /** A dry run comes first, and this run gets the digest of its plan; absent in older histories, too. */
  readonly approves?: boolean | undefined;
  /** Requests per minute, with --rate; absent in older histories, too. */
  readonly rate?: number | undefined;
  /** Until the next run begins. */
  readonly pauseMs: number;
}

/** What a person does in the service between two runs: to the nth record there. */
export interface Act {
  readonly kind: 'edit' | 'delete';
  readonly nth: number;
  readonly field: 0 | 1;
}

export interface Day {
  readonly runs: readonly Run[];
  readonly acts: readonly Act[];
  /** Requests per window of another client with the same key. */
  readonly foreign: number;
  /** The mapping takes names and titles from the wrong columns; absent in histories that are older than this. */
  readonly isMismapped?: boolean | undefined;
  /** Of leads and deals, other than in the mapping of the last days; absent in older histories, too. */
  readonly policies?: DayPolicies | undefined;
  /**
   * Before its first run, the state directory is lost, put back as it was a day before, or purged; or its checkpoint alone is put back
   * (`behind`); absent in older histories, too.
   */
  readonly state?: 'lost' | 'older' | 'purged' | 'behind' | undefined;
}

export type DayPolicies = Partial<Policies>;

export interface History {
  readonly mapping: Mapping;
  readonly habits: Habits;
  readonly leads: readonly Row[];
  readonly leadChanges: readonly Row[];
  readonly deals: readonly Row[];
  readonly dealChanges: readonly Row[];
  readonly comments: readonly Comment[];
  /** Records of somebody else with ids of the export. */
  readonly somebodys: readonly string[];
  readonly days: readonly Day[];
  /** By day: the rows from this one on are in a second file, of each table; absent if there is one file, and in older histories. */
  readonly cuts?: readonly number[] | undefined;
  /** By day: whether comments of one parent go as one; absent if they never do, and in older histories. */
  readonly combines?: readonly boolean[] | undefined;
  /**
   * `if_changed` of the fields that the updated entries set, which then carry no custom fields: those of a record have one policy. Absent
   * if they have the policy of the created entries, and in older histories.
   */
  readonly changed?: Readonly<Record<'lead' | 'deal', IfChanged>> | undefined;
  /** Of delays and backoff. */
  readonly seed: number;
}

export const LEAD_COLUMNS = ['name', 'email', 'city'] as const;
export const DEAL_COLUMNS = ['title', 'amount', 'stage', 'lead', 'origin'] as const;
export const CUSTOM_COLUMNS: readonly string[] = ['city', 'origin'];
export const VALIDATED: Readonly<Record<string, boolean>> = { email: true, amount: true };

const LEADS = ['L1', 'L2', 'L3'];
const DEALS = ['D1', 'D2'];
const DAYS = MOST_DAYS + 1;

const letter = fc.constantFrom<Letter>('a', 'b', 'c');

/** Mostly `otherwise`: one time in `times` something else. */
function rarely<T, U>(arbitrary: fc.Arbitrary<T>, otherwise: U, times: number): fc.Arbitrary<T | U> {
  const usual = { weight: times - 1, arbitrary: fc.constant(otherwise) };
  return fc.oneof({ withCrossShrink: true }, usual, { weight: 1, arbitrary });
}

/** The same on most days: most rows of an export do not change. */
function perDay<T>(value: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> {
  return fc
    .tuple(value, fc.array(rarely(value, undefined, 3), { minLength: DAYS - 1, maxLength: DAYS - 1 }))
    .map(([first, later]) => {
      const days = [first];
      for (const next of later) days.push(next === undefined ? days.at(-1)! : next);
      return days;
    });
}

function cells(columns: readonly string[], presence: number): fc.Arbitrary<Cells> {
  const cell = (column: string): fc.Arbitrary<Letter> =>
    fc.oneof(
      { weight: presence, arbitrary: letter },
      { weight: 10 - presence, arbitrary: fc.constant<Letter>('') },
      ...(VALIDATED[column] ? [{ weight: 1, arbitrary: fc.constant<Letter>('!') }] : []),
    );
  return fc.record(Object.fromEntries(columns.map((column) => [column, cell(column)])));
}

function rows(ids: readonly string[], columns: readonly string[], presence: number, maxLength: number) {
  return fc.array(
    fc.record<Row>({
      id: fc.constantFrom(...ids),
      days: perDay(fc.option(cells(columns, presence), { nil: null, freq: 10 })),
    }),
    { maxLength },
  );
}

const TIMES = ['2024-03-01T10:00:00Z', '2024-03-02T10:00:00Z', ''];
const comments: fc.Arbitrary<readonly Comment[]> = fc.array(
  fc
    .record({
      id: fc.constantFrom('', '', 'C1', 'C2', 'C3'),
      parent: fc.constantFrom(...LEADS, ...DEALS, 'L0', 'L0'),
      at: fc.constantFrom(...TIMES),
      days: perDay(
        fc.oneof(
          { weight: 8, arbitrary: fc.constantFrom('a' as const, 'b' as const) },
          { weight: 1, arbitrary: fc.constantFrom('!' as const, null) },
        ),
      ),
    })
    .map(({ parent, ...comment }) => ({
      ...comment,
      lead: parent.startsWith('L') ? parent : '',
      deal: parent.startsWith('D') ? parent : '',
    })),
  { maxLength: 4 },
);

const policies: fc.Arbitrary<Policies> = fc.record<Policies>({
  if_exists: fc.constantFrom('update', 'update', 'skip', 'reject'),
  if_changed: fc.constantFrom('update', 'update', 'update', 'report', 'ignore', 'listed'),
  if_edited: fc.constantFrom('keep', 'keep', 'overwrite'),
  if_missing: fc.constantFrom('create', 'create', 'skip', 'reject'),
  if_parent_missing: fc.constantFrom('block', 'send', 'omit'),
  if_contact_exists: fc.constantFrom('ignore', 'ignore', 'report', 'reject'),
  duplicates: fc.constantFrom('last', 'last', 'first', 'reject'),
  priority: fc.boolean(),
});

const ifChanged = fc.constantFrom<IfChanged>('update', 'update', 'report', 'ignore', 'listed');
const changed = rarely(fc.record({ lead: ifChanged, deal: ifChanged }), undefined, 3);

const times = fc.constantFrom(1, 1, 1, 2, 5, 6);

const weather: fc.Arbitrary<Weather> = fc.record<Weather>({
  faults: fc.array(
    fc.record({
      kind: fc.constantFrom(...FAULT_KINDS),
      from: fc.integer({ min: 1, max: 14 }),
      times,
      about: rarely(fc.constantFrom(...LEADS, ...DEALS, 'C1'), undefined, 2),
    }),
    { maxLength: 3 },
  ),
  readFaults: rarely(
    fc.array(
      fc.record({
        kind: fc.constantFrom('lost' as const, '503' as const, '429' as const, 'page' as const),
        from: fc.integer({ min: 1, max: 8 }),
        times,
      }),
      { minLength: 1, maxLength: 1 },
    ),
    [],
    6,
  ),
  outage: rarely(
    fc.record({
      from: fc.integer({ min: 1, max: 14 }),
      lastsMs: fc.constantFrom(20_000, 300_000, 3_600_000),
      how: fc.constantFrom('refused' as const, '503' as const, 'silence' as const),
    }),
    undefined,
    8,
  ),
  clock: rarely(
    fc.oneof(
      fc.record({
        from: fc.integer({ min: 1, max: 14 }),
        kind: fc.constant('wall clock' as const),
        ms: fc.constantFrom(-86_400_000, -60_000, 60_000, 86_400_000),
      }),
      fc.record({
        from: fc.integer({ min: 1, max: 14 }),
        kind: fc.constantFrom('sleep' as const, 'sleep, monotonic clock stands' as const),
        ms: fc.constantFrom(60_000, 8 * 3_600_000),
      }),
    ),
    undefined,
    8,
  ),
});

/** A run that nothing disturbs. */
export const QUIET: Run = {
  dryRun: false,
  pilot: undefined,
  only: undefined,
  concurrency: 10,
  maxOutage: '30m',
  weather: NO_FAULTS,
  ending: undefined,
  pauseMs: 90_000,
};

const ending: fc.Arbitrary<Ending> = fc.oneof(
  fc.record<Ending>({
    kind: fc.constantFrom('kill', 'kill', 'kill', 'signal', 'two signals', 'disk full'),
    phase: fc.constant('sending'),
    at: fc.integer({ min: 1, max: 120 }),
  }),
  fc.record<Ending>({
    kind: fc.constantFrom('kill', 'signal', 'disk full'),
    phase: fc.constant('survey'),
    at: fc.integer({ min: 1, max: 250 }),
  }),
);

const run: fc.Arbitrary<Run> = fc.record<Run>({
  dryRun: rarely(fc.constant(true), false, 10),
  pilot: rarely(fc.integer({ min: 1, max: 3 }), undefined, 8),
  only: rarely(fc.constantFrom('lead', 'deal', 'lead/created', 'comment'), undefined, 12),
  concurrency: fc.constantFrom(10, 10, 1, 3),
  maxOutage: fc.constantFrom('30m', '30m', '2h'),
  weather,
  ending: rarely(ending, undefined, 2),
  fixes: rarely(fc.constant(true), false, 4),
  pick: rarely(fc.constantFrom('lead:L1', 'deal:D1'), undefined, 12),
  approves: rarely(fc.constant(true), false, 10),
  rate: rarely(fc.constantFrom(2, 5, 30, 100), undefined, 10),
  pauseMs: fc.constantFrom(1_000, 90_000, 86_400_000),
});

/** One or two of them. */
const dayPolicies: fc.Arbitrary<DayPolicies> = fc
  .tuple(
    policies,
    fc.subarray<keyof Policies>(
      [
        'if_changed',
        'if_changed',
        'if_edited',
        'if_exists',
        'if_missing',
        'if_parent_missing',
        'if_contact_exists',
        'duplicates',
        'priority',
      ],
      { minLength: 1, maxLength: 2 },
    ),
  )
  .map(([drawn, names]) => Object.fromEntries(names.map((name) => [name, drawn[name]])));

const day: fc.Arbitrary<Day> = fc.record<Day>({
  runs: fc.array(run, { minLength: 1, maxLength: 2 }),
  acts: fc.array(
    fc.record<Act>({
      kind: fc.constantFrom('edit', 'edit', 'edit', 'delete'),
      nth: fc.nat(5),
      field: fc.constantFrom(0, 1),
    }),
    { maxLength: 2 },
  ),
  foreign: fc.constantFrom(0, 0, 0, 0, 0, 30),
  isMismapped: rarely(fc.constant(true), false, 8),
  policies: rarely(dayPolicies, undefined, 2),
  state: rarely(fc.constantFrom('lost', 'older', 'purged', 'behind'), undefined, 15),
});

const habits: fc.Arbitrary<Habits> = fc.record<Habits>({
  limit: fc.constantFrom(100, 100, 20, 7),
  countsRefused: fc.boolean(),
  pageSize: fc.constantFrom(100, 2, 1),
  saysTotal: fc.boolean(),
  hasSingleDeals: fc.boolean(),
  normalises: fc.boolean(),
});

const filled = (columns: readonly string[]): Cells => Object.fromEntries(columns.map((column) => [column, 'a']));

/** Nothing about these records is reported, whatever happens. */
const STEADY: Policies = {
  if_exists: 'update',
  if_changed: 'update',
  if_edited: 'keep',
  if_missing: 'create',
  if_parent_missing: 'block',
  if_contact_exists: 'ignore',
  duplicates: 'last',
  priority: false,
};

/** One lead is always there: an export without any record is refused. */
const ALWAYS: Row = { id: 'L0', days: Array.from({ length: DAYS }, () => filled(LEAD_COLUMNS)) };

const various: fc.Arbitrary<History> = fc.record<History>({
  mapping: fc.record<Mapping>({ lead: policies, deal: policies, comment: policies }),
  habits,
  leads: rows(LEADS, LEAD_COLUMNS, 9, 4).map((all) => [ALWAYS, ...all]),
  leadChanges: rows(LEADS, LEAD_COLUMNS, 5, 3),
  deals: rows(DEALS, DEAL_COLUMNS, 9, 3),
  dealChanges: rows(DEALS, DEAL_COLUMNS, 5, 3),
  comments,
  somebodys: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.subarray([...LEADS, ...DEALS], { maxLength: 2 }) },
  ),
  days: fc.array(day, { minLength: 1, maxLength: MOST_DAYS }),
  cuts: rarely(fc.array(fc.integer({ min: 1, max: 3 }), { minLength: DAYS, maxLength: DAYS }), undefined, 4),
  combines: rarely(perDay(fc.boolean()), undefined, 2),
  changed,
  seed: fc.nat(1_000_000),
});

/** A row with one or two values that change each day; on some days the export lacks it. */
function changingRow(id: string, columns: readonly string[], presence: number): fc.Arbitrary<Row> {
  const cell = fc.oneof({ weight: presence, arbitrary: letter }, { weight: 10 - presence, arbitrary: fc.constant('') });
  return fc
    .record({
      changing: fc.subarray([...columns], { minLength: 1, maxLength: 2 }),
      days: fc.array(fc.array(cell, { minLength: columns.length, maxLength: columns.length }), {
        minLength: DAYS,
        maxLength: DAYS,
      }),
      isThere: fc.array(rarely(fc.constant(false), true, 8), { minLength: DAYS, maxLength: DAYS }),
    })
    .map(({ changing, days, isThere }) => ({
      id,
      days: days.map((today, day) =>
        isThere[day]
          ? Object.fromEntries(
              columns.map((column, at) => [column, (changing.includes(column) ? today : days[0]!)[at] as Letter]),
            )
          : null,
      ),
    }));
}

/** Days of one kind of fault, in runs that end around a request. */
function disturbedDays(about: readonly string[]): fc.Arbitrary<readonly Day[]> {
  const both = fc.record({ kind: fc.constantFrom(...FAULT_KINDS), ends: fc.constantFrom('kill', 'two signals') });
  return both.chain(({ kind, ends }) => {
    const fault = fc.record<Fault>({
      kind: fc.constant(kind),
      from: fc.integer({ min: 1, max: 3 }),
      times,
      about: fc.constantFrom(undefined, ...about),
    });
    const disturbed: fc.Arbitrary<Run> = fc
      .record({
        faults: fc.array(fault, { maxLength: 1 }),
        ending: fc.option(
          fc.record<Ending>({
            kind: rarely(fc.constant('disk full'), ends, 6),
            phase: rarely(fc.constant('sending' as const), 'requests' as const, 5),
            // A request arrives at odd points, and has been processed at even ones.
            at: fc.constantFrom(1, 2, 2, 2, 4, 4, 6),
          }),
          { nil: undefined, freq: 3 },
        ),
        pauseMs: fc.constantFrom(1_000, 90_000, 86_400_000),
      })
      .map(({ faults, ...run }) => ({ ...QUIET, ...run, weather: { ...QUIET.weather, faults } }));
    const act = fc.record<Act>({ kind: fc.constant('edit'), nth: fc.nat(2), field: fc.constantFrom(0, 1) });
    const day = fc.record<Day>({
      runs: fc.array(disturbed, { minLength: 1, maxLength: 2 }),
      acts: rarely(fc.tuple(act), [], 4),
      foreign: fc.constant(0),
      policies: rarely(dayPolicies, undefined, 2),
      state: rarely(fc.constant('behind' as const), undefined, 8),
    });
    return fc
      .tuple(fc.nat(3), fc.array(day, { minLength: 1, maxLength: MOST_DAYS - 1 }))
      .map(([begun, days]) => (begun > 0 ? [{ runs: [QUIET], acts: [], foreign: 0 }, ...days] : days));
  });
}

/**
 * One lead and one deal whose values change each day and come back, under one kind of fault, in runs that end around a
 * request: what is rare among many records and many faults is common here.
 */
const mostlyUpdating = fc.oneof(
  policies.map((drawn) => ({ ...drawn, if_changed: 'update' as const })),
  policies,
);
const narrow: fc.Arbitrary<History> = fc.record<History>({
  mapping: fc.record<Mapping>({ lead: mostlyUpdating, deal: mostlyUpdating, comment: policies }),
  habits,
  leads: changingRow('L1', LEAD_COLUMNS, 9).map((row) => [ALWAYS, row]),
  leadChanges: fc.array(changingRow('L1', LEAD_COLUMNS, 5), { maxLength: 2 }),
  deals: fc.array(changingRow('D1', DEAL_COLUMNS, 9), { maxLength: 1 }),
  dealChanges: fc.array(changingRow('D1', DEAL_COLUMNS, 5), { maxLength: 1 }),
  comments: fc.constant([]),
  somebodys: rarely(fc.constant(['L1']), [], 6),
  days: disturbedDays(['L1', 'D1']),
  changed,
  seed: fc.nat(1_000_000),
});

/** The same with the comments of one lead, which are combined: they are removed, edited, moved to another lead, and return. */
const noted: fc.Arbitrary<History> = fc
  .record({
    comment: policies,
    habits,
    // Comments without an id have another one with each text and time.
    nameless: rarely(fc.subarray([0, 1, 2, 3], { minLength: 1 }), [] as number[], 3),
    times: rarely(fc.array(fc.constantFrom(...TIMES), { minLength: 4, maxLength: 4 }), ['', '', '', ''], 3),
    kept: fc.array(
      fc.record({
        days: fc.array(fc.constantFrom('a' as const, 'a' as const, 'a' as const, 'b' as const, '!' as const, null), {
          minLength: DAYS,
          maxLength: DAYS,
        }),
        moves: rarely(fc.array(fc.constantFrom('L1', 'L1', 'L0'), { minLength: DAYS, maxLength: DAYS }), undefined, 3),
      }),
      { minLength: 2, maxLength: 4 },
    ),
    combines: rarely(
      perDay(fc.boolean()),
      Array.from({ length: DAYS }, () => true),
      4,
    ),
    days: disturbedDays(['C1+', 'C2+']),
    seed: fc.nat(1_000_000),
  })
  .map(({ comment, nameless, times, kept, days, ...rest }) => ({
    ...rest,
    mapping: { lead: STEADY, deal: STEADY, comment },
    leads: [ALWAYS, { ...ALWAYS, id: 'L1' }],
    leadChanges: [],
    deals: [],
    dealChanges: [],
    comments: kept.map((each, nth) => ({
      id: nameless.includes(nth) ? '' : `C${nth + 1}`,
      lead: 'L1',
      deal: '',
      at: times[nth]!,
      ...each,
    })),
    somebodys: [],
    days: days.map((day) => ({ ...day, acts: [], policies: undefined })),
  }));

export const history: fc.Arbitrary<History> = fc.oneof(various, narrow, noted);

/** Of the created entries. The mapping has other policies on some days. */
export function policiesOn({ mapping, days }: History, day: number, entity: 'lead' | 'deal'): Policies {
  return { ...mapping[entity], ...days[day]?.policies };
}

/** Of the updated entries. */
export function changesPoliciesOn(history: History, day: number, entity: 'lead' | 'deal'): Policies {
  const policies = policiesOn(history, day, entity);
  return history.changed ? { ...policies, if_changed: history.changed[entity] } : policies;
}
