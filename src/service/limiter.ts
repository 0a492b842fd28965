import PQueue from 'p-queue';
import type { Clock } from '../clock.ts';
import { requestsLeft, within, type Rate } from '../rate.ts';
import { HEADERS, LIMITS, type AnswerHeaders } from '../contract.ts';
import {
  ForeignUse,
  longestWindow,
  recentAnswers,
  windowOf,
  type RateHistory,
  type RecentAnswers,
} from './recent-answers.ts';
import { backoff, backoffCeiling, keptPause } from './retry.ts';
import { TokenWindow, type Allowance } from './token-window.ts';

export interface LimiterOptions {
  readonly rate: Rate;
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly history?: RateHistory;
  /** Called with what the user should know about the limit. */
  readonly notify?: (message: string) => void;
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
  /** `rate`: the window is full. `rate_limited`: the service answered 429. */
  readonly reason: 'rate' | 'rate_limited';
  readonly nextInMs: number;
}

/** The request was withdrawn before its turn came, so it was not sent. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
}

/** While others use the API key, requests are at least this fraction of the even interval apart. */
const PACE = 0.5;
/** Fewer requests may be our own: of `explain --live` or a dry run beside this run. */
const FEWEST_OTHERS = 10;
/** How soon it is noticed that others have stopped. */
const FOLLOW_MS = 1_000;

