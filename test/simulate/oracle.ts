/**
 * What must be true of the service and of the reports after a run that reached its end, by the exports alone. Written apart
 * from the program, and simple enough to be believed: every field is as the exports say, or its record is reported, or a policy
 * says that it may differ.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Summary } from '../../src/report/figures/summary.ts';
import type { Verification } from '../../src/report/figures/verification.ts';
import type { Corrections } from './corrections.ts';
import { columnOn, contentOf, sourceOf, textOf, type Table } from './exports.ts';
import {
  changesPoliciesOn,
  commentOn,
  CUSTOM_COLUMNS,
  DEAL_COLUMNS,
  LEAD_COLUMNS,
  policiesOn,
  VALIDATED,
  type Cells,
  type Comment,
  type History,
  type Policies,
  type Row,
} from './history.ts';
import type { Program } from './program.ts';
import { SOMEBODYS, STAGES, type Entity, type Service, type ServiceRecord, type Value } from './service.ts';

const STATE = '.backfill/simulated';

/** The names of columns in events. */
const FIELDS: Readonly<Record<string, string>> = {
  name: 'full_name',
  email: 'email',
  city: 'custom_params.city',
  title: 'title',
  amount: 'amount',
  stage: 'stage_id',
  lead: 'lead_external_id',
  origin: 'custom_fields.origin',
};

/** The fields that `if_changed` lists in a mapping that lists any. */
const LISTED = ['full_name', 'title'];

export interface Scene {
  readonly history: History;
  readonly day: number;
  readonly service: Service;
  readonly program: Program;
  readonly cwd: string;
  readonly summary: Summary;
  /** Records that a person has deleted: `lead L1`. */
  readonly deleted: ReadonlySet<string>;
  /** The last, undisturbed run: whatever it reports must have a cause in the exports. */
  readonly isCalm: boolean;
  /** The state directory was lost: the program knows only what the service tells it. */
  readonly isForgotten: boolean;
  /** Only its checkpoint was, and the plan beside it shows that: what the service shows is as the exports say, or is reported. */
  readonly isBehind: boolean;
  /** It said that its files could not be written. */
  readonly hasTrouble: boolean;
  readonly corrections: Corrections;
}

interface EventRow {
  readonly type: string;
  readonly external_id: string | null;
  readonly state: string;
  readonly source: string;
  readonly line: number;
  /** The lines of its parts, of a combined comment. */
  readonly parts?: readonly number[];
}

interface ProblemRow {
  readonly code: string;
  readonly severity: string;
  readonly type: string | null;
  readonly external_id: string | null;
  readonly source: string | null;
  readonly line: number | null;
}

/** What the program says of the records. */
interface Told {
  readonly events: readonly EventRow[];
  /** `lead L1`: an event about it was not accepted, or it is said to differ; and in which words. */
  readonly records: ReadonlyMap<string, string>;
  /** Leads that are said to be in the account already. */
  readonly contacts: ReadonlySet<string>;
  /** Lines of comments.csv. */
  readonly comments: ReadonlySet<number>;
  /** As `events`, with the parts of combined comments in place of these. */
  readonly rows: readonly EventRow[];
}

const FAILED = ['invalid', 'rejected', 'blocked'];
const DIFFERS = ['changed', 'emptied', 'comment_changed', 'not_comparable', 'uncertain', 'deleted_in_service'];

/** The counts of any run that ended by itself. */
export function judgeCounts({ events, records, exit }: Summary): string[] {
  const { total, acknowledged, duplicates, invalid, rejected, blocked, pending } = events;
  const violations: string[] = [];
  if (acknowledged + duplicates + invalid + rejected + blocked + pending !== total) {
    violations.push(`the counts of events do not add up: ${JSON.stringify(events)}`);
  }
  if (records.mapped + records.skipped + records.unreadable !== records.read) {
    violations.push(`the counts of records do not add up: ${JSON.stringify(records)}`);
  }
  if (exit.code === 0 && invalid + rejected + blocked > 0) violations.push('exit 0, although events were not accepted');
  return violations;
}

