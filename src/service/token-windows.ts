import type { Clock } from '../clock.ts';
import { quotasAt, quotasOf, type Rate } from '../timetable.ts';
import { MARGIN_MS, PACE } from './limiter.ts';
import { TokenReturns } from './token-returns.ts';

/** A quota that holds at present, by `--rate` and by the service. */
interface HeldQuota {
  /** All tokens: free, in use, or not returned yet. */
  readonly allowed: number;
  /** Interval between requests while others use the API key. */
  readonly paceMs: number;
  /** Of its window. */
  readonly returns: TokenReturns;
}

/**
 * The tokens of all windows of `--rate`. Each window has its own record of the answers, kept at all times: when a quota
 * begins to hold, the requests sent before it count as far as they are younger than its window.
 */
export class TokenWindows {
  readonly #rate: Rate;
  readonly #clock: Clock;
  /** By the seconds of the window. */
  readonly #returns: ReadonlyMap<number, TokenReturns>;
  #held: readonly HeldQuota[] = [];

  /** `onReturn` is called after tokens have been returned; nothing is returned after `signal` is aborted. */
  constructor(rate: Rate, clock: Clock, signal: AbortSignal, onReturn: () => void) {
    this.#rate = rate;
    this.#clock = clock;
    this.#returns = new Map(quotasOf(rate).map(({ seconds }) => [seconds, new TokenReturns(clock, signal, onReturn)]));
  }

  /** Applies the quotas that hold now, at most `limit` requests per window, less those withheld from it for others. */
  hold(limit: number, withheld: number): void {
    this.#held = quotasAt(this.#rate, this.#clock.wall()).map(({ requests, seconds }) => {
      const most = Math.min(requests, limit);
      return {
        allowed: Math.max(1, most - withheld),
        paceMs: (PACE * seconds * 1000) / most,
        returns: this.#returns.get(seconds)!,
      };
    });
  }

  /** A request was answered at `at` (monotonic), which must not be earlier than the answer before. */
  answered(at: number): void {
    for (const [seconds, returns] of this.#returns) returns.add(at + seconds * 1000 + MARGIN_MS);
  }

  /** Requests per window; the lowest number if several quotas hold. */
  get allowed(): number {
    return Math.min(...this.#held.map((each) => each.allowed));
  }

  /** Minimum interval between requests while others use the API key, in milliseconds. */
  get paceMs(): number {
    return Math.max(...this.#held.map((each) => each.paceMs));
  }

  /** Tokens that are free or in use; negative if more requests are in a window than are allowed now. */
  get left(): number {
    return Math.min(...this.#held.map(({ allowed, returns }) => allowed - returns.size));
  }

  /** When a window that is full with `inUse` tokens in use gets its next token back, by the monotonic clock. */
  next(inUse: number): number | undefined {
    const full = this.#held.filter(({ allowed, returns }) => allowed - returns.size <= inUse);
    const next = full.flatMap(({ returns }) => returns.next ?? []);
    return next.length === 0 ? undefined : Math.max(...next);
  }
}
