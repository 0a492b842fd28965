import { EVENT_TYPES, type Entity, type EventType } from '../model.ts';
import type { WaitingCounts } from '../report/ending.ts';
import type { EventCounts } from '../report/summary.ts';
import type { Tolerance } from '../settings.ts';
import { STATES, type State } from './event-table.ts';
import type { Plan } from './plan.ts';

type Counted = Pick<Plan, 'tables'>;

type OutcomeName = Exclude<keyof EventCounts, 'total'>;

const OUTCOME_OF: Readonly<Record<State, OutcomeName>> = {
  ready: 'pending',
  retry: 'rejected',
  held: 'pending',
  waiting: 'pending',
  acknowledged: 'acknowledged',
  duplicate: 'duplicates',
  invalid: 'invalid',
  rejected: 'rejected',
  blocked: 'blocked',
};

/** What an event in this state counts as. */
export function outcomeOf(state: State): OutcomeName {
  return OUTCOME_OF[state];
}

/** The totals always add up, because every event has exactly one state. */
function countEvents(plan: Counted, type: EventType): EventCounts {
  const { counts, size } = plan.tables[type];
  const events = { ...totalOf([]), total: size };
  for (const state of STATES) events[OUTCOME_OF[state]] += counts[state];
  return events;
}

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

/** The counts of each type that occurs. */
export function countsByType(plan: Counted): Partial<Record<EventType, EventCounts>> {
  const byType = EVENT_TYPES.map((type) => [type, countEvents(plan, type)] as const);
  return Object.fromEntries(byType.filter(([, { total }]) => total > 0));
}

/** The counts of all types together. */
export function countAll(plan: Counted): EventCounts {
  return totalOf(EVENT_TYPES.map((type) => countEvents(plan, type)));
}

/** Events that this run will send. */
export function countDue(plan: Counted): number {
  return EVENT_TYPES.reduce((sum, type) => sum + plan.tables[type].counts.ready + plan.tables[type].counts.retry, 0);
}

/** What the events that wait for a parent outside the selection wait for. */
export function countWaiting(plan: Pick<Plan, 'inState' | 'links'>): WaitingCounts {
  const counts: { -readonly [T in EventType]?: Partial<Record<Entity, number>> } = {};
  for (const type of EVENT_TYPES) {
    for (const ordinal of plan.inState(type, 'waiting')) {
      const entity = plan.links.entityNeededBy(type, ordinal);
      const ofType = (counts[type] ??= {});
      ofType[entity] = (ofType[entity] ?? 0) + 1;
    }
  }
  return counts;
}

/** How many events may be invalid, or rejected in one run. */
export function allowedErrors(tolerance: Tolerance, plan: Counted): number {
  return 'count' in tolerance ? tolerance.count : (countAll(plan).total * tolerance.percent) / 100;
}