/** The whole truth after a run that sent everything that it was to send. */
export function judgeTruth(scene: Scene): string[] {
  const told = readTold(scene);
  const { exit, events } = scene.summary;
  return [
    ...(exit.code === 0 && events.pending > 0 ? [`exit 0, although ${events.pending} events are pending`] : []),
    ...(scene.hasTrouble ? [] : judgeReports(scene, told)),
    ...judgeTotals(scene, told),
    ...judgeContacts(scene, told),
    ...judgeRecords(scene, told, 'lead'),
    ...judgeRecords(scene, told, 'deal'),
    ...judgeComments(scene, told),
  ];
}

/** `status` and `explain` say the same as the plan and the service, at any time. */
export function judgeTold(
  { status: { events, basis }, stories }: NonNullable<ReturnType<Program['told']>>,
  { service, summary, isForgotten }: Pick<Scene, 'service' | 'isForgotten'> & { readonly summary: Summary | undefined },
): string[] {
  const { total, acknowledged, duplicates, invalid, rejected, blocked, pending } = events;
  const violations: string[] = [];
  if (acknowledged + duplicates + invalid + rejected + blocked + pending !== total)
    violations.push(`status: the counts do not add up: ${JSON.stringify(events)}`);
  // An interrupted survey leaves the plan before it in place.
  const isOfPlan = basis === 'ended' && summary && summary.exit.code <= 3;
  for (const name of isOfPlan ? (Object.keys(events) as (keyof typeof events)[]) : []) {
    if (events[name] !== summary!.events[name])
      violations.push(`status says ${events[name]} ${name}, the summary ${summary!.events[name]}`);
  }
  for (const { record, state, service_id: id } of stories) {
    if (id !== null && !service.hasEverHad(id)) violations.push(`explain: ${record} has an unknown id ${id}`);
    const [entity, externalId] = record.split(':') as [Entity, string];
    // A record that was there before the state was lost is skipped like somebody else's.
    const isMade = !isForgotten && service.find(entity, externalId)?.madeBy === 'us';
    if (state === 'acknowledged' && id === null && isMade)
      violations.push(`explain: ${record} is acknowledged, and has no id of the service`);
  }
  return violations;
}

/** `verify` finds no difference that has no cause in the exports, the policies or the edits. */
export function judgeVerification(scene: Scene, { first_differences: differences }: Verification): string[] {
  return differences.flatMap(({ entity: kind, external_id: id, field, verdict, expected, actual }) => {
    const entity = kind as 'lead' | 'deal';
    const isFault = verdict === 'different' || verdict === 'changed' || verdict === 'missing';
    const isOurs = scene.service.find(entity, id)?.madeBy !== 'somebody';
    if (!isFault || !isOurs || mayBeTold(scene, entity, id)) return [];
    return [`verify says ${verdict} of ${entity} ${id}: ${field} is ${actual} instead of ${expected}`];
  });
}

function readTold({ program, cwd }: Scene): Told {
  const plan = join(cwd, STATE, 'plan.db');
  const [events, problems, parts] = program.read(plan, 'plan', (db) => [
    db.all<EventRow>('select type, external_id, state, source, line from events'),
    db.all<ProblemRow>('select code, severity, type, external_id, source, line from problems'),
    db.all<{ carrier: string; id: string; line: number; code: string | null }>(
      `select e.external_id as carrier, p.external_id as id, r.line, e.code
       from part p join event e on e.id = p.event join record r on r.id = p.record`,
    ),
  ]) ?? [[], [], []];
  const partsOf = (event: EventRow): typeof parts =>
    parts.filter(({ carrier }) => event.type === 'comment/created' && carrier === event.external_id);
  const rows = events.flatMap((event) => {
    const own = partsOf(event);
    return own.length === 0 ? [event] : own.map(({ id, line }) => ({ ...event, external_id: id, line }));
  });
  const said = [
    ...rows.filter(({ state }) => FAILED.includes(state)),
    ...problems.filter(({ code, type, severity }) => type !== null && (severity === 'error' || DIFFERS.includes(code))),
  ];
  return {
    events: events.map((event) => ({ ...event, parts: partsOf(event).map(({ line }) => line) })),
    rows,
    records: new Map(
      said.map((row) => [`${row.type!.split('/')[0]} ${row.external_id}`, 'code' in row ? row.code : row.state]),
    ),
    contacts: new Set(
      problems.flatMap(({ code, external_id: id }) => (code.startsWith('contact_') && id !== null ? [id] : [])),
    ),
    comments: new Set(said.flatMap(({ source, line }) => (source === 'comments' ? [line!] : []))),
  };
}

