/** The story of one record, as a few selects over the plan and the checkpoint: nothing is written, and no lock is taken. */
import { parseJson, type JsonObject } from '../../json.ts';
import { nameInSql } from '../../kinds/index.ts';
import { namedCells } from '../../mapping/values/path.ts';
import { STATE_IN_SQL, type EventType, type Place } from '../../model.ts';
import type { NamedRecord } from '../../settings/run-settings.ts';
import { PLAN_FILE, placedFile } from '../../store/plan-schema.ts';
import type { Database } from '../../store/sqlite.ts';
import type { FoundPlan } from '../../store/stored-plans.ts';

const MOST_RELATIVES = 5;

/** Rows that became no record with an id, by the place by which they were asked for. */
export interface RowsAt {
  readonly place: string;
  readonly rows: readonly number[];
}

/** As `--json` prints it. */
export interface RecordStory {
  /** `lead:51000301`, or the place of a row without an id */
  readonly record: string;
  /** Of its first event; `skipped` or `unreadable` of rows alone; `gone` if an earlier run sent it and the plan does not have it. */
  readonly state: string;
  readonly service_id: string | null;
  /** `at`: when it was last written, ISO 8601. */
  readonly plan: { readonly file: string; readonly at: string; readonly dry_run: boolean };
  /** In the order of the plan; records with its external id that are not used (`duplicate`) come last. */
  readonly events: readonly EventStory[];
  /** Rows of the record that became no event. */
  readonly unused: readonly UnusedRow[];
  readonly parent: Relative | null;
  readonly children: {
    readonly count: number;
    readonly by_state: Readonly<Record<string, number>>;
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
}

export interface EventStory {
  readonly type: EventType;
  /** As in the view `events`. */
  readonly state: string;
  /** Pending, and left for a later run: it is not selected, or its parent is not. */
  readonly later: 'not_selected' | 'parent_not_selected' | null;
  /** Acknowledged, and not as the input wants it now: `changed`, `emptied`, `comment_changed`, `not_comparable`. */
  readonly difference: string | null;
  /** The event that is sent next; null if there is none. */
  readonly sends: EventType | null;
  /** In the order of reading. */
  readonly rows: readonly RowStory[];
  /** The external ids of the comments that a combined one carries; empty for all others. */
  readonly parts: readonly string[];
  /** As planned; null if it is invalid. */
  readonly data: JsonObject | null;
  readonly occurred_at: string | null;
  /** Of a `duplicate`: why it is not used. */
  readonly reason: string | null;
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

interface LeftOut {
  readonly file: string;
  readonly line: number;
  readonly field: string;
  readonly original: string;
  readonly reason: string;
}

/** The parent or a child. `state`: null for a parent of which nothing is known. */
export interface Relative {
  readonly record: string;
  readonly name: string;
  readonly state: string | null;
  readonly place: string | null;
}

interface ServiceAnswer {
  /** When it was answered; null for a request whose answer is not recorded. */
  readonly at: string | null;
  readonly sent_at: string;
  readonly type: EventType;
  readonly event_id: string;
  readonly status: 'acknowledged' | 'rejected' | 'unanswered';
  readonly outcome: string | null;
  readonly code: string | null;
  readonly service_id: string | null;
}

/** What both databases know about a record (see `findRecord`). */
export function storyOf(db: Database, { output, isDryRun, at }: FoundPlan, record: NamedRecord | RowsAt): RecordStory {
  const named = 'place' in record ? undefined : ([record.entity, record.externalId] as const);
  const rows = 'place' in record ? JSON.stringify(record.rows) : '[]';
  const about = (alias: string): string =>
    named
      ? `${alias}.entity = ?1 and ${alias}.external_id = ?2`
      : `${alias}.record in (select value from json_each(?1))`;
  const values = named ?? [rows];
  const found = db.all<StoryRow>(`${EVENTS} where ${about('e')} order by e.state = 'duplicate', e.id`, ...values);
  const events = found.map(eventStory);
  const unused = db
    .all<UnusedSql>(`${UNUSED} where ${about('u')} and ${NO_EVENT} group by r.id order by r.id`, ...values)
    .map((row) => unusedRow(db, row));
  const answers = named ? db.all<ServiceAnswer>(ANSWERS, ...named) : [];
  const child = found.find(({ parent_id: id }) => id !== null);
  return {
    record: named ? named.join(':') : (record as RowsAt).place,
    state: events[0]?.state ?? (answers.length === 0 && unused[0] ? unused[0].state : 'gone'),
    service_id: answers.findLast(({ status, service_id: id }) => status === 'acknowledged' && id)?.service_id ?? null,
    plan: { file: output.file(PLAN_FILE), at: at.toISOString(), dry_run: isDryRun },
    ...{ events, unused, answers },
    parent: child ? parentOf(db, child.parent_entity!, child.parent_id!) : null,
    children: named ? childrenOf(db, ...named) : { count: 0, by_state: {}, first: [] },
  };
}

/** A row `r`, in JSON. */
const ROW = `json_object('source', r.source, 'file', r.file, 'line', r.line, 'record', r.record, 'raw', r.raw,
  'columns', r.columns, 'original', r.replaced)`;

/** Why a row is in `unused u`, by its code `k`. */
const WHY = `k.words || ifnull(': ' || u.why, '')`;

/** What `--json` prints of an event, but for its rows, which have no names of columns yet. */
const EVENTS = `
  select e.parent_entity, e.parent_id, json_object(
    'type', e.type, 'state', ${STATE_IN_SQL}, 'occurred_at', e.occurred_at, 'data', json(e.data),
    'later', case e.state when 'held' then 'not_selected' when 'waiting' then 'parent_not_selected' end,
    'difference', iif(e.state = 'acknowledged', e.code, null),
    'sends', iif(e.state in ('ready', 'retry'), ifnull(e.sends, e.type), null),
    'reason', (select ${WHY} from unused u join unused_code k on k.code = u.code where e.state = 'duplicate'
      and u.entity = e.entity and u.external_id = e.external_id and u.record = e.record limit 1),
    'rows', (select json_group_array(json(${ROW}) order by r.id) from row r where r.id in (
      select e.record union select record from row_of where event = e.id union select record from part where event = e.id)),
    'parts', (select json_group_array(external_id order by position) from part where event = e.id),
    'errors', (
      select json_group_array(json_object('kind', kind, 'code', code, 'field', field, 'message', message, 'hint', hint) order by id)
      from problem where event = e.id and severity = 'error'),
    'omitted', (
      select json_group_array(json_object('file', ${placedFile('o')}, 'line', r.line, 'field', o.field, 'original', o.original,
        'reason', o.reason) order by o.id)
      from omission o join row r on r.id = o.record where o.event = e.id)) as story
  from event e`;

interface StoryRow {
  readonly parent_entity: string | null;
  readonly parent_id: string | null;
  /** JSON. */
  readonly story: string;
}

function eventStory({ story }: StoryRow): EventStory {
  const { rows, ...event } = parseJson(story) as unknown as EventStory & { readonly rows: readonly StoredRow[] };
  return { ...event, rows: rows.map(rowStory) };
}

interface StoredRow extends Omit<RowStory, 'raw'> {
  readonly raw: string | null;
  readonly columns: string;
}

function rowStory({ columns, raw, ...row }: StoredRow): RowStory {
  return { ...row, raw: namedCells({ raw, columns }) };
}

/** The rows that became no event. */
const UNUSED = `
  select r.id, ${ROW} as row, iif(k.is_correctable, 'unreadable', 'skipped') as state, ${WHY} as reason
  from unused u join unused_code k on k.code = u.code join row r on r.id = u.record`;

const NO_EVENT = `not exists (
  select 1 from event e where e.record = u.record and e.entity = u.entity and e.external_id = u.external_id)`;

interface UnusedSql extends Pick<UnusedRow, 'state' | 'reason'> {
  readonly id: number;
  readonly row: string;
}

function unusedRow(db: Database, { id, row, state, reason }: UnusedSql): UnusedRow {
  const message = `select message from problem where record = ? and kind = 'read' order by id limit 1`;
  const read = state === 'unreadable' ? db.get<{ message: string }>(message, id)?.message : undefined;
  return { ...rowStory(JSON.parse(row) as StoredRow), state, reason: read ?? reason };
}

const ANSWERS = `
  select settled_at as at, sent_at, type, id as event_id, iif(status = 'open', 'unanswered', status) as status, outcome, code, service_id
  from checkpoint.request where entity = ? and external_id = ? order by n`;

const WITH_NAME = `e.entity || ':' || ifnull(e.external_id, '') as record, ifnull(${nameInSql('e')}, '') as name, ${STATE_IN_SQL} as state, r.place`;

function parentOf(db: Database, entity: string, id: string): Relative {
  const planned = db.get<Relative>(
    `select ${WITH_NAME} from event e join row r on r.id = e.record
     where e.entity = ? and e.external_id = ? order by e.state = 'duplicate', e.id limit 1`,
    entity,
    id,
  );
  if (planned) return planned;
  const isThere = 'select 1 from checkpoint.record where entity = ? and external_id = ? and is_acknowledged = 1';
  return {
    record: `${entity}:${id}`,
    name: '',
    state: db.get(isThere, entity, id) ? 'acknowledged' : null,
    place: null,
  };
}

/** One event of each child: comments without an id are records of their own. */
function childrenOf(db: Database, entity: string, id: string): RecordStory['children'] {
  const from = `from (
      select min(id) as id from event where parent_entity = ? and parent_id = ? and state <> 'duplicate'
      group by entity, coalesce(external_id, id)
    ) child cross join event e on e.id = child.id`;
  const states = db.all<{ state: string; count: number }>(
    `select ${STATE_IN_SQL} as state, count(*) as count ${from} group by 1 order by 1`,
    entity,
    id,
  );
  const first = `select ${WITH_NAME} ${from} join row r on r.id = e.record order by e.id limit ${MOST_RELATIVES}`;
  return {
    count: states.reduce((sum, { count }) => sum + count, 0),
    by_state: Object.fromEntries(states.map(({ state, count }) => [state, count])),
    first: db.all<Relative>(first, entity, id),
  };
}
