import { LIMITS } from './contract.ts';

export interface LimitObservation {
  /** Monotonic milliseconds: when the answer came, and when its request went out. */
  readonly now: number;
  readonly sentAt: number;
  /** Requests that the service counts in its window: limit less remaining. */
  readonly used: number;
  /** Own requests in flight, the answered one included. */
  readonly inFlight: number;
  /** X-RateLimit-Limit. */
  readonly limit: number;
}

/** Answers this close together are one moment: thousands a second, each kept for two minutes, would take megabytes. */
const MOMENT_MS = 10;

/** Own answers between two times. */
interface AnswerGroup {
  readonly from: number;
  until: number;
  /** How many came before. */
  readonly before: number;
}

/**
 * How many requests others make on the same key. Of what the service counts, everything that may be our own is taken
 * off: what is in flight, and what was answered since a window before the request went out. What is left is a lower
 * bound, so the largest one of the last window holds.
 */
export class ForeignUse {
  readonly #windowMs: number;
  readonly #requests: number;
  /** Own answers, oldest first. */
  readonly #groups: AnswerGroup[] = [];
  #answers = 0;
  /** Estimates that none after them exceeds, oldest and largest first. */
  readonly #estimates: { readonly at: number; readonly count: number }[] = [];

  /** The rate this program was told to keep. */
  constructor(windowMs: number, requests: number) {
    this.#windowMs = windowMs;
    this.#requests = requests;
  }

  answered(at: number): void {
    const last = this.#groups.at(-1);
    if (last && at - last.from < MOMENT_MS) last.until = at;
    else this.#groups.push({ from: at, until: at, before: this.#answers });
    this.#answers += 1;
    const old = this.#firstAfter(at - 2 * this.#longestWindow());
    // All at once and seldom: taking the first of a long list off moves all others.
    if (old > this.#groups.length / 2) this.#groups.splice(0, old);
  }

  observe({ now, sentAt, used, inFlight, limit }: LimitObservation): void {
    const since = sentAt - this.#serviceWindow(limit);
    const count = Math.max(0, used - inFlight - this.#answeredSince(since));
    while (this.#estimates.length > 0 && this.#estimates.at(-1)!.count <= count) this.#estimates.pop();
    this.#estimates.push({ at: now, count });
  }

  /** The largest lower bound of the last window. */
  estimate(now: number): number {
    while (this.#estimates.length > 0 && this.#estimates[0]!.at <= now - this.#windowMs) this.#estimates.shift();
    return this.#estimates[0]?.count ?? 0;
  }

  /** Requests to leave to them: a little more than they are known to make. */
  withhold(now: number): number {
    const foreign = this.estimate(now);
    return foreign === 0 ? 0 : foreign + 1 + Math.ceil(foreign / 10);
  }

  /** How many own requests were answered after that time, and at most those of one moment before it. */
  #answeredSince(time: number): number {
    const first = this.#groups[this.#firstAfter(time)];
    return first ? this.#answers - first.before : 0;
  }

  /** Where the moments begin that did not end before that time. */
  #firstAfter(time: number): number {
    let from = 0;
    for (let to = this.#groups.length; from < to;) {
      const middle = (from + to) >>> 1;
      if (this.#groups[middle]!.until > time) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  /** Who allows himself less than the service does may have meant another window than the service's own. */
  #serviceWindow(limit: number): number {
    return this.#requests >= limit ? this.#windowMs : this.#longestWindow();
  }

  #longestWindow(): number {
    return Math.max(this.#windowMs, LIMITS.windowSeconds * 1000);
  }
}