/** `errors.csv` and the totals say the same as the plan. */
function judgeReports({ cwd, summary }: Scene, { events }: Told): string[] {
  const violations: string[] = [];
  const counted = (state: string): number => events.filter((event) => event.state === state).length;
  for (const state of FAILED) {
    const said = summary.events[state as 'invalid' | 'rejected' | 'blocked'];
    if (said !== counted(state))
      violations.push(`${said} ${state} events in the summary, ${counted(state)} in the plan`);
  }
  const lines = parse<Record<string, string>>(readFileSync(join(cwd, STATE, 'errors.csv')), {
    columns: true,
    bom: true,
  });
  const keyOf = (source: string, line: unknown, type: string): string => `${source}:${String(line)} ${type}`;
  const listed = new Set(lines.map(({ source, line, event_type: type }) => keyOf(source!, line, type!)));
  for (const { source, line, type, state, parts = [] } of events) {
    if (FAILED.includes(state) && ![line, ...parts].some((each) => listed.has(keyOf(source, each, type)))) {
      violations.push(`errors.csv lacks the ${state} event ${keyOf(source, line, type)}`);
    }
  }
  for (const { source, line, event_type: type, kind } of lines) {
    // A record that was acknowledged and can no longer be mapped is listed, too.
    if (kind !== 'send') continue;
    const about = events.filter((event) => keyOf(event.source, event.line, event.type) === keyOf(source!, line, type!));
    if (about.length > 0 && about.every(({ state }) => state === 'acknowledged')) {
      violations.push(`errors.csv lists an acknowledged event: ${keyOf(source!, line, type!)}`);
    }
  }
  return violations;
}

/** The control totals are the amounts of the deals in the export, by what became of them. */
function judgeTotals(scene: Scene, { events }: Told): string[] {
  const { history, day, summary } = scene;
  const ids = history.deals.filter(({ days }) => days[day]).map(({ id }) => id);
  // Which of several rows counts is a matter of `duplicates`.
  if (new Set(ids).size < ids.length) return [];
  // What the service has instead of the input is not in the input.
  if (summary.totals.some(({ differing }) => differing > 0)) return [];
  const cellsOfState: Readonly<Record<string, readonly string[]>> = { pending: ['to_send_', 'later_'] };
  return ['', 'acknowledged', 'invalid', 'rejected', 'blocked', 'pending'].flatMap((part) => {
    const counted = events.filter(({ type, state }) => type === 'deal/created' && (part === '' || state === part));
    const cells = part === '' ? [''] : (cellsOfState[part] ?? [`${part}_`]);
    const amounts = counted.map(({ external_id: id }) => {
      const rows = [...cellsOf(scene, 'deals', id!), ...cellsOf(scene, 'dealChanges', id!)];
      const last = rows.findLast((cells) => valueIn(cells, 'amount') !== undefined);
      return (last && Number(valueIn(last, 'amount'))) || 0;
    });
    const expected = amounts.reduce((sum, amount) => sum + amount, 0);
    const sumOf = (what: 'count' | 'amount'): number =>
      summary.totals
        .flatMap((total) => cells.map((cell) => Number(total[`${cell}${what}`])))
        .reduce((a, b) => a + b, 0);
    const [said, count] = [sumOf('amount'), sumOf('count')];
    if (said === expected && count === counted.length) return [];
    return [`the control totals say ${part}${count} deals with ${said}, instead of ${counted.length} with ${expected}`];
  });
}

