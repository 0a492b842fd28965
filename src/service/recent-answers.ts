import type { Clock } from '../clock.ts';
import { LIMITS } from '../contract.ts';
import type { Rate } from '../rate.ts';

/**
 * When requests were answered, kept across restarts: a run that starts within a window of the previous one (even if that
 * one was killed) must not send another full burst. Times are milliseconds since 1970.
 */
export interface RateHistory {
  /** How much longer, in milliseconds, the service asked to wait in a 429 before this run. */
  readonly pauseMs: number;
  /** When the requests of earlier runs were answered at the latest; oldest first, none in the future. */
  load(): readonly number[];
  /** What X-RateLimit-Limit said last: it holds until the first answer, too. */
  readonly limit: number | undefined;
  /**
   * A request goes out. Returns a function to call when it was answered. A request without an answer counts as answered when the history is
   * loaded. Neither throws. Both are written a tick later: before an event is sent, which waits for its own commit.
   */
  send(): () => void;
  /** What X-RateLimit-Limit says now. Must not throw. */
  limitIs(limit: number): void;
  /** Nothing may be sent for this long, in milliseconds. Must not throw. */
  pause(ms: number): void;
}

/** When requests were answered, by the monotonic clock, oldest first. The number kept is bounded by age. */
export class RecentAnswers {
  readonly #keptMs: number;
  readonly #times: number[] = [];

  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  /** `at` must not be earlier than the answer before. */
  add(at: number): void {
    this.#times.push(at);
    const old = this.#firstAfter(at - this.#keptMs);
    // Many at once, because removing the first element of an array moves all others.
    if (old > this.#times.length / 2) this.#times.splice(0, old);
  }

  /** The number of answers after this time. */
  countAfter(time: number): number {
    return this.#times.length - this.#firstAfter(time);
  }

  /** When the `nth` answer (from 0) after this time was. */
  nthAfter(time: number, nth: number): number | undefined {
    return this.#times[this.#firstAfter(time) + nth];
  }

  #firstAfter(time: number): number {
    let from = 0;
    let to = this.#times.length;
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      if (this.#times[middle]! > time) to = middle;
      else from = middle + 1;
    }
    return from;
  }
}

/** Added to each window, because timers and the server's clock may be slightly off. */
const MARGIN_MS = 25;

/** With the answers of earlier runs. */
export function recentAnswers({
  rate,
  clock,
  history,
}: {
  readonly rate: Rate;
  readonly clock: Clock;
  readonly history?: RateHistory | undefined;
}): RecentAnswers {
  const answers = new RecentAnswers(2_000 * longestWindow(rate));
  const offset = clock.wall() - clock.monotonic();
  const now = clock.monotonic();
  for (const at of history?.load() ?? []) answers.add(Math.min(at - offset, now));
  return answers;
}

/** In milliseconds, with a margin for the clocks. */
export function windowOf(rate: Rate): number {
  return Math.ceil(rate.seconds * 1000 + MARGIN_MS);
}

/** In seconds: the window of the rate, or the published one. */
export function longestWindow(rate: Rate): number {
  return Math.max(rate.seconds, LIMITS.windowSeconds);
}

/**
 * Estimates how many requests others make with the same API key: those that the service counts, less all that may be our
 * own. Each estimate is a lower bound, so the largest one of the last window is used.
 */
export class ForeignUse {
  readonly #windowMs: number;
  /** Estimates not exceeded by any later one, so oldest and largest first. */
  readonly #estimates: { readonly at: number; readonly count: number }[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** An answer at `now` (monotonic) shows this many requests that are not our own. */
  observe(now: number, count: number): void {
    while (this.#estimates.length > 0 && this.#estimates.at(-1)!.count <= count) this.#estimates.pop();
    this.#estimates.push({ at: now, count: Math.max(0, count) });
  }

  /** The largest estimate of the last window. */
  estimate(now: number): number {
    while (this.#estimates.length > 0 && this.#estimates[0]!.at <= now - this.#windowMs) this.#estimates.shift();
    return this.#estimates[0]?.count ?? 0;
  }

  /** Requests per window to leave for others: slightly more than the estimate. */
  withhold(now: number): number {
    const foreign = this.estimate(now);
    return foreign === 0 ? 0 : foreign + 1 + Math.ceil(foreign / 10);
  }
}
