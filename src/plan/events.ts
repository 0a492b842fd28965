import { contentSha } from '../core/identity.ts';
import { canonicalJson, type JsonObject } from '../json.ts';
import { parentOf } from '../kinds/index.ts';
import type { Entity, EventType, Place, State } from '../model.ts';
import type { Database } from '../store/sqlite.ts';

/** An event as the plan has it. */
export interface PlannedEvent {
  readonly id: number;
  readonly type: EventType;
  readonly entity: Entity;
  readonly external_id: string | null;
  readonly record_id: number;
  readonly entry: number;
  readonly priority: number;
  readonly occurred_at: string | null;
  readonly data: string;
  readonly content: string;
  readonly parent_entity: Entity | null;
  readonly parent_id: string | null;
  readonly state: State;
  readonly code: string | null;
  readonly field_entries: string | null;
  readonly rows: number;
  readonly sends: EventType | null;
}

/** The columns of `PlannedEvent`, of an event `e`. */
export const EVENT_COLUMNS = `
  e.id, e.type, e.entity, e.external_id, e.record as record_id, e.entry, e.priority, e.occurred_at, e.data, e.content,
  e.parent_entity, e.parent_id, e.state, e.code, e.field_entries, e.rows, e.sends`;

/** With the place of its record. */
export interface EventRow extends PlannedEvent, Place {}

/** The columns of `EventRow`; what follows chooses among `event e`. */
export const EVENT_ROWS = `
  select ${EVENT_COLUMNS}, r.source, r.file, r.line, r.record from event e join row r on r.id = e.record`;

/** Sets what became of an event. Only the judging steps of the survey and the sender call it. */
export function setState(db: Database, id: number, state: State, code: string | null = null): void {
  db.run('update event set state = ?, code = ? where id = ?', state, code, id);
}

/**
 * The state, in SQL, of an event that can be sent: there is nothing to do about one that is just as its record was last acknowledged. Whatever
 * sets the content of an event sets its state by this.
 */
export function stateBy(event: {
  readonly entity: string;
  readonly externalId: string;
  readonly content: string;
}): string {
  return `iif(exists (
    select 1 from checkpoint.record r indexed by record_acknowledged
    where r.entity = ${event.entity} and r.external_id = ${event.externalId} and r.content = ${event.content}
      and r.is_acknowledged = 1 and r.code is null), 'acknowledged', 'ready')`;
}

const SET_CONTENT = `
  update event set external_id = ?2, data = ?3, content = ?4, parent_entity = ?5, parent_id = ?6,
    state = iif(state in ('ready', 'acknowledged'), ${stateBy({ entity: 'event.entity', externalId: '?2', content: '?4' })}, state)
  where id = ?1`;

/** Sets what an event carries. `data` has its external id. Returns it as JSON. */
export function setContent(db: Database, { id, type }: Pick<PlannedEvent, 'id' | 'type'>, data: JsonObject): string {
  const content = canonicalJson(data);
  const parent = parentOf(type, data);
  const columns = [data['external_id'] as string, content, contentSha(type, content)];
  db.run(SET_CONTENT, id, ...columns, parent?.entity ?? null, parent?.externalId ?? null);
  return content;
}

/** Pages through the events that a condition selects; the caller may change them meanwhile, but not their order. */
export function* pagesOf<Row extends { readonly id: number }>(
  db: Database,
  sql: string,
  ...values: readonly (string | number)[]
): Generator<readonly Row[], void, undefined> {
  let last = 0;
  for (;;) {
    const page = db.all<Row>(sql, ...values, last);
    if (page.length === 0) return;
    yield page;
    last = page.at(-1)!.id;
  }
}

/** Only until duplicates are judged: a version of a record that `when` excludes. */
export const EXCLUDED = 'excluded';

/** Whether the event has still to be sent in this run. */
export function isOpen(state: State): boolean {
  return state === 'ready' || state === 'retry';
}

/** Whether the run leaves the event for another one. */
export function isLater(state: State): boolean {
  return state === 'held' || state === 'waiting';
}

/** Rows that are read at once; a group may have more of them. */
const PAGE = 5_000;

interface GroupedRow {
  /** Its place in the order, in which the rows of a group follow each other. */
  readonly n: number;
  /** What the rows of a group have in common. */
  readonly together: string;
}

/** Groups of rows, whole, one after the other. `sql` ends with `where … n > ? order by n limit ?`; the caller may change what it does not read. */
export function* groupsOf<Row extends GroupedRow>(
  db: Database,
  sql: string,
): Generator<readonly Row[], void, undefined> {
  let group: Row[] = [];
  for (let last = 0; ;) {
    const rows = db.all<Row>(sql, last, PAGE);
    for (const row of rows) {
      if (group.length > 0 && group[0]!.together !== row.together) {
        yield group;
        group = [];
      }
      group.push(row);
    }
    if (rows.length === 0) break;
    last = rows.at(-1)!.n;
  }
  if (group.length > 0) yield group;
}