function judgeContacts(scene: Scene, { contacts }: Told): string[] {
  const ours = [...contacts].filter((id) => !mayLookLikeOthers(scene, id));
  return ours.map((id) => `lead ${id} is said to be in the account already, where all leads are of this migration`);
}

function judgeRecords(scene: Scene, told: Told, entity: 'lead' | 'deal'): string[] {
  const { history, service, day, deleted, isCalm } = scene;
  const [created, changes, columns] =
    entity === 'lead'
      ? [history.leads, history.leadChanges, LEAD_COLUMNS]
      : [history.deals, history.dealChanges, DEAL_COLUMNS];
  const createdPolicies = policiesOn(history, day, entity);
  const changesPolicies = changesPoliciesOn(history, day, entity);
  const violations: string[] = [];
  const ids = new Set([...created, ...changes].filter(({ days }) => days[day]).map(({ id }) => id));
  for (const id of ids) {
    const key = `${entity} ${id}`;
    if (told.records.has(key)) {
      if (isCalm && !mayBeTold(scene, entity, id))
        violations.push(`${key} is reported (${told.records.get(key)}) without a cause`);
      continue;
    }
    if (deleted.has(key) || mayWait(scene, told, (event) => event.type.startsWith(entity) && event.external_id === id))
      continue;
    const rows = {
      created: rowsOf(scene, `${entity}s`, id),
      changes: rowsOf(scene, `${entity}Changes`, id),
    };
    const record = service.find(entity, id);
    if (!record) {
      if (rows.created.length > 0 || createdPolicies.if_missing !== 'skip') violations.push(`${key} is lost`);
      continue;
    }
    if ((record.madeBy === 'somebody' || scene.isBehind) && createdPolicies.if_exists === 'skip') continue;
    const conflicts = isCalm && !scene.isForgotten ? conflictsIn(scene) : undefined;
    // What the lost state has sent looks like somebody's edit.
    const kept = scene.isBehind ? conflictsIn(scene) : undefined;
    const possible = [...created, ...changes].filter((row) => row.id === id);
    const fields = wanted(scene, rows, createdPolicies, columns);
    // What the input no longer has belongs to the first entry that has the record.
    const own = rows.created.length > 0 ? createdPolicies : changesPolicies;
    for (const field of leftBehind(scene, own, record, fields)) violations.push(`${key}: ${field}`);
    for (const [column, { value: expected, isOfChanges }] of fields) {
      const policies = isOfChanges ? changesPolicies : createdPolicies;
      const found = judgeField(scene, policies, record, { column, expected, possible });
      if (found !== undefined && !kept?.has(`${key} ${FIELDS[column]}`)) violations.push(`${key}: ${found}`);
      if (conflicts && isConflict(record, policies, column, expected) && !conflicts.has(`${key} ${FIELDS[column]}`))
        violations.push(`${key}: changes.csv lacks the conflict of ${column}`);
    }
  }
  return violations;
}

interface WantedField {
  readonly column: string;
  readonly expected: Value;
  /** All rows about the record, of any day. */
  readonly possible: readonly Row[];
}

/** Fields that we have set, and that the exports no longer have: ingestion cannot clear them, so they are to be reported. */
function leftBehind(
  { isForgotten }: Scene,
  policies: Policies,
  record: ServiceRecord,
  wanted: ReadonlyMap<string, unknown>,
): string[] {
  if (isForgotten) return [];
  const names = new Set([...wanted.keys()].map((column) => FIELDS[column]!));
  return [...record.fields].flatMap(([field, value]) => {
    const isOurs = value !== SOMEBODYS && !record.edited.has(field);
    if (names.has(field) || !isOurs || !isCompared(policies, field)) return [];
    if (field === 'lead_external_id' && policies.if_parent_missing === 'omit') return [];
    return [`${field} still is ${JSON.stringify(value)}, and the exports no longer have it`];
  });
}

