/** Random pasts of a migration: what its exports contain from day to day, and what disturbs the runs of each day. */
import fc from 'fast-check';
import { defaultAccount, type FaultPlan } from '../../src/sandbox/index.ts';
import type { Account } from '../../src/service/account.ts';
import { files } from '../e2e/harness.ts';

const LEAD =
  '{ external_id: id, full_name: name, email: { from: email, on_error: reject }, custom_params: { city: city } }';
const DEAL =
  '{ external_id: id, title: title, amount: amount, stage_name: stage, lead_external_id: lead, custom_fields: { origin: origin } }';

const MAPPING = `version: 1
migration: histories
sources:
  comments: { path: comments.csv }
  deal-changes: { path: deal-changes.csv }
  deals: { path: deals.csv }
  lead-changes: { path: lead-changes.csv }
  leads: { path: leads.csv }
events:
  - { type: lead/created, source: leads, if_exists: update, if_changed: update, data: ${LEAD} }
  - { type: lead/updated, source: lead-changes, if_missing: create, data: ${LEAD} }
  - { type: deal/created, source: deals, if_exists: update, if_changed: update, data: ${DEAL} }
  - { type: deal/updated, source: deal-changes, if_missing: create, data: ${DEAL} }
  - type: comment/created
    source: comments
    occurred_at: { from: at, apply: [{ date: iso }] }
    data: { external_id: id, content: content, lead_external_id: lead, deal_external_id: deal }
`;

/** The last day is `DAYS`: every row is as on the day before, and valid. */
export const DAYS = 3;

/** A row of the exports. It always sets the same fields, so that no value of an earlier day is left over at the end. */
interface ExportRow {
  readonly id: string;
  readonly columns: readonly string[];
  /** Which version of its values it has on each day; absent if it is not in the export yet. */
  readonly versions: readonly (number | undefined)[];
  /** The days on which it is invalid. */
  readonly invalidOn: readonly number[];
}

interface CommentRow {
  /** Empty if the old CRM has none. */
  readonly id: string;
  /** Of the leads and deals of the exports, the one with this number (modulo how many there are). */
  readonly parent: number;
  readonly content: string;
  readonly at: string;
  readonly since: number;
  readonly invalidOn: readonly number[];
}

/** How the runs of one day are disturbed. */
interface Day {
  readonly faults: FaultPlan['rules'];
  /** Requests after which the run ends, and whether the last answer is not recorded, as after kill -9. */
  readonly requests: number | undefined;
  readonly kill: boolean;
}

export interface Past {
  readonly leads: readonly ExportRow[];
  readonly leadChanges: readonly ExportRow[];
  readonly deals: readonly ExportRow[];
  readonly dealChanges: readonly ExportRow[];
  readonly comments: readonly CommentRow[];
  /** Records of somebody else. */
  readonly foreignLeads: readonly string[];
  readonly foreignDeals: readonly string[];
  readonly seed: number;
  readonly days: readonly Day[];
}

const LEADS = ['1', '2', '3'];
const DEALS = ['D1', 'D2'];
const LEAD_COLUMNS = ['name', 'email', 'city'];
const DEAL_COLUMNS = ['title', 'amount', 'stage', 'lead', 'origin'];
const MOST_CHANGES = 6;
const MOST_COMMENTS = 5;

const versions = fc
  .tuple(fc.nat(DAYS - 1), fc.array(fc.boolean(), { minLength: DAYS, maxLength: DAYS }))
  .map(([first, changes]) => {
    let version = 0;
    return changes.map((isChanged, day) => (day < first ? undefined : isChanged ? (version += 1) : version));
  });

const invalidOn = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  fc.subarray(Array.from({ length: DAYS }, (_, at) => at)),
);

/** Created events are there from the first day, with all columns. */
function createdRows(ids: readonly string[], columns: readonly string[], minLength: number) {
  const row = (id: string): fc.Arbitrary<ExportRow> =>
    fc.record({
      id: fc.constant(id),
      columns: fc.constant(columns),
      versions: versions.map((all) => all.map((version) => version ?? 0)),
      invalidOn,
    });
  return fc.subarray([...ids], { minLength }).chain((chosen) => fc.tuple(...chosen.map(row)));
}