/**
 * One per API key. Enforces a strict sliding window (service interface, section 8), and honours `Retry-After`. Requests
 * wait in a p-queue, which pauses until a token is available for its head.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #window: TokenWindow;
  readonly #answers: RecentAnswers;
  readonly #foreign: ForeignUse;
  readonly #queue: PQueue;
  readonly #stopping = new AbortController();
  readonly #unfollow: () => void;
  /** Tokens for the requests that are first in the queue. */
  #tokens = 0;
  #isFetching = false;
  /** X-RateLimit-Limit. */
  #limit: number | undefined;
  /** Others were seen. */
  #isShared = false;
  #pausedUntil = 0;
  #refusedAt = 0;
  /** Consecutive pauses that did not help. */
  #refusals = 0;

  constructor(options: LimiterOptions) {
    const { rate, concurrency, clock } = options;
    this.#options = options;
    this.#answers = recentAnswers(options);
    this.#window = new TokenWindow(clock, this.#answers);
    this.#foreign = new ForeignUse(longestWindow(rate) * 1000);
    this.#limit = options.history?.limit;
    this.#pausedUntil = clock.monotonic() + keptPause(options.history?.pauseMs ?? 0);
    this.#queue = new PQueue({ concurrency, autoStart: false });
    this.#queue.on('next', () => void this.#fetch());
    this.#unfollow = clock.every(FOLLOW_MS, () => this.#adjust());
    this.#adjust();
  }

  get stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** The last value of X-RateLimit-Limit; undefined if no answer had it. */
  get limit(): number | undefined {
    return this.#limit;
  }

  /**
   * Runs `job` when its turn comes. A job makes exactly one request, so every retry is scheduled separately. Rejects
   * with `NotSent` if the job is withdrawn or the limiter is stopped before that.
   */
  schedule<T>(job: () => Promise<T>, { signal, mayStart = () => true, place = 0 }: TurnOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // Not by a signal of p-queue, which would also give up a request that is on its way.
      const withdraw = (): void => reject(new NotSent());
      if (signal?.aborted || this.stopped) return withdraw();
      signal?.addEventListener('abort', withdraw, { once: true });
      const run = async (): Promise<void> => {
        signal?.removeEventListener('abort', withdraw);
        if (signal?.aborted || this.stopped || !mayStart()) return withdraw();
        await this.#send(job).then(resolve, reject);
        // The caller handles the answer first: it may mean that nothing else may be sent.
        await new Promise(setImmediate);
      };
      void this.#queue.add(run, { priority: -place });
      void this.#fetch();
    });
  }

  /**
   * A request sent at `sentAt` (monotonic) was answered 429. All requests wait at least as long as the service asks,
   * and longer after each consecutive pause that did not help (section 7.2). Then a single request is sent as a probe.
   */
  refused(retryAfterMs: number | undefined, sentAt: number): void {
    const now = this.#options.clock.monotonic();
    if (sentAt >= this.#refusedAt || this.#refusals === 0) {
      this.#refusals += 1;
      this.#refusedAt = now;
    }
    const wait = (retryAfterMs ?? backoffCeiling(this.#refusals)) + backoff(this.#refusals);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + wait);
    this.#options.history?.pause(this.#pausedUntil - now);
    this.#adjust();
  }

  /**
   * Processes the headers (section 8) of the answer to a request sent at `sentAt` (monotonic), while that request still
   * counts as in flight. X-RateLimit-Reset is ignored: its unit and clock are not known for certain.
   */
  observe(status: number, headers: AnswerHeaders, sentAt: number): void {
    if (status !== 429 && sentAt >= this.#refusedAt) this.#refusals = 0;
    const limit = readCount(headers[HEADERS.limit]);
    const remaining = readCount(headers[HEADERS.remaining]);
    if (limit) {
      if (limit !== this.#limit) this.#options.history?.limitIs(limit);
      this.#limit = limit;
      if (remaining !== undefined) this.#lookForOthers(limit, limit - remaining, sentAt);
    }
    this.#adjust();
  }

  /** Why nothing is being sent at the moment; undefined if requests can be sent. */
  waiting(): LimiterWait | undefined {
    const pause = this.#pausedUntil - this.#options.clock.monotonic();
    if (pause > 0) return { reason: 'rate_limited', nextInMs: pause };
    const nextInMs = this.#window.waitMs();
    return nextInMs === undefined ? undefined : { reason: 'rate', nextInMs };
  }

  /** Withdraws waiting requests; resolves when the requests in flight have ended. */
  async stop(): Promise<void> {
    if (this.stopped) return;
    this.#stopping.abort();
    this.#unfollow();
    this.#queue.concurrency = Infinity;
    this.#queue.start();
    await this.#queue.onIdle();
    await this.#window.stop();
  }

  /** Gets tokens while requests wait. The requests at the head of the queue take them. */
  async #fetch(): Promise<void> {
    if (this.#isFetching) return;
    this.#isFetching = true;
    const wanted = (): number => Math.min(this.#queue.size, this.#queue.concurrency - this.#queue.pending);
    while (wanted() > 0 && !this.stopped) {
      this.#tokens = await this.#take(wanted());
      if (this.#tokens > 0) this.#queue.start();
      this.#queue.pause();
      // Some requests were withdrawn meanwhile.
      this.#window.giveBack(this.#tokens);
      this.#tokens = 0;
    }
    this.#isFetching = false;
  }

  /** The number of tokens, at most `wanted`; 0 when something may have changed. */
  async #take(wanted: number): Promise<number> {
    const { clock } = this.#options;
    const paused = this.#pausedUntil - clock.monotonic();
    if (paused > 0) {
      await clock.sleep(paused, this.#stopping.signal);
      return 0;
    }
    this.#adjust();
    const { requests } = this.#allowance();
    const tokens = await this.#window.take(wanted);
    if (this.#pausedUntil <= clock.monotonic() && this.#allowance().requests >= requests) return tokens;
    // They were granted before a pause, or before less was allowed.
    this.#window.giveBack(tokens);
    return 0;
  }

  async #send<T>(job: () => Promise<T>): Promise<T> {
    this.#tokens -= 1;
    if (this.#tokens === 0) this.#queue.pause();
    // So that a run within a window of this one, even if this one is killed, does not send another full burst.
    const answered = this.#options.history?.send();
    try {
      return await job();
    } finally {
      this.#answers.add(this.#options.clock.monotonic());
      this.#window.giveBack(1);
      answered?.();
    }
  }

  /** `used`: how many requests the service counted when it answered the one sent at `sentAt`. */
  #lookForOthers(limit: number, used: number, sentAt: number): void {
    const { rate, clock } = this.#options;
    // A rate other than the service's limit may have another window than the service.
    const windowMs = (rate.requests === limit ? rate.seconds : longestWindow(rate)) * 1000;
    const now = clock.monotonic();
    this.#foreign.observe(now, used - this.#window.own(now - sentAt + windowMs));
    this.#nameOthers(limit, now);
  }

  /** Reported once, also during a survey: it is the reason for the waiting. */
  #nameOthers(limit: number, now: number): void {
    const requests = this.#foreign.estimate(now);
    if (this.#isShared || requests < FEWEST_OTHERS) return;
    this.#isShared = true;
    this.#options.notify?.(`others use this key: about ${requests} of ${limit} requests; this run uses the rest`);
  }

  #adjust(): void {
    if (this.stopped) return;
    this.#queue.concurrency = this.#refusals > 0 ? 1 : this.#options.concurrency;
    this.#window.allow(this.#allowance());
  }

  #allowance(): Allowance {
    const { rate, clock } = this.#options;
    const now = clock.monotonic();
    const withheld = this.#foreign.withhold(now);
    // Bursts are harmless while nobody else uses the API key; otherwise they would starve the others and make their
    // requests hard to detect.
    const isAlone = this.#refusals === 0 && this.#foreign.estimate(now) === 0;
    const own = within(this.#limit, rate);
    const limit = this.#limit === undefined ? {} : { limit: this.#limit };
    // A shorter window than the service's is kept by the distance of requests: the service's own is beside it, or not known yet.
    const isShort = own.seconds > rate.seconds ? rate.requests < own.requests : this.#limit === undefined;
    const leastMs = isShort && rate.seconds < LIMITS.windowSeconds ? windowOf(rate) / rate.requests : 0;
    return {
      requests: requestsLeft(own, { ...limit, withheld }),
      windowMs: windowOf(own),
      distanceMs: isAlone ? leastMs : Math.max(leastMs, (PACE * own.seconds * 1000) / requestsLeft(own, limit)),
    };
  }
}

/** A count from a rate-limit header, the first of several (`20, 20;w=5`); undefined if it is absent or not a whole number. */
function readCount(text: string | undefined): number | undefined {
  const [, count] = /^\s*(\d+)\s*(?:[,;].*)?$/.exec(text ?? '') ?? [];
  return count === undefined ? undefined : Number(count);
}
