import { EVENT_TYPES } from '../kinds/index.ts';
import type { Entity, EventType } from '../model.ts';
import type { WaitingCounts } from '../report/summary.ts';
import type { EventCounts } from '../vocabulary/terms.ts';
import type { Tolerance } from '../settings/run-settings.ts';
import type { Database } from '../store/sqlite.ts';
import { isOpen, outcomeOf, type State } from './states.ts';

export function totalOf(counts: readonly EventCounts[]): EventCounts {
  const sum: EventCounts = {
    total: 0,
    acknowledged: 0,
    duplicates: 0,
    invalid: 0,
    rejected: 0,
    blocked: 0,
    pending: 0,
  };
  for (const each of counts) for (const name of Object.keys(sum) as (keyof EventCounts)[]) sum[name] += each[name];
  return sum;
}

/** How many events of a type are in a state, by its code. */
export interface CountedState {
  readonly type: EventType;
  readonly state: State;
  readonly code: string | null;
  /** 0 if the run leaves them out. */
  readonly is_chosen: 0 | 1;
  readonly count: number;
}

export function countStates(db: Database): CountedState[] {
  return db.all(
    'select type, state, code, is_chosen, count(*) as count from event group by type, state, code, is_chosen',
  );
}

/** How many events are counted of which this is true. */
export function countWhere(states: readonly CountedState[], isCounted: (each: CountedState) => boolean): number {
  return states.reduce((sum, each) => sum + (isCounted(each) ? each.count : 0), 0);
}

/** The outcomes of each type that occurs. The totals always add up, because every event has exactly one state. */
export function outcomesOf(states: readonly CountedState[]): Record<EventType, EventCounts> {
  const counts: Record<EventType, EventCounts> = {};
  for (const type of EVENT_TYPES) {
    for (const { state, count } of states.filter((each) => each.type === type)) {
      const ofType = (counts[type] ??= totalOf([]));
      ofType.total += count;
      ofType[outcomeOf(state)] += count;
    }
  }
  return counts;
}

/** The counts of all types together. */
export function countAll(db: Database): EventCounts {
  return totalOf(Object.values(outcomesOf(countStates(db))));
}

/** Events that this run will send. */
export function countDue(states: readonly CountedState[]): number {
  return countWhere(states, ({ state }) => isOpen(state));
}

/** The parents outside the selection for which events wait. */
export function countWaiting(db: Database): WaitingCounts {
  const counts: Record<EventType, Record<Entity, number>> = {};
  const rows = db.all<{ type: EventType; entity: Entity; count: number }>(
    `select type, parent_entity as entity, count(*) as count from event where state = 'waiting' group by 1, 2`,
  );
  for (const { type, entity, count } of rows) (counts[type] ??= {})[entity] = count;
  return counts;
}

/** How many events may be invalid, or rejected in one run. */
export function allowedErrors(tolerance: Tolerance, total: number): number {
  return 'count' in tolerance ? tolerance.count : (total * tolerance.percent) / 100;
}
