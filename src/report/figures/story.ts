/** The story of one record, as a few selects over the plan and the checkpoint: nothing is written, and no lock is taken. */
import { parseJson, type JsonObject } from '../../json.ts';
import { namedCells } from '../../mapping/values/path.ts';
import { isUpdate, nameInSql } from '../../kinds/index.ts';
import type { EventType, Place } from '../../model.ts';
import { hintFor, meaningOf } from '../words/words.ts';
import { UNUSED, unusedText, type UnusedCode } from '../words/unused.ts';
import type { NamedRecord } from '../../settings/run-settings.ts';
import type { FoundPlan } from '../../store/stored-plans.ts';
import { PLAN_FILE, placedFile } from '../../store/plan-schema.ts';
import type { Database } from '../../store/sqlite.ts';
import { outcomeOf, type State } from '../../model.ts';

const MOST_RELATIVES = 5;

/** As in the view `events`. */
export type EventFate = 'acknowledged' | 'duplicate' | 'invalid' | 'rejected' | 'blocked' | 'pending';

/** Rows that became no record with an id, by the place by which they were asked for. */
export interface RowsAt {
  readonly place: string;
  readonly rows: readonly number[];
}

/** As `--json` prints it. */
export interface RecordStory {
  /** `lead:51000301`, or the place of a row without an id */
  readonly record: string;
  /** Of its first event; `gone` if an earlier run sent it and the plan does not have it. */
  readonly state: EventFate | UnusedRow['state'] | 'gone';
  readonly service_id: string | null;
  /** `at`: when it was last written, ISO 8601. */
  readonly plan: { readonly file: string; readonly at: string; readonly dry_run: boolean };
  /** In the order of the plan. */
  readonly events: readonly EventStory[];
  /** Records with its external id that were not used (`duplicates`). */
  readonly dropped: readonly LeftOut[];
  /** Rows of the record that became no event. */
  readonly unused: readonly UnusedRow[];
  readonly parent: Relative | null;
  readonly children: {
    readonly count: number;
    readonly by_state: Readonly<Partial<Record<EventFate, number>>>;
    readonly first: readonly Relative[];
  };
  readonly answers: readonly ServiceAnswer[];
}

export interface RowStory extends Place {
  /** By column or key; null where nothing could be read. */
  readonly raw: JsonObject | null;
  /** Of a corrected row: the place of the one in the export that it replaces. */
  readonly original: string | null;
}

export interface UnusedRow extends RowStory {
  readonly state: 'skipped' | 'unreadable';
  readonly reason: string;
  readonly errors: readonly EventError[];
}

export interface EventStory {
  readonly type: EventType;
  readonly state: EventFate;
  /** Pending, and left for a later run: it is not selected, or its parent is not. */
  readonly later: 'not_selected' | 'parent_not_selected' | null;
  /** Acknowledged, and not as the input wants it now: `changed`, `emptied`, `comment_changed`, `not_comparable`. */
  readonly difference: string | null;
  /** The event that is sent next; null if there is none. */
  readonly sends: EventType | null;
  /** In the order in which they were folded or, of a combined comment, in that of its parts. */
  readonly rows: readonly RowStory[];
  /** The external ids of the comments that a combined one carries; empty for all others. */
  readonly parts: readonly string[];
  /** As planned; null if it is invalid. */
  readonly data: JsonObject | null;
  readonly occurred_at: string | null;
  readonly errors: readonly EventError[];
  readonly omitted: readonly LeftOut[];
}

interface EventError {
  readonly kind: string;
  readonly code: string;
  readonly field: string | null;
  readonly message: string;
  readonly hint: string | null;
}

/** A value that is left out; without a field, a row. */
export interface LeftOut {
  readonly file: string;
  readonly line: number;
  readonly field: string | null;
  readonly original: string;
  readonly reason: string;
}

/** The parent or a child. `state`: null for a parent of which nothing is known. */
export interface Relative {
  readonly record: string;
  readonly name: string;
  readonly state: EventFate | null;
  readonly file: string | null;
  readonly line: number | null;
}

export interface ServiceAnswer {
  /** When it was answered; null for a request whose answer is not recorded. */
  readonly at: string | null;
  readonly sent_at: string;
  readonly type: EventType;
  readonly event_id: string;
  readonly status: 'acknowledged' | 'rejected' | 'unanswered';
  readonly outcome: string | null;
  readonly code: string | null;
  readonly service_id: string | null;
  /** Of the newest one, if it is the update of this plan: the fields that it changed. */
  readonly changed?: readonly string[];
}

