/** The requests of one or several processes that count against the limit of an API key. */

/** What a window allows at present. Times in milliseconds. */
export interface Allowance {
  readonly requests: number;
  readonly windowMs: number;
  /** Minimum interval between requests. */
  readonly distanceMs: number;
}

export interface LimiterWait {
  /** `rate`: the window is full. `rate_limited`: the service answered 429. `redis`: the Redis server cannot be reached. */
  readonly reason: 'rate' | 'rate_limited' | 'redis';
  readonly nextInMs: number;
}

/** The messages between processes that share a window. */
export interface Shared {
  /** The last X-RateLimit-Limit. */
  readonly limit?: number | undefined;
  /** Consecutive pauses after 429s that did not help. */
  readonly refusals?: number;
  /** How much longer nothing is sent. */
  readonly pauseMs?: number;
}

export interface Taken {
  /** None if they must be asked for again. */
  readonly tokens: readonly string[];
  readonly shared?: Shared;
}

/**
 * A strict sliding window of requests. A request holds a token until one window after its *answer*. Every
 * request in the service's window is then in flight or was answered less than a window ago, so the limit is never
 * exceeded, however long requests take.
 */
export interface TokenWindow {
  /** Applies from now on. */
  allow(allowance: Allowance): void;
  /** Resolves when a token is free, with at most `wanted`, or when it is time to ask again. One caller at a time. */
  take(wanted: number): Promise<Taken>;
  /** The request with this token was answered or has failed; or it was not sent, and the token is free at once. */
  giveBack(token: string, isUsed: boolean): void;
  /** The requests of all processes that were in flight or answered in the last `sinceMs` milliseconds. */
  own(sinceMs: number): number | Promise<number>;
  /** Tells the other processes. */
  tell(shared: Shared): void;
  /** Why no token is free at the moment. */
  waiting(): LimiterWait | undefined;
  /** A waiting `take` resolves without a token. */
  stop(): Promise<void>;
}
