import { EVENT_TYPES, type EventType } from '../model.ts';
import { priorityProgress, type DueEvent } from '../plan/order.ts';
import { isOpen, type State } from '../plan/states.ts';
import type { Database } from '../store/sqlite.ts';

/** The events of one type, by state. */
export interface TypeTally {
  readonly size: number;
  readonly counts: Partial<Record<State, number>>;
  /** Acknowledged ones that `--pilot`, `--pick` or `--only` does not select. */
  readonly unselected: number;
}

/** How far the events of one priority are. */
interface PriorityTally {
  readonly priority: number;
  left: number;
  endedAt: Date | undefined;
}

/** How many events are in which state while a run sends: counted once, and kept up to date as events end. */
export class Tally {
  readonly tables: Readonly<Record<EventType, TypeTally>>;
  /** The highest first. */
  readonly priorities: readonly PriorityTally[];
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
    const rows = db.all<{ type: EventType; state: State; is_chosen: number; count: number }>(
      'select type, state, is_chosen, count(*) as count from event group by type, state, is_chosen',
    );
    this.tables = Object.fromEntries(
      EVENT_TYPES.map((type) => {
        const own = rows.filter((row) => row.type === type);
        const counts: Partial<Record<State, number>> = {};
        for (const { state, count } of own) counts[state] = (counts[state] ?? 0) + count;
        const unselected = own.find((row) => row.state === 'acknowledged' && row.is_chosen === 0)?.count ?? 0;
        return [type, { size: own.reduce((sum, { count }) => sum + count, 0), counts, unselected }];
      }),
    ) as unknown as Tally['tables'];
    this.priorities = priorityProgress(db).map(({ priority, left }) => ({ priority, left, endedAt: undefined }));
  }

  /** When the last event of a priority ended. */
  endedAt(priority: number): Date | undefined {
    return this.priorities.find((each) => each.priority === priority)?.endedAt;
  }

  /** An event whose turn it was has ended. One that is not settled, because the run stops, is as before. */
  ended({ id, type, state: before, priority }: DueEvent): void {
    const { state } = this.#db.get<{ state: State }>('select state from event where id = ?', id)!;
    const { counts } = this.tables[type];
    counts[before] = (counts[before] ?? 0) - 1;
    counts[state] = (counts[state] ?? 0) + 1;
    if (isOpen(state)) return;
    const own = this.priorities.find((each) => each.priority === priority)!;
    own.left -= 1;
    own.endedAt = new Date();
  }
}