/** What both databases know about a record (see `findRecord`). */
export function storyOf(db: Database, { output, isDryRun, at }: FoundPlan, record: NamedRecord | RowsAt): RecordStory {
  const isNamed = !('place' in record);
  const requests = isNamed ? requestsAbout(db, record) : [];
  const rows = isNamed ? eventsAbout(db, record) : eventsIn(db, record);
  const skipped = unusedRows(db, record);
  // Of records with one id, those that are not used.
  const unused = rows.filter(({ state }) => state === 'duplicate');
  const used = unused.length < rows.length ? rows.filter((row) => !unused.includes(row)) : rows;
  const events = used.map((row) => eventStory(db, row, requests));
  const child = rows.find(({ parent_id: id }) => id !== null);
  return {
    record: isNamed ? `${record.entity}:${record.externalId}` : record.place,
    state: events[0]?.state ?? (requests.length === 0 && skipped[0] ? skipped[0].state : 'gone'),
    service_id: requests.findLast(({ status, service_id: id }) => status === 'acknowledged' && id)?.service_id ?? null,
    plan: { file: output.file(PLAN_FILE), at: at.toISOString(), dry_run: isDryRun },
    events,
    dropped: used === rows ? [] : unused.map((row) => droppedRow(db, row)),
    unused: skipped,
    parent: child ? parentOf(db, child.parent_entity!, child.parent_id!) : null,
    children: isNamed ? childrenOf(db, record) : { count: 0, by_state: {}, first: [] },
    answers: requests.map((each) =>
      isNamed && each === requests.at(-1) ? { ...each, ...updateOf(db, record, each) } : each,
    ),
  };
}

/** A plan lists what it sends of a record that is there; the checkpoint does not keep it. */
function updateOf(db: Database, { entity, externalId }: NamedRecord, { type, status }: ServiceAnswer) {
  if (!isUpdate(type) || status !== 'acknowledged') return {};
  const fields = db.all<{ field: string }>(
    `select c.field from change c join event e on e.entity = c.entity and e.external_id = c.external_id
      where c.entity = ? and c.external_id = ? and e.state = 'acknowledged'
        and c.verdict in ('changed', 'not_shown', 'conflict, overwritten') order by c.id`,
    entity,
    externalId,
  );
  return fields.length === 0 ? {} : { changed: [...new Set(fields.map(({ field }) => field))] };
}

interface StoryRow extends Place {
  readonly id: number;
  readonly type: EventType;
  readonly state: string;
  readonly code: string | null;
  readonly sends: EventType | null;
  readonly rows: number;
  readonly occurred_at: string | null;
  readonly data: string | null;
  readonly parent_entity: string | null;
  readonly parent_id: string | null;
  readonly raw: string | null;
  readonly columns: string;
  readonly original: string | null;
}

const ROW = 'r.source, r.file, r.line, r.record, r.raw, r.columns, r.replaced as original';

const EVENTS = `
  select e.id, e.type, e.state, e.code, e.sends, e.rows, e.occurred_at, e.data, e.parent_entity, e.parent_id,
    ${ROW}
  from event e join row r on r.id = e.record`;

function eventsAbout(db: Database, { entity, externalId }: NamedRecord): StoryRow[] {
  return db.all<StoryRow>(`${EVENTS} where e.entity = ? and e.external_id = ? order by e.id`, entity, externalId);
}

function eventsIn(db: Database, { rows }: RowsAt): StoryRow[] {
  const ids = JSON.stringify(rows);
  return db.all<StoryRow>(`${EVENTS} where e.record in (select value from json_each(?)) order by e.id`, ids);
}

interface WhyUnused {
  readonly code: UnusedCode;
  readonly why: string | null;
}

/** The rows that became no event: of a record, or of those at a place. */
function unusedRows(db: Database, record: NamedRecord | RowsAt): UnusedRow[] {
  const [where, ...values] =
    'place' in record
      ? ['u.record in (select value from json_each(?))', JSON.stringify(record.rows)]
      : ['u.entity = ? and u.external_id = ?', record.entity, record.externalId];
  const rows = db.all<StoryRow & WhyUnused>(
    `select u.code, u.why, r.id, ${ROW}
      from unused u join row r on r.id = u.record
      where ${where} and not exists (
        select 1 from event e where e.record = u.record and e.entity = u.entity and e.external_id = u.external_id)
      group by r.id order by r.id`,
    ...values,
  );
  return rows.map((row) => {
    const { id, code, why } = row;
    const place = rowStory(row);
    if (!UNUSED[code].isCorrectable) return { ...place, state: 'skipped', reason: unusedText(code, why), errors: [] };
    const errors = db.all<EventError>(`${ERRORS} where record = ? and kind = 'read' order by id`, id);
    return { ...place, state: 'unreadable', reason: errors[0]?.message ?? '', errors };
  });
}

function requestsAbout(db: Database, { entity, externalId }: NamedRecord): ServiceAnswer[] {
  return db.all<ServiceAnswer>(
    `select settled_at as at, sent_at, type, id as event_id, iif(status = 'open', 'unanswered', status) as status, outcome, code,
        service_id
      from checkpoint.request where entity = ? and external_id = ? order by n`,
    entity,
    externalId,
  );
}

/** The words for a state of the plan, as in the view `events`. */
function fateOf(state: string): EventFate {
  const outcome = outcomeOf(state as State);
  return outcome === 'duplicates' ? 'duplicate' : outcome;
}

