import type { Clock } from '../clock.ts';
import type { Rate } from '../timetable.ts';
import type { RateHistory } from './rate-history.ts';

export interface LimiterOptions {
  /** Followed while requests are sent: hours begin and end by the wall clock. */
  readonly rate: Rate;
  /** Requests per window left for other users of the API key. */
  readonly reserve: number;
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly history?: RateHistory;
}

export interface TurnOptions {
  /** When aborted, a request waiting for its turn is withdrawn. */
  readonly signal?: AbortSignal;
  /** Called when the turn has come; false withdraws the request. */
  readonly mayStart?: () => boolean;
  /** Of the requests that wait for their turn, the one with the lowest place goes first; of equal ones, the first. */
  readonly place?: number;
}

export interface LimiterWait {
  /**
   * `rate`: the window is full. `rate_limited`: the service answered 429. `redis`: the Redis server cannot be reached.
   */
  readonly reason: 'rate' | 'rate_limited' | 'redis';
  readonly nextInMs: number;
}

export interface LimiterStats {
  /** Requests per window that this process currently allows itself. */
  readonly allowed: number;
  /** Lower bound of the requests that other users of the API key made in the last window, from the response headers. */
  readonly foreign: number;
  readonly inFlight: number;
}

/** One per API key. Enforces a strict sliding window (service interface, section 8) and honours `Retry-After`. */
export interface Limiter {
  readonly stopped: boolean;
  /**
   * Runs `job` when its turn comes. A job makes exactly one request, so every retry is scheduled separately. Rejects
   * with `NotSent` if the job is withdrawn or the limiter is stopped before that.
   */
  schedule<T>(job: () => Promise<T>, options?: TurnOptions): Promise<T>;
  /**
   * A request sent at `sentAt` (monotonic) was answered 429. All requests wait at least as long as the service asks,
   * and longer after each consecutive pause that did not help (section 7.2). Then a single request is sent as a probe.
   */
  refused(retryAfterMs: number | undefined, sentAt: number): void;
  /**
   * Processes the headers (section 8) of the answer to a request sent at `sentAt` (monotonic), while that request still
   * counts as in flight. X-RateLimit-Reset is ignored: its unit and clock are not known for certain.
   */
  observe(status: number, headers: Readonly<Record<string, string>>, sentAt: number): void;
  /** Why nothing is being sent at the moment; undefined if requests can be sent. */
  waiting(): LimiterWait | undefined;
  stats(): LimiterStats;
  /** Withdraws waiting requests; resolves when the requests in flight have ended. */
  stop(): Promise<void>;
}

/** The request was withdrawn before its turn came, so it was not sent. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
}

/** While others use the API key, requests are at least this fraction of the even interval apart. */
export const PACE = 0.5;

/** Added to each window, because timers and the server's clock may be slightly off. */
export const MARGIN_MS = 25;

/** A count from a rate-limit header; undefined if it is absent or not a whole number. */
export function readCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+\s*$/.test(text) ? Number(text) : undefined;
}
