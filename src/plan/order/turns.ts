import { UNACKNOWLEDGED } from '../../store/plan-schema.ts';
import type { Database } from '../../store/sqlite.ts';
import { EVENT_COLUMNS, type PlannedEvent } from '../events.ts';

/**
 * Writes the order in which a run sends its events: by priority, within a priority by kind, and within a kind first events that were never
 * tried, last events that were rejected before; otherwise as in the files.
 *
 * Notes about one parent go by time, the ones without a time last: the service dates them by arrival, so their order
 * cannot be corrected later. The notes about each parent are spread over all, so that while one is on its way, those of
 * other parents can be sent.
 */
export function writeTurns(db: Database): void {
  db.exec(`
    insert into turn (event)
    select id from (
      select id, priority, state, 0 as share, k.rank, ifnull(sends, type) like '%/updated' as is_update
      from event join kind k on k.name = entity and not k.is_note where state in ('ready', 'retry') and ${UNACKNOWLEDGED}
      union all
      select id, priority, state,
        (row_number() over (parent order by julianday(occurred_at) is null, julianday(occurred_at), id) - 0.5)
          / count(*) over parent as share,
        k.rank, 0 as is_update
      from event join kind k on k.name = entity and k.is_note where state in ('ready', 'retry') and ${UNACKNOWLEDGED}
      window parent as (partition by state, entity, parent_entity, parent_id))
    order by priority desc, rank, is_update, state, share, id`);
}

/** An event whose turn it is. */
export interface DueEvent extends PlannedEvent {
  /** Counted from 1. */
  readonly place: number;
}

const PAGE = 500;

/** Adds what was found to be left to send after all others. */
export function appendTurns(db: Database, events: readonly number[]): void {
  for (const id of events) db.run('insert into turn (event) values (?)', id);
}

/** Every event to send after this place, in order. Each is read from the plan when its page is read. */
export function* dueEvents(db: Database, after = 0): Generator<DueEvent, void, undefined> {
  for (let last = after; ;) {
    const due = db.all<DueEvent>(
      `select t.place, ${EVENT_COLUMNS} from turn t join event e on e.id = t.event where t.place > ? order by t.place limit ${PAGE}`,
      last,
    );
    if (due.length === 0) return;
    yield* due;
    last = due.at(-1)!.place;
  }
}