function isCompared({ if_changed: policy }: Policies, field: string): boolean {
  return policy !== 'ignore' && (policy !== 'listed' || LISTED.includes(field));
}

/** Undefined if the field is as it may be. */
function judgeField(
  scene: Scene,
  policies: Policies,
  record: ServiceRecord,
  { column, expected, possible }: WantedField,
): string | undefined {
  const field = FIELDS[column]!;
  const actual = record.fields.get(field);
  const said = `${field} is ${JSON.stringify(actual)}, and the exports say ${JSON.stringify(expected)}`;
  if (actual === expected) return undefined;
  const edited = record.edited.get(field);
  if (edited !== undefined) return undefined;
  const mustBe = (!scene.isForgotten || (scene.isBehind && isShown(field))) && isCompared(policies, field);
  // Nothing is known of a field that only somebody else has set: that is a conflict, and kept.
  const isSomebodys = record.madeBy === 'somebody' && actual === SOMEBODYS;
  if (isSomebodys && (policies.if_edited === 'keep' || !mustBe)) return undefined;
  if (column === 'lead' && policies.if_parent_missing === 'omit' && !isInInput(scene, String(expected)))
    return undefined;
  if (mustBe) return said;
  // It may be out of date, but nobody may have invented it.
  const values = possible.flatMap(({ days }) =>
    days.flatMap((cells, day) => (cells ? [valueIn(cells, columnOn(scene.history, day, column))] : [])),
  );
  if (VALIDATED[column]) values.push(valueIn({ [column]: 'a' }, column));
  return actual === undefined || values.includes(actual) ? undefined : said;
}

/** Somebody set the field, the exports have changed it since, and neither yields to the other. */
function isConflict(record: ServiceRecord, policies: Policies, column: string, expected: Value): boolean {
  const field = FIELDS[column]!;
  const { madeBy, edited, unedited } = record;
  const mayConflict = policies.if_changed === 'update' && policies.if_edited === 'keep' && madeBy === 'us';
  return mayConflict && ![undefined, '', expected].includes(edited.get(field)) && unedited.get(field) !== expected;
}

/** The fields that `changes.csv` lists as in conflict: `lead L1 full_name`. */
function conflictsIn({ cwd }: Scene): ReadonlySet<string> {
  const path = join(cwd, STATE, 'changes.csv');
  const lines = existsSync(path) ? parse<Record<string, string>>(readFileSync(path), { columns: true, bom: true }) : [];
  const conflicts = lines.filter(({ verdict }) => verdict === 'conflict, kept');
  return new Set(conflicts.map(({ record, external_id: id, field }) => `${record} ${id} ${field}`));
}

function isInInput({ history, day }: Scene, lead: string): boolean {
  return [...history.leads, ...history.leadChanges].some(({ id, days }) => id === lead && days[day]);
}

/** The cells of the valid rows about a record, in the order of the export. */
function rowsOf(scene: Scene, table: Table, id: string): Cells[] {
  return cellsOf(scene, table, id).filter((cells) => !isInvalid(cells));
}

/** The cells of the rows about a record on this day, as they were corrected. */
function cellsOf({ history, day, corrections }: Scene, table: Table, id: string): Cells[] {
  return history[table].flatMap((row, nth) => {
    const cells = row.days[day];
    return row.id === id && cells ? [corrections.apply(sourceOf(history, day, table, nth), id, cells)] : [];
  });
}

function isInvalid(cells: Cells): boolean {
  return Object.values(cells).includes('!');
}