function updatedRows(ids: readonly string[], columns: readonly string[], minLength: number) {
  const row = fc.record<ExportRow>({
    id: fc.constantFrom(...ids),
    columns: fc.subarray([...columns], { minLength: 1 }),
    versions,
    invalidOn,
  });
  return fc.array(row, { minLength, maxLength: MOST_CHANGES });
}

const TIMES = ['2024-03-01T10:00:00Z', '2024-03-01T12:00:00+03:00', '2024-03-02T08:00:00Z', ''];

const comments: fc.Arbitrary<readonly CommentRow[]> = fc
  .array(
    fc.record({
      hasId: fc.boolean(),
      parent: fc.nat(LEADS.length + DEALS.length - 1),
      /** Comments without an id may be identical. */
      isRepeated: fc.boolean(),
      at: fc.constantFrom(...TIMES),
      since: fc.nat(DAYS - 1),
      invalidOn,
    }),
    { maxLength: MOST_COMMENTS },
  )
  .map((drawn) =>
    drawn.map(({ hasId, isRepeated, ...row }, number) => {
      const content = isRepeated && !hasId ? 'Called' : `Comment ${number}`;
      return { ...row, id: hasId ? `C${number}` : '', content };
    }),
  );

const LOST = ['status', 'status_after', 'drop_before', 'drop_after'] as const;

const fault = fc.oneof(
  fc
    .record({ kind: fc.constantFrom(...LOST), probability: fc.constantFrom(0.1, 0.3) })
    .map(({ kind, probability }) => ({
      kind,
      status: 503,
      when: { probability },
    })),
  // Every attempt of one event, which is rejected then.
  fc
    .record({
      kind: fc.constantFrom(...LOST),
      id: fc.constantFrom(...LEADS, ...DEALS, 'C0', 'C1'),
      from: fc.integer({ min: 1, max: 4 }),
    })
    .map(({ kind, id, from }) => ({
      kind,
      status: 503,
      when: { event: { external_id: id }, requests: { from, to: from + 4 } },
    })),
  fc.constantFrom(0.2, 0.5).map((probability) => ({
    kind: 'status' as const,
    status: 422,
    code: 'unresolved_reference',
    // The service refuses nothing that it has processed.
    when: { probability, processed: false },
  })),
);

function asRule({ kind, status, when, ...more }: { kind: (typeof LOST)[number]; status: number; when: object }) {
  return (kind.startsWith('status') ? { kind, status, when, ...more } : { kind, when }) as FaultPlan['rules'][number];
}

const day: fc.Arbitrary<Day> = fc.record({
  faults: fc.array(fault, { maxLength: 3 }).map((rules) => rules.map(asRule)),
  requests: fc.option(fc.integer({ min: 1, max: 25 }), { nil: undefined }),
  kill: fc.boolean(),
});

export const past: fc.Arbitrary<Past> = fc.record({
  leads: createdRows(LEADS, LEAD_COLUMNS, 1),
  leadChanges: updatedRows(LEADS, LEAD_COLUMNS, 1),
  deals: createdRows(DEALS, DEAL_COLUMNS, 0),
  dealChanges: updatedRows(DEALS, DEAL_COLUMNS, 0),
  comments,
  foreignLeads: fc.subarray(LEADS),
  foreignDeals: fc.subarray(DEALS),
  seed: fc.nat(1000),
  days: fc.array(day, { minLength: DAYS, maxLength: DAYS }),
});

/** Values tell row and version, so that no two rows have the same content. */
function valueOf(name: string, number: number, version: number): string {
  return `${name}${number}v${version}`;
}

