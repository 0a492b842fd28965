import { EVENT_TYPES, type EventType } from '../model.ts';
import { totalOf } from '../plan/counts.ts';
import { isOpen, outcomeOf, type State } from '../plan/states.ts';
import type { EventCounts } from '../report/summary.ts';
import type { WaitReason } from '../report/words.ts';
import type { Database } from '../store/sqlite.ts';
import type { Rate } from '../timetable.ts';
import { RateMeter, type ProgressSnapshot, type TypeProgress, type WaitingState } from './progress-text.ts';

/** How many events of a type are in a state. */
export interface CountedState {
  readonly type: EventType;
  readonly state: State;
  /** 0 if the run leaves them out. */
  readonly is_chosen: 0 | 1;
  readonly count: number;
}

export interface PlanCounts {
  readonly states: readonly CountedState[];
  /** The highest priority with events to send, and how many they are. */
  readonly first: { readonly priority: number; readonly left: number } | undefined;
}

/** The state that progress is drawn from, read each time it is drawn. */
export interface ProgressView {
  /** The rate limit of the run. */
  readonly rate: Rate;
  /** From `planCounter`. */
  readonly count: (exactly?: boolean) => PlanCounts;
  readonly deliverer: {
    status(): { readonly waiting?: { readonly reason: WaitReason; readonly nextInMs: number } };
  };
}

/** Counting takes at most this part of the time. */
const SHARE = 1 / 50;

/**
 * Counts the events of a plan as often as it is called, but of a large plan only now and then: in between, it returns what it
 * counted last, unless that must be exact.
 */
export function planCounter(db: Database): ProgressView['count'] {
  let counted: PlanCounts;
  let restUntil = -Infinity;
  return (exactly = false) => {
    const began = performance.now();
    if (exactly || began >= restUntil) {
      counted = countPlan(db);
      const ended = performance.now();
      restUntil = ended + (ended - began) / SHARE;
    }
    return counted;
  };
}

function countPlan(db: Database): PlanCounts {
  const states = db.all<CountedState>(
    'select type, state, is_chosen, count(*) as count from event group by type, state, is_chosen',
  );
  const first = db.get<NonNullable<PlanCounts['first']>>(`
    select priority, count(*) as left from event
    where type in ('lead/created', 'lead/updated', 'deal/created', 'deal/updated', 'comment/created')
      and state in ('ready', 'retry')
    group by priority order by priority desc limit 1`);
  return { states, first };
}

/** Tracks what a single reading cannot show: the rate, and how long the run has been waiting. */
export class ProgressTracker {
  readonly #view: ProgressView;
  readonly #meter: RateMeter;
  /** The events of each type; of a pilot, only those that it selects. */
  readonly #totals: ReadonlyMap<EventType, number>;
  #waitingSince: { reason: string; at: number } | undefined;

  constructor(view: ProgressView) {
    this.#view = view;
    this.#meter = new RateMeter(view.rate);
    const { states } = view.count(true);
    const isPilot = states.some(({ state, is_chosen }) => is_chosen === 0 || state === 'held');
    const isCounted = ({ state, is_chosen }: CountedState): boolean =>
      !isPilot || isOpen(state) || (state === 'acknowledged' && is_chosen === 1);
    this.#totals = new Map(EVENT_TYPES.map((type) => [type, sum(states.filter(isCounted), { type })]));
    this.pace();
  }

  /** `exactly`: as it is at this moment, however long that takes. */
  types(exactly = false): TypeProgress[] {
    const { states } = this.#view.count(exactly);
    return [...this.#totals].flatMap(([type, total]) => {
      if (total === 0) return [];
      const left = sum(
        states.filter(({ state }) => isOpen(state)),
        { type },
      );
      const acknowledged = sum(states, { type, state: 'acknowledged', is_chosen: 1 });
      return [{ type, total, acknowledged, rejected: sum(states, { type, state: 'rejected' }), settled: total - left }];
    });
  }

  /** Counts by type, as in the summary. */
  counts(): Readonly<Partial<Record<EventType, EventCounts>>> {
    const counts: Partial<Record<EventType, EventCounts>> = {};
    for (const { type, state, count } of this.#view.count(true).states) {
      const ofType = (counts[type] ??= totalOf([]));
      ofType.total += count;
      ofType[outcomeOf(state)] += count;
    }
    return counts;
  }

  pace(): ProgressSnapshot {
    const now = performance.now();
    const types = this.types();
    const { states, first } = this.#view.count();
    const left = sum(states.filter(({ state }) => isOpen(state)));
    const settled = types.reduce((total, { acknowledged, rejected }) => total + acknowledged + rejected, 0);
    const priority = first && first.left < left ? first : undefined;
    return { ...this.#meter.measure(now, settled, left), left, priority, waiting: this.#waiting(now), now: new Date() };
  }

  #waiting(now: number): WaitingState | undefined {
    const { waiting } = this.#view.deliverer.status();
    if (!waiting) this.#waitingSince = undefined;
    else if (this.#waitingSince?.reason !== waiting.reason) this.#waitingSince = { reason: waiting.reason, at: now };
    return waiting && { ...waiting, forMs: now - this.#waitingSince!.at };
  }
}

function sum(states: readonly CountedState[], wanted: Partial<CountedState> = {}): number {
  const keys = Object.keys(wanted) as (keyof CountedState)[];
  const found = states.filter((each) => keys.every((key) => each[key] === wanted[key]));
  return found.reduce((total, { count }) => total + count, 0);
}
