import { EVENT_TYPES } from '../model.ts';
import type { Database } from '../store/sqlite.ts';
import { EVENT_ROWS, type EventRow } from './events.ts';

/** How far the events of one priority are. */
export interface PriorityProgress {
  readonly priority: number;
  /** Acknowledged ones, those that this run sends, and those that cannot be sent; not those that it excludes. */
  readonly events: number;
  readonly acknowledged: number;
  /** Events that this run still has to send. */
  readonly left: number;
}

/**
 * Writes the order in which a run sends its events: by priority, within a priority by type, and within a type first what may
 * have arrived already, then what was never tried, last what was rejected before; otherwise as in the files.
 *
 * Comments of one parent go by time, the ones without a time last: the service dates comments by arrival, so their order
 * cannot be corrected later. The comments of each parent are spread over all, so that while one is on its way, those of
 * other parents can be sent.
 */
export function writeOrder(db: Database): void {
  db.run(
    `insert into turn (event)
     select id from (
       select e.id, e.priority, e.state, e.goes_first, t.key as type,
         case when e.type = 'comment/created' then
           (row_number() over (partition by e.type, e.state, e.parent_entity, e.parent_id order by julianday(e.occurred_at) is null, julianday(e.occurred_at), e.id) - 0.5)
           / count(*) over (partition by e.type, e.state, e.parent_entity, e.parent_id) end as share
       from event e join json_each(?) t on t.value = e.type
       where e.state in ('ready', 'retry'))
     order by priority desc, type, goes_first desc, state, share, id`,
    JSON.stringify(EVENT_TYPES),
  );
}

/** An event whose turn it is. */
export interface DueEvent extends EventRow {
  /** Counted from 1. */
  readonly place: number;
}

const PAGE = 500;

/** Every event to send, in its order, as it stands in the plan when its page is read. */
export function* dueEvents(db: Database): Generator<DueEvent, void, undefined> {
  const page = EVENT_ROWS.replace('select ', 'select t.place, ').replace('from event e', 'from turn t join event e on e.id = t.event');
  for (let last = 0; ; ) {
    const due = db.all<DueEvent>(`${page} where t.place > ? order by t.place limit ${PAGE}`, last);
    if (due.length === 0) return;
    yield* due;
    last = due.at(-1)!.place;
  }
}

/** The priorities of the events that this run does not exclude, the highest first. */
export function priorityProgress(db: Database): PriorityProgress[] {
  return db.all<PriorityProgress>(`
    select priority, count(*) as events, sum(state = 'acknowledged') as acknowledged, sum(state in ('ready', 'retry')) as "left"
    from event where state not in ('invalid', 'duplicate', 'held', 'waiting') group by priority order by priority desc`);
}
