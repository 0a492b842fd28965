import { setMaxListeners } from 'node:events';
import Bottleneck from 'bottleneck';
import type { Clock } from '../clock.ts';
import { HEADERS } from './contract.ts';
import { ForeignUse } from './foreign-use.ts';
import type { RateHistory } from './rate-history.ts';
import { backoff, backoffCeiling } from './retry.ts';

/** So many requests in any stretch of so many seconds. */
export interface Rate {
  readonly requests: number;
  readonly seconds: number;
}

export interface LimiterOptions {
  readonly rate: Rate;
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

export interface Waiting {
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
  waiting(): Waiting | undefined;
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

/** A limiter for this process alone. */
export function createLimiter(options: LimiterOptions): Limiter {
  return new LocalLimiter(options);
}

/**
 * A token comes back one window after the *answer* to the request that took it: whatever lies in the service's window is
 * either in flight or was answered less than a window ago, so what goes out can never be too much, however long requests
 * take on their way.
 */
class LocalLimiter implements Limiter {
  readonly #options: LimiterOptions;
  readonly #windowMs: number;
  readonly #foreign: ForeignUse;
  readonly #stopped = new AbortController();
  /** When tokens come back, by the monotonic clock; the soonest first. */
  readonly #returns: number[] = [];
  #returning = false;
  #inFlight = 0;
  #taken = 0;
  /** Tokens in circulation: free, taken, or on their way back. */
  #allowed: number;
  #serviceLimit = Infinity;

  #pausedUntil = 0;
  #pausedAt = 0;
  /** Pauses in a row that did not help. */
  #refusals = 0;
  #probe: Promise<void> | undefined;
  #minTime = 0;

  #bottleneck: Bottleneck | undefined;
  #ready: Promise<Bottleneck>;
  /** Wall clock minus monotonic clock. */
  #offset: number;