function eventStory(db: Database, row: StoryRow, requests: readonly ServiceAnswer[]): EventStory {
  const { id, type } = row;
  const state = fateOf(row.state);
  return {
    ...{ type, state },
    later: row.state === 'held' ? 'not_selected' : row.state === 'waiting' ? 'parent_not_selected' : null,
    difference: state === 'acknowledged' ? row.code : null,
    sends: row.state === 'ready' || row.state === 'retry' ? (row.sends ?? row.type) : null,
    rows: rowsOf(db, row),
    parts: db
      .all<{ id: string }>('select external_id as id from part where event = ? order by position', id)
      .map((part) => part.id),
    data: row.data === null ? null : (parseJson(row.data) as JsonObject),
    occurred_at: row.occurred_at,
    errors: errorsOf(db, id, state, requests.at(-1)),
    omitted: leftOutOf(db, id),
  };
}

function rowsOf(db: Database, row: StoryRow): RowStory[] {
  const rows =
    row.rows === 1
      ? [row]
      : db.all<StoryRow>(
          `select ${ROW}
            from (
                select entry as first, record as second, record from row_of
                  where event = ?1 and not exists (select 1 from part where event = ?1)
                union all select position, 0, record from part where event = ?1) w
              join row r on r.id = w.record
            order by w.first, w.second`,
          row.id,
        );
  return rows.map(rowStory);
}

function rowStory(row: StoryRow): RowStory {
  const { source, file, line, record, original } = row;
  return { source, file, line, record, raw: namedCells(row), original };
}

const ERRORS = 'select kind, code, field, message, hint from problem';

/** The message of a rejection in an earlier run is no longer known, but its code is. */
function errorsOf(db: Database, event: number, state: EventFate, last: ServiceAnswer | undefined): EventError[] {
  const found = db.all<EventError>(`${ERRORS} where event = ? and severity = 'error' order by id`, event);
  if (found.length > 0 || state !== 'rejected' || !last?.code) return found;
  const error = { severity: 'error', kind: 'send', code: last.code } as const;
  const message = meaningOf(last.code, 'send').what;
  return [{ kind: 'send', code: last.code, field: null, message, hint: hintFor(error) ?? null }];
}

function leftOutOf(db: Database, event: number): LeftOut[] {
  return db.all<LeftOut>(
    `select ${placedFile('o')} as file, r.line, o.field, o.original, o.reason
      from omission o join row r on r.id = o.record where o.event = ? order by o.id`,
    event,
  );
}

function droppedRow(db: Database, { id, file, line }: StoryRow): LeftOut {
  const told = db.get<WhyUnused>(
    'select u.code, u.why from unused u join event e on e.record = u.record and e.external_id = u.external_id where e.id = ?',
    id,
  );
  const reason = told ? unusedText(told.code, told.why) : 'the same record once more';
  return { file, line, field: null, original: '', reason };
}

interface RelativeRow {
  readonly entity: string;
  readonly external_id: string | null;
  readonly state: string;
  readonly name: string | null;
  readonly file: string;
  readonly line: number;
}

function parentOf(db: Database, entity: string, id: string): Relative {
  const found = db.get<RelativeRow>(
    `select e.entity, e.external_id, e.state, r.file, r.line,
        ${nameInSql('e')} as name
      from event e join row r on r.id = e.record
      where e.entity = ? and e.external_id = ? order by e.state = 'duplicate', e.id limit 1`,
    entity,
    id,
  );
  if (found) return relative(found);
  const isThere = db.get(
    'select 1 from checkpoint.record where entity = ? and external_id = ? and is_acknowledged = 1',
    entity,
    id,
  );
  return { record: `${entity}:${id}`, name: '', state: isThere ? 'acknowledged' : null, file: null, line: null };
}

/** One event of each child: comments without an id are records of their own. */
function childrenOf(db: Database, { entity, externalId }: NamedRecord): RecordStory['children'] {
  const children = db.each<RelativeRow>(
    `select e.entity, e.external_id, e.state, r.file, r.line,
        ${nameInSql('e')} as name
      from (
        select min(id) as id from event where parent_entity = ? and parent_id = ? and state <> 'duplicate'
        group by entity, coalesce(external_id, id)
      ) child cross join event e on e.id = child.id join row r on r.id = e.record
      order by e.id`,
    entity,
    externalId,
  );
  const byState: Partial<Record<EventFate, number>> = {};
  const first: Relative[] = [];
  let count = 0;
  for (const row of children) {
    const child = relative(row);
    byState[child.state!] = (byState[child.state!] ?? 0) + 1;
    if (count < MOST_RELATIVES) first.push(child);
    count += 1;
  }
  return { count, by_state: byState, first };
}

function relative({ entity, external_id: id, state, name, file, line }: RelativeRow): Relative {
  return { record: `${entity}:${id ?? ''}`, name: name ?? '', state: fateOf(state), file, line };
}
