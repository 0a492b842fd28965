import { LIMITS } from './contract.ts';

export interface LimitObservation {
  /** Monotonic milliseconds: when the answer came, and when its request went out. */
  readonly now: number;
  readonly sentAt: number;
  /** Requests that the service counts in its window: limit minus remaining. */
  readonly used: number;
  /** Own requests in flight, including the one that was answered. */
  readonly inFlight: number;
  /** X-RateLimit-Limit. */
  readonly limit: number;
}

/** Answers within this many milliseconds are counted together, to bound memory at high rates. */
const GROUP_MS = 10;

/** Own answers between two times (monotonic). */
interface AnswerGroup {
  readonly from: number;
  until: number;
  /** Number of answers before this group. */
  readonly before: number;
}

/**
 * Estimates how many requests others make with the same API key. From the number of requests that the service counts it
 * subtracts all that may be our own: those in flight, and those answered since one window before the request was sent.
 * The result is a lower bound, so the largest one of the last window is used.
 */
export class ForeignUse {
  readonly #windowMs: number;
  readonly #requests: number;
  /** Own answers, oldest first. */
  readonly #groups: AnswerGroup[] = [];
  #answers = 0;
  /** Estimates not exceeded by any later one, so oldest and largest first. */
  readonly #estimates: { readonly at: number; readonly count: number }[] = [];

  /** `windowMs` and `requests` are the configured rate. */
  constructor(windowMs: number, requests: number) {
    this.#windowMs = windowMs;
    this.#requests = requests;
  }

  answered(at: number): void {
    const last = this.#groups.at(-1);
    if (last && at - last.from < GROUP_MS) last.until = at;
    else this.#groups.push({ from: at, until: at, before: this.#answers });
    this.#answers += 1;
    const old = this.#firstAfter(at - 2 * this.#longestWindow());
    // Many at once, because removing the first element of an array moves all others.
    if (old > this.#groups.length / 2) this.#groups.splice(0, old);
  }

  observe({ now, sentAt, used, inFlight, limit }: LimitObservation): void {
    const since = sentAt - this.#serviceWindow(limit);
    const count = Math.max(0, used - inFlight - this.#answeredSince(since));
    while (this.#estimates.length > 0 && this.#estimates.at(-1)!.count <= count) this.#estimates.pop();
    this.#estimates.push({ at: now, count });
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

  /** Own requests answered after `time`, plus at most one group that began before it. */
  #answeredSince(time: number): number {
    const first = this.#groups[this.#firstAfter(time)];
    return first ? this.#answers - first.before : 0;
  }

  /** Index of the first group that ended after `time`. */
  #firstAfter(time: number): number {
    let from = 0;
    let to = this.#groups.length;
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      if (this.#groups[middle]!.until > time) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  /** If the configured rate is below the service's limit, its window may differ from the service's window. */
  #serviceWindow(limit: number): number {
    return this.#requests >= limit ? this.#windowMs : this.#longestWindow();
  }

  #longestWindow(): number {
    return Math.max(this.#windowMs, LIMITS.windowSeconds * 1000);
  }
}