  constructor(options: LimiterOptions) {
    const { rate, clock, history } = options;
    this.#options = options;
    this.#windowMs = rate.seconds * 1000;
    this.#foreign = new ForeignUse(this.#windowMs, rate.requests);
    this.#allowed = this.#allowance();
    this.#minTime = this.#distance();
    this.#offset = clock.wall() - clock.monotonic();
    setMaxListeners(0, this.#stopped.signal);
    for (const age of history?.recent(this.#windowMs) ?? []) this.#comesBack(clock.monotonic() - age);
    this.#bottleneck = this.#build();
    this.#ready = Promise.resolve(this.#bottleneck);
  }

  schedule<T>(job: () => Promise<T>, { signal, mayStart }: TurnOptions = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const withdraw = (): void => reject(new NotSent());
      if (signal?.aborted) return withdraw();
      signal?.addEventListener('abort', withdraw, { once: true });
      const start = async (): Promise<void> => {
        this.#taken += 1;
        const probed = await this.#open();
        signal?.removeEventListener('abort', withdraw);
        if (signal?.aborted || this.#stopped.signal.aborted || mayStart?.() === false) {
          this.#taken -= 1;
          this.#give(1);
          withdraw();
        } else {
          await this.#run(job).then(resolve, reject);
        }
        probed?.();
      };
      this.#admit(start).catch(withdraw);
    });
  }

  refused(retryAfterMs: number | undefined, sentAt: number): void {
    if (sentAt >= this.#pausedAt || this.#refusals === 0) {
      this.#refusals += 1;
      this.#pausedAt = this.#options.clock.monotonic();
    }
    const wait = (retryAfterMs ?? backoffCeiling(this.#refusals)) + backoff(this.#refusals);
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#options.clock.monotonic() + wait);
    this.#adjust();
  }

  observe(status: number, headers: Readonly<Record<string, string>>, sentAt: number): void {
    if (status !== 429 && sentAt >= this.#pausedAt) this.#refusals = 0;
    const limit = readCount(headers[HEADERS.limit]);
    const remaining = readCount(headers[HEADERS.remaining]);
    if (limit === undefined || limit === 0) return;
    this.#serviceLimit = limit;
    if (remaining !== undefined) {
      this.#foreign.observe({
        now: this.#options.clock.monotonic(),
        sentAt,
        used: limit - remaining,
        inFlight: this.#inFlight,
        limit,
      });
    }
    this.#adjust();
  }

  waiting(): Waiting | undefined {
    const now = this.#options.clock.monotonic();
    if (this.#pausedUntil > now) return { reason: 'rate_limited', nextInMs: this.#pausedUntil - now };
    const next = this.#returns[0];
    if (next === undefined || this.#allowed - this.#taken - this.#returns.length > 0) return undefined;
    return { reason: 'rate', nextInMs: Math.max(0, next - now) };
  }

  stats(): LimiterStats {
    const foreign = this.#foreign.estimate(this.#options.clock.monotonic());
    return { allowed: this.#allowed, foreign, inFlight: this.#inFlight };
  }

  get stopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  async stop(): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort();
    await (await this.#ready).stop({ dropWaitingJobs: true });
  }

  async #run<T>(job: () => Promise<T>): Promise<T> {
    const { clock, history } = this.#options;
    this.#inFlight += 1;
    history?.sent();
    try {
      return await job();
    } finally {
      this.#inFlight -= 1;
      this.#taken -= 1;
      history?.answered();
      this.#comesBack(clock.monotonic());
      this.#renewIfClockWasSetBack();
    }
  }

  /** Waits while the key is paused. After a 429 the first to pass goes alone: it must call what it is given when it is back. */
  async #open(): Promise<(() => void) | undefined> {
    const { clock } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const wait = this.#pausedUntil - clock.monotonic();
      if (wait > 0) await clock.sleep(wait, signal);
      else if (this.#probe) await this.#probe;
      else if (this.#refusals > 0) return this.#beginProbe();
      else return undefined;
    }
    return undefined;
  }

  #beginProbe(): () => void {
    let end: () => void = () => undefined;
    this.#probe = new Promise((resolve) => {
      end = () => {
        this.#probe = undefined;
        resolve();
      };
    });
    return end;
  }

  #comesBack(answeredAt: number): void {
    this.#foreign.answered(answeredAt);
    this.#returns.push(answeredAt + this.#windowMs + MARGIN_MS);
    if (!this.#returning) void this.#returnTokens();
  }

  async #returnTokens(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopped;
    this.#returning = true;
    while (this.#returns.length > 0 && !signal.aborted) {
      await clock.sleep(this.#returns[0]! - clock.monotonic(), signal);
      this.#renewIfClockWasSetBack();
      while (this.#returns.length > 0 && this.#returns[0]! <= clock.monotonic()) {
        this.#returns.shift();
        this.#give(1);
      }
      this.#adjust();
    }
    this.#returning = false;
  }

  #allowance(): number {
    const { rate, reserve, clock } = this.#options;
    const withheld = Math.max(reserve, this.#foreign.withhold(clock.monotonic()));
    return Math.max(1, Math.min(rate.requests, this.#serviceLimit) - withheld);
  }

  #adjust(): void {
    const allowed = this.#allowance();
    this.#give(allowed - this.#allowed);
    this.#allowed = allowed;
    const minTime = this.#distance();
    if (minTime === this.#minTime) return;
    this.#minTime = minTime;
    void this.#bottleneck?.updateSettings({ minTime });
  }

  /**
   * Milliseconds between requests at least. Bursts are harmless while the key is ours alone; they starve others and hide
   * them, as what is in flight may be either's.
   */
  #distance(): number {
    const { rate, reserve, clock } = this.#options;
    const isShared = reserve > 0 || this.#refusals > 0 || this.#foreign.estimate(clock.monotonic()) > 0;
    return isShared ? (PACE * this.#windowMs) / Math.min(rate.requests, this.#serviceLimit) : 0;
  }

  #give(tokens: number): void {
    if (tokens !== 0) void this.#bottleneck?.incrementReservoir(tokens);
  }

  /** A bottleneck that was renewed drops what waited in it: that waits in the next one. */
  async #admit(start: () => Promise<void>): Promise<void> {
    for (;;) {
      const bottleneck = await this.#ready;
      try {
        return await bottleneck.schedule(start);
      } catch (error) {
        if (this.#stopped.signal.aborted || bottleneck === this.#bottleneck) throw error;
      }
    }
  }

  #build(): Bottleneck {
    const reservoir = this.#allowed - this.#taken - this.#returns.length;
    return new Bottleneck({ reservoir, maxConcurrent: this.#options.concurrency, minTime: this.#minTime });
  }

  /**
   * Bottleneck lets no job start before the last one did, by the wall clock: an hour set back would be an hour's
   * standstill. So a new one takes over as soon as what is in flight has ended.
   */
  #renewIfClockWasSetBack(): void {
    const { clock } = this.#options;
    const offset = clock.wall() - clock.monotonic();
    const setBack = this.#offset - offset;
    this.#offset = offset;
    const old = this.#bottleneck;
    if (setBack < 1_000 || !old || this.#stopped.signal.aborted) return;
    this.#bottleneck = undefined;
    this.#ready = old.stop({ dropWaitingJobs: true }).then(() => (this.#bottleneck = this.#build()));
  }
}

/** A count as the rate-limit headers give it; undefined where it is none. */
export function readCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+\s*$/.test(text) ? Number(text) : undefined;
}
