import { placedFile } from '../store/plan-schema.ts';
import type { Entity, EventType, Place } from '../model.ts';
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
