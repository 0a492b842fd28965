import { EVENT_TYPES } from '../kinds/index.ts';
import { outcomeOf, OUTCOMES, type Entity, type EventCounts, type EventType, type State } from '../model.ts';
import type { Tolerance } from '../settings/run-settings.ts';
import type { Database } from '../store/sqlite.ts';
import { isLater, isOpen } from './events.ts';

export function totalOf(counts: readonly EventCounts[]): EventCounts {
  const names = ['total', ...OUTCOMES] as const;
  const sums = names.map((name) => [name, counts.reduce((sum, each) => sum + each[name], 0)]);
  return Object.fromEntries(sums) as EventCounts;
}

/** read = mapped + skipped + unreadable; sources used only by lookups are not counted. */
export interface RecordCounts {
  readonly read: number;
  readonly mapped: number;
  readonly skipped: number;
  readonly unreadable: number;
}

export function countRecords(db: Database): RecordCounts {
  const counts = db.get<Omit<RecordCounts, 'mapped'>>(`
    select (select ifnull(sum(records), 0) from source) as read, (select count(distinct record) from skipped) as skipped,
      (select count(*) from problem where kind = 'read' and severity = 'error' and event is null and record is not null) as unreadable`)!;
  return { ...counts, mapped: counts.read - counts.skipped - counts.unreadable };
}

/** How many events of a type and a priority are in a state, by its code. */
export interface CountedState {
  readonly type: EventType;
  readonly state: State;
  readonly code: string | null;
  /** 0 if the run leaves them out. */
  readonly is_chosen: 0 | 1;
  readonly priority: number;
  readonly count: number;
}

/** How far the events of one priority are. */
export interface PriorityProgress {
  readonly priority: number;
  /** Acknowledged and rejected ones, and those that this run sends; not those that it cannot send or excludes. */
  readonly events: number;
  readonly acknowledged: number;
  /** Events that this run still has to send. */
  readonly left: number;
}

export function countStates(db: Database): CountedState[] {
  const columns = 'type, state, code, is_chosen, priority';
  return db.all(`select ${columns}, count(*) as count from event group by ${columns}`);
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

/** The priorities of the events that this run does not exclude, the highest first. */
export function priorityProgress(states: readonly CountedState[]): PriorityProgress[] {
  const counts = new Map<number, { -readonly [Name in keyof PriorityProgress]: PriorityProgress[Name] }>();
  for (const { priority, state, count } of states) {
    if (isExcluded(state)) continue;
    const own = counts.get(priority) ?? { priority, events: 0, acknowledged: 0, left: 0 };
    counts.set(priority, own);
    own.events += count;
    if (state === 'acknowledged') own.acknowledged += count;
    if (isOpen(state)) own.left += count;
  }
  return [...counts.values()].sort((one, other) => other.priority - one.priority);
}

function isExcluded(state: State): boolean {
  return state === 'invalid' || state === 'blocked' || state === 'duplicate' || isLater(state);
}

/** Events that this run will send. */
export function countDue(states: readonly CountedState[]): number {
  return countWhere(states, ({ state }) => isOpen(state));
}

/** Selected events whose parents are neither acknowledged nor selected: by type, and by what they wait for. */
export type WaitingCounts = Readonly<Record<EventType, Readonly<Record<Entity, number>>>>;

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
