/** Several events of the input that become one. */
import type { EventType } from '../../model.ts';
import type { JsonObject } from '../../json.ts';
import type { Database } from '../../store/sqlite.ts';
import { setContent } from '../events.ts';
import { rejectEvent } from '../problems.ts';
import { oversized } from './body-size.ts';

interface MergedRow {
  readonly id: number;
  readonly record: number;
  readonly entry: number;
  readonly own_priority: number | null;
}

/** The event `base` has all of these rows from now on, and what was found about the others is about it. */
export function mergeInto(db: Database, base: number, rows: readonly MergedRow[]): void {
  for (const { id, record, entry } of rows) {
    db.run('insert or ignore into row_of (event, record, entry) values (?, ?, ?)', base, record, entry);
    if (id === base) continue;
    for (const table of ['problem', 'omission']) db.run(`update ${table} set event = ? where event = ?`, base, id);
    db.run('delete from event where id = ?', id);
  }
  const priorities = JSON.stringify(rows.map(({ own_priority: priority }) => priority));
  const highest = '(select max(value) from json_each(?))';
  db.run(`update event set rows = ?, own_priority = ${highest} where id = ?`, rows.length, priorities, base);
}

interface MergedEvent {
  readonly id: number;
  readonly record: number;
  readonly type: EventType;
  readonly occurred_at: string | null;
}

/** Sets what the merged event carries; it is invalid if no body has room for it. */
export function setMerged(db: Database, event: MergedEvent, data: JsonObject): void {
  const content = setContent(db, event, data);
  for (const issue of oversized(content, event)) rejectEvent(db, event, issue);
}
