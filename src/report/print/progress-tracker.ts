import { EVENT_TYPES } from '../../kinds/index.ts';
import type { EventType } from '../../model.ts';
import { countStates, countWhere, type CountedState } from '../../plan/counts.ts';
import type { Database } from '../../store/sqlite.ts';
import { paceOf, type Rate, type RecentlySettled } from '../../rate.ts';
import type { ProgressSnapshot, TypeProgress, WaitingState } from './progress-text.ts';
import { recentAnswers } from '../figures/status.ts';
import { isOpen } from '../../plan/events.ts';
import type { GateWait } from '../../send/gate.ts';

interface PlanCounts {
  readonly states: readonly CountedState[];
  readonly recent: RecentlySettled;
}

/** The state that progress is drawn from, read each time it is drawn. */
export interface ProgressView {
  /** The rate limit of the run. */
  readonly rate: Rate;
  /** From `planCounter`. */
  readonly count: (exactly?: boolean) => PlanCounts;
  readonly deliverer: {
    readonly counters: { readonly events_sent: number };
    waiting(): GateWait | undefined;
  };
}

/** Counting takes at most this part of the time. */
const SHARE = 1 / 50;

/**
 * Counts the events of a plan and the answers from now on. A large plan is counted only now and then; in between, and once the run has
 * closed the plan, it returns the last count, unless an exact one is asked for.
 */
export function planCounter(db: Database, rate: Rate): ProgressView['count'] {
  const from = Date.now();
  const count = (): PlanCounts => ({
    states: countStates(db),
    recent: recentAnswers(db, from, { now: Date.now(), rate }),
  });
  let counted = count();
  let restUntil = -Infinity;
  return (exactly = false) => {
    const began = performance.now();
    if (!db.isOpen || (!exactly && began < restUntil)) return counted;
    try {
      counted = count();
    } catch {
      // Timers call this: that the plan cannot be used is for the sender to find out.
    }
    const ended = performance.now();
    restUntil = ended + (ended - began) / SHARE;
    return counted;
  };
}

/** Tracks what a single reading cannot show: what the run set out to send, and how long it has been waiting. */
export class ProgressTracker {
  readonly #view: ProgressView;
  /** The events of each type to send, or already answered. With a pilot, only the events that it selects. */
  readonly #totals: ReadonlyMap<EventType, number>;
  #waitingSince: { reason: string; at: number } | undefined;

  constructor(view: ProgressView) {
    this.#view = view;
    const { states } = view.count(true);
    const isCounted = ({ state, is_chosen }: CountedState): boolean =>
      isOpen(state) || ((state === 'acknowledged' || state === 'rejected') && is_chosen === 1);
    this.#totals = new Map(
      EVENT_TYPES.map((type) => [type, countWhere(states, (each) => each.type === type && isCounted(each))]),
    );
  }

  /** Counts exactly, for what is drawn next: the last bars agree with the result below them. */
  recount(): void {
    this.#view.count(true);
  }

  types(): TypeProgress[] {
    const { states } = this.#view.count();
    return [...this.#totals].flatMap(([type, total]) => {
      if (total === 0) return [];
      const ofType = states.filter((each) => each.type === type);
      const acknowledged = countWhere(ofType, ({ state, is_chosen }) => state === 'acknowledged' && is_chosen === 1);
      const rejected = countWhere(ofType, ({ state }) => state === 'rejected');
      return { type, total, acknowledged, rejected };
    });
  }

  pace(): ProgressSnapshot {
    const { states, recent } = this.#view.count();
    const left = countWhere(states, ({ state }) => isOpen(state));
    return {
      ...paceOf(recent, left, this.#view.rate),
      left,
      waiting: this.#waiting(performance.now()),
      now: new Date(),
    };
  }

  #waiting(now: number): WaitingState | undefined {
    const waiting = this.#view.deliverer.waiting();
    if (!waiting) this.#waitingSince = undefined;
    else if (this.#waitingSince?.reason !== waiting.reason) this.#waitingSince = { reason: waiting.reason, at: now };
    return waiting && { ...waiting, forMs: now - this.#waitingSince!.at };
  }
}