/** The created row, and the updates one over the other. */
function wanted(
  { history, day }: Scene,
  { created, changes }: { readonly created: readonly Cells[]; readonly changes: readonly Cells[] },
  { duplicates }: Policies,
  columns: readonly string[],
): Map<string, { readonly value: Value; readonly isOfChanges: boolean }> {
  const first = duplicates === 'first' ? created.slice(0, 1) : created.slice(-1);
  const fields = new Map<string, { readonly value: Value; readonly isOfChanges: boolean }>();
  for (const [at, cells] of [...first, ...changes].entries()) {
    const isOfChanges = at >= first.length;
    for (const column of columns) {
      const value = valueIn(cells, columnOn(history, day, column));
      const isCarried = !isOfChanges || isInChanges(history, column);
      if (value !== undefined && isCarried) fields.set(column, { value, isOfChanges });
    }
  }
  return fields;
}

/** Whether the updated entries carry the column. */
function isInChanges({ changed }: History, column: string): boolean {
  return changed === undefined || !CUSTOM_COLUMNS.includes(column);
}

function valueIn(cells: Cells, column: string): Value | undefined {
  const text = textOf(column, cells[column] ?? '');
  if (text === '') return undefined;
  if (column === 'amount') return Number(text);
  return column === 'stage' ? STAGES.get(text) : text;
}

/** Not sent yet, because it is not known what became of something else that is reported. The next run knows more. */
function mayWait({ isCalm }: Scene, { rows, records }: Told, isAbout: (event: EventRow) => boolean): boolean {
  return !isCalm && records.size > 0 && rows.some((event) => event.state === 'pending' && isAbout(event));
}

/** Whether the exports, the policies or people give a reason to report a record. */
function mayBeTold(scene: Scene, entity: 'lead' | 'deal', id: string): boolean {
  const { history, deleted, service } = scene;
  const policies = policiesOn(history, scene.day, entity);
  const createdNow = cellsOf(scene, `${entity}s`, id);
  const all = [...createdNow, ...cellsOf(scene, `${entity}Changes`, id)];
  const distinct = new Set(createdNow.map((cells) => JSON.stringify(cells)));
  const record = service.find(entity, id);
  if (all.some(isInvalid) || scene.isForgotten) return true;
  const ifChanged = [policies, changesPoliciesOn(history, scene.day, entity)].map((each) => each.if_changed);
  if (ifChanged.some((each) => each !== 'update') || mayBeEmptied(scene, entity, id)) return true;
  if (policies.if_contact_exists === 'reject' && mayLookLikeOthers(scene, id)) return true;
  if (policies.duplicates === 'reject' && distinct.size > 1) return true;
  if (policies.if_missing === 'reject' && createdNow.length === 0) return true;
  // A created event without an answer that is no longer in the exports leaves it unknown whether there is a record.
  const wasCreated = history[`${entity}s`].some((row) => row.id === id);
  if (policies.if_missing === 'skip' && createdNow.length === 0 && wasCreated) return true;
  if (history.somebodys.includes(id) && policies.if_exists !== 'update') return true;
  if (deleted.has(`${entity} ${id}`) || (record?.edited.size ?? 0) > 0) return true;
  return (
    entity === 'deal' && all.some((cells) => cells.lead !== '' && parentMayFail(scene, textOf('lead', cells.lead!)))
  );
}

/** Whether an earlier export had a value of a field that is not wanted now. */
function mayBeEmptied(scene: Scene, entity: 'lead' | 'deal', id: string): boolean {
  const { history, day } = scene;
  const columns = entity === 'lead' ? LEAD_COLUMNS : DEAL_COLUMNS;
  const rows = [...history[`${entity}s`], ...history[`${entity}Changes`]].filter((row) => row.id === id);
  const now = { created: rowsOf(scene, `${entity}s`, id), changes: rowsOf(scene, `${entity}Changes`, id) };
  const fields = wanted(scene, now, policiesOn(history, day, entity), columns);
  const had = (on: number, column: string): boolean =>
    rows.some(({ days }) => days[on] && valueIn(days[on], columnOn(history, on, column)) !== undefined);
  const before = Array.from({ length: day }, (_, on) => on);
  return columns.some((column) => !fields.has(column) && before.some((on) => had(on, column)));
}

