import { placedFile } from '../store/plan-schema.ts';
import { parseJson, type JsonObject } from '../json.ts';
import type { Entity, EventType, Planned, Place, Writable } from '../model.ts';
import type { Database } from '../store/sqlite.ts';
import type { State } from './states.ts';

/** An event as the plan has it. */
export interface EventRow extends Place {
  readonly id: number;
  readonly event_id: string;
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

/** The columns of `EventRow`; what follows chooses among `event e`. */
export const EVENT_ROWS = `
  select e.id, e.event_id, e.type, e.entity, e.external_id, e.record as record_id, e.entry, e.priority, e.occurred_at, e.data, e.content,
    e.parent_entity, e.parent_id, e.state, e.code, e.field_entries, e.rows, e.sends,
    s.name as source, ${placedFile()} as file, r.line, r.number as record
  from event e join record r on r.id = e.record join file f on f.id = r.file join source s on s.id = f.source`;

export function readEvent(db: Database, id: number): Planned {
  return plannedOf(db.get<EventRow>(`${EVENT_ROWS} where e.id = ?`, id)!);
}

export function plannedOf(row: EventRow): Planned {
  const { source, file, line, record } = row;
  const planned: Writable<Planned> = {
    id: row.id,
    eventId: row.event_id,
    type: row.type,
    entry: row.entry,
    record: row.record_id,
    place: { source, file, line, record },
    data: parseJson(row.data) as JsonObject,
    content: row.data,
    sha: row.content,
  };
  if (row.external_id !== null) planned.externalId = row.external_id;
  if (row.occurred_at !== null) planned.occurredAt = row.occurred_at;
  if (row.parent_entity !== null) planned.parent = { entity: row.parent_entity, externalId: row.parent_id! };
  return planned;
}

/** Sets what became of an event. Only the judging steps of the survey and the sender call it. */
export function setState(db: Database, id: number, state: State, code: string | null = null): void {
  db.run('update event set state = ?, code = ? where id = ?', state, code, id);
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
