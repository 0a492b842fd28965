import { EVENT_TYPES, type EventType } from '../model.ts';
import type { Rate } from '../timetable.ts';
import { RateMeter, type ProgressSnapshot, type TypeProgress, type WaitingState } from './progress-text.ts';

/** The state that progress is drawn from, read each time it is drawn. */
export interface ProgressView {
  /** The rate limit of the run. */
  readonly rate: Rate;
  readonly tally: {
    readonly tables: Readonly<
      Record<
        EventType,
        { readonly size: number; readonly counts: Readonly<Record<string, number>>; readonly unselected: number }
      >
    >;
    /** The highest priority first. */
    readonly priorities: readonly { readonly priority: number; readonly left: number }[];
  };
  readonly deliverer: {
    status(): { readonly waiting?: { readonly reason: WaitingState['reason']; readonly nextInMs: number } };
  };
}

/** Tracks what a single reading cannot show: the rate, and how long the run has been waiting. */
export class ProgressTracker {
  readonly #view: ProgressView;
  readonly #meter: RateMeter;
  /** The events of each type; of a pilot, only those that it selects. */
  readonly #totals: Readonly<Record<EventType, number>>;
  #waitingSince: { reason: string; at: number } | undefined;

  constructor(view: ProgressView) {
    this.#view = view;
    this.#meter = new RateMeter(view.rate);
    const { tables } = view.tally;
    const isPilot = EVENT_TYPES.some((type) => (tables[type].counts['held'] ?? 0) + tables[type].unselected > 0);
    const totals = EVENT_TYPES.map((type) => {
      const { acknowledged = 0, ready = 0, retry = 0 } = tables[type].counts;
      return [type, isPilot ? acknowledged - tables[type].unselected + ready + retry : tables[type].size];
    });
    this.#totals = Object.fromEntries(totals) as Record<EventType, number>;
    this.pace();
  }

  types(): TypeProgress[] {
    return EVENT_TYPES.flatMap((type) => {
      const { counts, unselected } = this.#view.tally.tables[type];
      const { acknowledged = 0, rejected = 0, ready = 0, retry = 0 } = counts;
      const total = this.#totals[type];
      const settled = total - ready - retry;
      return total === 0 ? [] : [{ type, total, acknowledged: acknowledged - unselected, rejected, settled }];
    });
  }

  pace(): ProgressSnapshot {
    const now = performance.now();
    const types = this.types();
    const sum = (key: 'acknowledged' | 'rejected'): number => types.reduce((total, each) => total + each[key], 0);
    const left = EVENT_TYPES.reduce((total, type) => {
      const { ready = 0, retry = 0 } = this.#view.tally.tables[type].counts;
      return total + ready + retry;
    }, 0);
    const measured = this.#meter.measure(now, sum('acknowledged') + sum('rejected'), left);
    return { ...measured, left, priority: this.#priority(left), waiting: this.#waiting(now), now: new Date() };
  }

  /** The priority being sent, unless it is the last. */
  #priority(left: number): ProgressSnapshot['priority'] {
    const first = this.#view.tally.priorities.find((each) => each.left > 0);
    return first && first.left < left ? first : undefined;
  }

  #waiting(now: number): WaitingState | undefined {
    const { waiting } = this.#view.deliverer.status();
    if (!waiting) this.#waitingSince = undefined;
    else if (this.#waitingSince?.reason !== waiting.reason) this.#waitingSince = { reason: waiting.reason, at: now };
    return waiting && { ...waiting, forMs: now - this.#waitingSince!.at };
  }
}