/**
 * Leads of this migration are nobody else's, unless the program was made to forget that it has sent them. The contacts may hold
 * one that a person has deleted since: it looks like the lead that is created in its place.
 */
function mayLookLikeOthers({ history, service, deleted, isForgotten }: Scene, id: string): boolean {
  const isRepeated = history.days.some(({ runs }) =>
    runs.some(({ weather }) => weather.faults.some(({ kind }) => kind === 'twice')),
  );
  return (
    isForgotten ||
    isRepeated ||
    [...deleted].some((key) => key.startsWith('lead ')) ||
    service.records.some(({ madeBy, externalId }) => madeBy === 'somebody' && externalId !== id)
  );
}

function parentMayFail(scene: Scene, lead: string): boolean {
  const { history, day, deleted } = scene;
  const rows = history.leads.filter(({ id, days }) => id === lead && days[day]);
  return rows.length === 0 || deleted.has(`lead ${lead}`) || mayBeTold(scene, 'lead', lead);
}

function judgeComments(scene: Scene, told: Told): string[] {
  const { history, service, day, isCalm } = scene;
  const violations: string[] = [];
  const present = history.comments.filter(({ days }) => days[day]).map((comment) => commentOn(comment, day));
  const stored = service.records.filter(({ entity }) => entity === 'comment').flatMap(partsOf);
  if (!scene.isForgotten) violations.push(...service.records.flatMap(judgeOrder));
  for (const [index, comment] of present.entries()) {
    const isTold = told.comments.has(index + 2);
    const parent = comment.lead === '' ? `deal ${comment.deal}` : `lead ${comment.lead}`;
    const name = `comment ${comment.id || index + 2} on ${parent}`;
    const [found, ...again] = stored.filter(({ externalId }) => comment.id !== '' && externalId === comment.id);
    if (again.length > 0 && !scene.isForgotten) violations.push(`${name} is ${again.length + 1} times in the service`);
    if (isTold) {
      const together = history.combines?.includes(true)
        ? present.filter(({ lead, deal }) => lead === comment.lead && deal === comment.deal)
        : [comment];
      if (isCalm && !together.some((each) => mayCommentBeTold(scene, each, parent)))
        violations.push(`${name} is reported without a cause`);
      continue;
    }
    if (comment.id === '' || comment.days[day] === '!') continue;
    if (mayWait(scene, told, ({ source, line }) => source === 'comments' && line === index + 2)) continue;
    const repeated = present.flatMap(({ id }, at) => (id === comment.id ? [at + 2] : []));
    if (repeated.some((line) => told.comments.has(line))) continue;
    const isUnnamed = stored.some(
      (part) => part.externalId === '' && isAs(part, comment, comment.days[day] as 'a' | 'b'),
    );
    if (!found && isUnnamed && history.combines?.includes(false)) continue;
    if (!found) violations.push(`${name} is lost`);
    else if (!scene.isForgotten && repeated.length === 1 && !isAs(found, comment, comment.days[day] as 'a' | 'b')) {
      violations.push(`${name} differs from the export, and nobody says so`);
    }
  }
  const nameless = history.comments.filter(({ id }) => id === '');
  for (const [index, comment] of present.entries()) {
    if (comment.id !== '' || comment.days[day] === '!') continue;
    const same = (on: number): number =>
      nameless.filter((other) => other.days[on] === comment.days[day] && keyOf(commentOn(other, on)) === keyOf(comment))
        .length;
    const [expected, most] = [same(day), Math.max(...comment.days.map((_, on) => (on <= day ? same(on) : 0)))];
    const found = stored.filter((record) => isOf(record, comment, comment.days[day] as 'a' | 'b')).length;
    const lines = present.flatMap((other, at) =>
      other.id === '' && other.days[day] === comment.days[day] && keyOf(other) === keyOf(comment) ? [at + 2] : [],
    );
    const isTold = lines.some((line) => told.comments.has(line));
    // Whether a lost state has sent it alone or with others is not known any more.
    const mayBeCombinedAgain = scene.isForgotten && history.combines?.includes(true) === true;
    if (found > most && !mayBeCombinedAgain)
      violations.push(`comment of line ${index + 2}: ${found} times in the service, at most ${most} in an export`);
    if (found < expected && !isTold)
      violations.push(`comment of line ${index + 2} is lost: ${found} instead of ${expected}`);
  }
  return violations;
}

