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
