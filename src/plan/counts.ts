import { EVENT_TYPES, STAGED } from '../kinds/index.ts';
import type { Entity, EventType } from '../model.ts';
import type { WaitingCounts } from '../report/files/summary.ts';
import type { EventCounts } from '../report/words/terms.ts';
import type { Tolerance } from '../settings/run-settings.ts';
import type { Database } from '../store/sqlite.ts';
import { ControlSum, type ControlTotal, type GroupNames, type Part } from '../report/files/control-totals.ts';
import { isLater, isOpen, outcomeOf, type State } from './events.ts';

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
  /** Acknowledged ones, those that this run sends, and those that cannot be sent; not those that it excludes. */
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
  return state === 'invalid' || state === 'duplicate' || isLater(state);
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

interface GroupRow extends Omit<GroupNames, 'others'> {
  readonly id: number;
  readonly is_rest: number;
}

/** The groups of deals with their present outcomes, the largest first. Duplicates are not counted. */
export function controlTotals(db: Database): ControlTotal[] {
  const groups = db.all<GroupRow>('select * from deal_group');
  if (groups.length === 0) return [];
  const sums = new Map(groups.map(({ id }) => [id, new ControlSum()]));
  // Amounts are summed here: sums of decimals in SQL are not exact.
  const deals = db.each<{ id: number; state: State; code: string | null; data: number; amount: string | null }>(`
    select deal_group as id, state, code, data is not null as data, amount
    from event where deal_group is not null and state <> 'duplicate'`);
  for (const { id, state, code, data, amount } of deals) {
    const sum = sums.get(id)!;
    if (amount === '') sum.unread += 1;
    const isPlanned = data === 1 && state !== 'invalid';
    const parts: readonly Part[] = [
      ...(['', `${outcomeOf(state) as 'pending'}_`] as const),
      ...(isPlanned ? (['planned_'] as const) : []),
      ...(isOpen(state) ? (['due_'] as const) : isLater(state) ? (['later_'] as const) : []),
      ...(state === 'acknowledged' && code !== null ? (['differing_'] as const) : []),
    ];
    for (const part of parts) sum.add(part, 1, amount ? Number(amount) : 0);
  }
  const totals = groups.map(({ id, is_rest: isRest, ...names }): ControlTotal => {
    const { figures, unread } = sums.get(id)!;
    return { entity: STAGED, ...names, ...(isRest && { others: true }), ...figures, unread_amounts: unread };
  });
  return totals
    .filter(({ count }) => count > 0)
    .sort((a, b) => Number(a.others ?? 0) - Number(b.others ?? 0) || b.count - a.count);
}