function keyOf({ lead, deal, at }: Comment): string {
  return `${lead} ${deal} ${at}`;
}

/** A comment without an id, which the program gives one. */
function isOf(record: ServiceRecord, comment: Comment, content: 'a' | 'b'): boolean {
  const occurred = record.fields.get('occurred_at');
  const { at } = comment;
  return (
    /^(?:[0-9a-f]{32})?$/.test(record.externalId ?? '') &&
    isAs(record, comment, content) &&
    (occurred === undefined ? at === '' : at !== '' && Date.parse(String(occurred)) === Date.parse(at))
  );
}

function isAs({ fields }: ServiceRecord, { lead, deal }: Comment, content: 'a' | 'b'): boolean {
  return (
    fields.get('content') === contentOf(content) &&
    (fields.get('lead_external_id') ?? '') === lead &&
    (fields.get('deal_external_id') ?? '') === deal
  );
}

/** `C1 2024-03-01 10:00 UTC` above the text. */
const HEADED = /^(C\d)? ?(\d{4}-\d\d-\d\d \d\d:\d\d)?(?: UTC)?\n(?=.)/;

/** The comments of the input that one of the service carries. An id that the old CRM does not have is empty. */
function partsOf(record: ServiceRecord): ServiceRecord[] {
  if (!record.externalId?.endsWith('+')) return [record];
  const texts = String(record.fields.get('content')).split(/\n--\n|\n\n/);
  return texts.map((text) => {
    const [heading = '', id = '', time] = HEADED.exec(text) ?? [];
    const fields = new Map([...record.fields, ['content', text.slice(heading.length)] as const]);
    if (time === undefined) fields.delete('occurred_at');
    else fields.set('occurred_at', `${time.replace(' ', 'T')}:00Z`);
    return { ...record, externalId: id, fields };
  });
}

/** The parts of a combined comment are in the order of their time, those without one last. */
function judgeOrder(record: ServiceRecord): string[] {
  const times = partsOf(record).map(({ fields }) => String(fields.get('occurred_at') ?? '9'));
  return times.join() === [...times].sort().join()
    ? []
    : [`${record.externalId} has its parts in another order: ${times.join()}`];
}

function mayCommentBeTold(scene: Scene, comment: Comment, parent: string): boolean {
  const { history, day } = scene;
  const [entity, id] = parent.split(' ') as ['lead' | 'deal', string];
  const same = history.comments.filter((other) => other.id === comment.id && other.id !== '' && other.days[day]);
  const rows = (entity === 'lead' ? history.leads : history.deals).filter((row) => row.id === id && row.days[day]);
  // All that had this id, on any day: it cannot be corrected.
  const versions = new Set(
    history.comments
      .filter((other) => other.id === comment.id && other.id !== '')
      .flatMap((other) =>
        other.days.slice(0, day + 1).map((content, on) => content && `${keyOf(commentOn(other, on))} ${content}`),
      ),
  );
  // A combined comment without an answer may have brought it, or not, if it was not in the next export.
  const hasReturned =
    history.combines?.includes(true) &&
    comment.days.slice(0, day).some((content) => content === null || content === '!');
  return (
    comment.days[day] === '!' ||
    hasReturned === true ||
    same.length > 1 ||
    versions.size > 1 ||
    rows.length === 0 ||
    scene.deleted.has(parent) ||
    mayBeTold(scene, entity, id)
  );
}

/** Whether the service shows the field (section 2.2): not custom fields, and the lead of a deal only by its own id. */
function isShown(field: string): boolean {
  return !field.startsWith('custom_') && field !== 'lead_external_id';
}