/** An account with a stage for every value of the exports. */
export function account(): Account {
  const [sales, ...others] = defaultAccount().pipelines;
  const names = ['deal', 'deal-change'].flatMap((name) =>
    Array.from({ length: MOST_CHANGES * (DAYS + 1) }, (_, each) =>
      valueOf(name, Math.floor(each / (DAYS + 1)), each % (DAYS + 1)),
    ),
  );
  const id = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  const stages = names.map((name, index) => ({ id: id(index), name }));
  return { ...defaultAccount(), pipelines: [{ ...sales!, stages: [...sales!.stages, ...stages] }, ...others] };
}

function idsOf(...rows: readonly (readonly ExportRow[])[]): string[] {
  return [...new Set(rows.flat().map(({ id }) => id))].sort();
}

/** What a row contains in each column; in the column that is validated, something invalid while the row is invalid. */
type Cells = (value: string, number: number, version: number) => Readonly<Record<string, string>>;

function csv(
  rows: readonly ExportRow[],
  at: number,
  [name, columns, validated]: readonly [string, readonly string[], string],
  cells: Cells,
): string {
  const lines = rows.flatMap((row, number) => {
    const version = row.versions[Math.min(at, DAYS - 1)];
    if (version === undefined) return [];
    const cell = cells(valueOf(name, number, version), number, version);
    const isInvalid = row.invalidOn.includes(at);
    const inColumn = (column: string) => {
      if (isInvalid && column === validated) return 'none';
      return row.columns.includes(column) ? cell[column]! : '';
    };
    return [[row.id, ...columns.map(inColumn)].join(',')];
  });
  return [`id,${columns.join(',')}`, ...lines, ''].join('\n');
}

function commentsCsv({ comments: rows }: Past, at: number, leads: readonly string[], deals: readonly string[]): string {
  const lines = rows.flatMap((row) => {
    if (at < row.since) return [];
    const parent = [...leads, ...deals][row.parent % (leads.length + deals.length)]!;
    const cells = [row.at, leads.includes(parent) ? parent : '', deals.includes(parent) ? parent : ''];
    return [[row.id, row.invalidOn.includes(at) ? '' : row.content, ...cells].join(',')];
  });
  return ['id,content,at,lead,deal', ...lines, ''].join('\n');
}

/** The mapping, and the exports as they are on this day. */
export async function writeExports(cwd: string, given: Past, at: number): Promise<void> {
  const { leads, leadChanges, deals, dealChanges } = given;
  const leadIds = idsOf(leads, leadChanges);
  const leadCells: Cells = (value) => ({ name: value, email: `${value}@example.test`, city: value });
  const dealCells =
    (first: number): Cells =>
    (value, number, version) => ({
      title: value,
      amount: `${first}${number}${version}.50`,
      stage: value,
      lead: leadIds[(number + version) % leadIds.length]!,
      origin: value,
    });
  await files(cwd, {
    'mapping.yaml': MAPPING,
    'leads.csv': csv(leads, at, ['lead', LEAD_COLUMNS, 'email'], leadCells),
    'lead-changes.csv': csv(leadChanges, at, ['lead-change', LEAD_COLUMNS, 'email'], leadCells),
    'deals.csv': csv(deals, at, ['deal', DEAL_COLUMNS, 'amount'], dealCells(1)),
    'deal-changes.csv': csv(dealChanges, at, ['deal-change', DEAL_COLUMNS, 'amount'], dealCells(2)),
    'comments.csv': commentsCsv(given, at, leadIds, idsOf(deals, dealChanges)),
  });
}

/** The contents of the comments of each parent, in the order in which the service should receive them. */
export function commentOrder({ leads, leadChanges, deals, dealChanges, comments: rows }: Past): Map<string, string[]> {
  const parents = [...idsOf(leads, leadChanges), ...idsOf(deals, dealChanges)];
  const timeOf = ({ at }: CommentRow) => (at === '' ? Infinity : Date.parse(at));
  const order = new Map<string, string[]>();
  for (const row of rows.toSorted((one, other) =>
    timeOf(one) < timeOf(other) ? -1 : timeOf(one) > timeOf(other) ? 1 : 0,
  )) {
    const parent = parents[row.parent % parents.length]!;
    order.set(parent, [...(order.get(parent) ?? []), row.content]);
  }
  return order;
}
