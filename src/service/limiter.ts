import type { Clock } from '../clock.ts';
import type { RateHistory } from './rate-history.ts';

/** So many requests in any stretch of so many seconds. */
export interface RequestRate {
  readonly requests: number;
  readonly seconds: number;
}

export interface LimiterOptions {
  readonly rate: RequestRate;
  /** Requests of each window left to other users of the key. */
  readonly reserve: number;
  /** Most requests in flight. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly history?: RateHistory;
}

export interface TurnOptions {
  /** Aborted: what waits for its turn gives it up at once. */
  readonly signal?: AbortSignal;
  /** Asked when the turn has come; false gives it up. */
  readonly mayStart?: () => boolean;
}

export interface LimiterWait {
  /** `rate`: the window is spent. `rate_limited`: the service answered 429. `redis`: the shared limit is out of reach. */
  readonly reason: 'rate' | 'rate_limited' | 'redis';
  readonly nextInMs: number;
}

export interface LimiterStats {
  /** Requests a window that this program allows itself now. */
  readonly allowed: number;
  /** Requests of the last window that others on the same key made at least, as far as the headers tell. */
  readonly foreign: number;
  readonly inFlight: number;
}

/** One per API key. Keeps a strict sliding window (service interface, section 8) and its service's time to wait. */
export interface Limiter {
  readonly stopped: boolean;
  /**
   * Runs `job`, which makes exactly one request, when its turn comes; every attempt is a job of its own. Rejects with
   * `NotSent` if it is withdrawn, or the limiter stopped, before that.
   */
  schedule<T>(job: () => Promise<T>, options?: TurnOptions): Promise<T>;
  /**
   * A request sent at `sentAt` (monotonic) was answered 429. All wait at least as long as the service says, longer with
   * every pause in a row that did not help (section 7.2), and then one goes first, alone.
   */
  refused(retryAfterMs: number | undefined, sentAt: number): void;
  /**
   * Takes in the headers of an answer (section 8) to a request sent at `sentAt` (monotonic), while that request still
   * counts as in flight. X-RateLimit-Reset is not looked at: its unit and clock are not known for sure.
   */
  observe(status: number, headers: Readonly<Record<string, string>>, sentAt: number): void;
  /** Why nothing goes out at the moment, if so. */
  waiting(): LimiterWait | undefined;
  stats(): LimiterStats;
  /** What waits is not sent any more; resolves when what is in flight has ended. */
  stop(): Promise<void>;
}

/** The run stopped before the request's turn came: it was not sent. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
}

/** Of the even distance between requests, what is kept to at least while others use the key. */
export const PACE = 0.5;

/** Answers on a local clock are never later than they really came; timers and server clocks may be a little off. */
export const MARGIN_MS = 25;

/** A count as the rate-limit headers give it; undefined where it is none. */
export function readCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+\s*$/.test(text) ? Number(text) : undefined;
}
