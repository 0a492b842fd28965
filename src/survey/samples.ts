import { EVENT_TYPES, type EventType, type Planned } from '../model.ts';
import { EVENT_ROWS, plannedOf, type EventRow } from '../plan/events.ts';
import type { Database } from '../store/sqlite.ts';

const PER_TYPE = 3;

/** The first events of each type that could be sent; `areChosen`: all that a pilot chose. */
export function samplesOf(db: Database, areChosen: boolean): Map<EventType, Planned[]> {
  const sql = `${EVENT_ROWS}
    where e.type = ? and e.data is not null and e.is_change = 0 and e.is_chosen = 1 and e.state not in ('invalid', 'duplicate')
    order by e.id limit ?`;
  return new Map(
    EVENT_TYPES.map((type) => [type, db.all<EventRow>(sql, type, areChosen ? -1 : PER_TYPE).map(plannedOf)]),
  );
}
