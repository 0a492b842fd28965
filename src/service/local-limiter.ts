import Bottleneck from 'bottleneck';
import { SmallSet } from '../small-set.ts';
import { longestSeconds, mostRequests } from '../timetable.ts';
import { HEADERS } from './contract.ts';
import { ForeignUse } from './foreign-use.ts';
import {
  readCount,
  type Limiter,
  type LimiterOptions,
  type LimiterStats,
  type TurnOptions,
  type LimiterWait,
} from './limiter.ts';
import { backoff, backoffCeiling } from './retry.ts';
import { TokenWindows } from './token-windows.ts';
import { TurnQueue, type Turn } from './turn-queue.ts';

/** The share of the free tokens taken along with each token, since a bottleneck job takes several milliseconds. */
const BATCH_SHARE = 0.01;
/** How soon a higher rate is noticed when its hours begin. */
const FOLLOW_MS = 1_000;

/** A limiter for this process alone. */
export function createLimiter(options: LimiterOptions): Limiter {
  return new LocalLimiter(options);
}

/**
 * A request needs a token, which is returned one window after the *answer*. Every request in the service's window is
 * either in flight or was answered less than a window ago, so the limit is never exceeded, however long requests take.
 *
 * Bottleneck issues the tokens at the current pace; a request is sent when a token is available.
 */
class LocalLimiter implements Limiter {
  readonly #options: LimiterOptions;
  readonly #foreign: ForeignUse;
  readonly #stopped = new AbortController();
  readonly #queue = new TurnQueue(this.#stopped.signal);
  readonly #running = new SmallSet<Promise<void>>();
  /** Tokens issued by bottleneck that no request has used yet. */
  #available = 0;
  #isFetching = false;
  #inFlight = 0;
  readonly #windows: TokenWindows;
  /** Free tokens that bottleneck has been given. */
  #filled = 0;
  #serviceLimit = Infinity;

  #pausedUntil = 0;
  #pausedAt = 0;
  #isWaking = false;
  /** Consecutive pauses that did not help. */
  #refusals = 0;
  /** After a 429, a single request is sent first. */
  #isProbing = false;
  #minTime: number;

  #bottleneck: Bottleneck;
  /** Wall clock minus monotonic clock. */
  #clockOffset: number;
  #unfollow: () => void = () => undefined;

  constructor(options: LimiterOptions) {
    const { rate, clock, history } = options;
    this.#options = options;
    this.#foreign = new ForeignUse(longestSeconds(rate) * 1000, mostRequests(rate));
    this.#windows = new TokenWindows(rate, clock, this.#stopped.signal, () => {
      this.#renewIfClockWasSetBack();
      this.#adjust();
    });
    this.#hold();
    this.#minTime = this.#interval();
    this.#clockOffset = clock.wall() - clock.monotonic();
    for (const age of history?.recent(longestSeconds(rate) * 1000) ?? []) this.#answered(clock.monotonic() - age);
    this.#bottleneck = this.#build();
    if (rate.hours) this.#unfollow = clock.every(FOLLOW_MS, () => this.#adjust());
  }

  get stopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  schedule<T>(job: () => Promise<T>, options?: TurnOptions): Promise<T> {
    const ended = this.#queue.wait(() => this.#run(job), options);
    this.#advance();
    return ended;
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

  waiting(): LimiterWait | undefined {
    const now = this.#options.clock.monotonic();
    if (this.#pausedUntil > now) return { reason: 'rate_limited', nextInMs: this.#pausedUntil - now };
    if (this.#free() + this.#available > 0) return undefined;
    const next = this.#windows.next(this.#inFlight);
    return next === undefined ? undefined : { reason: 'rate', nextInMs: Math.max(0, next - now) };
  }

  stats(): LimiterStats {
    const foreign = this.#foreign.estimate(this.#options.clock.monotonic());
    return { allowed: this.#windows.allowed, foreign, inFlight: this.#inFlight };
  }

  async stop(): Promise<void> {
    if (this.stopped) return;
    this.#stopped.abort();
    this.#unfollow();
    await Promise.all([this.#bottleneck.stop({ dropWaitingJobs: true }), ...this.#running]);
  }

  /** Starts every request that may start. Called whenever that may have changed. */
  #advance(): void {
    // Hours with a lower rate hold from their first instant.
    if (this.#options.rate.hours) this.#adjust();
    for (let turn = this.#queue.first; turn; turn = this.#queue.first) {
      if (this.#isProbing || this.#inFlight >= this.#options.concurrency) break;
      if (this.#pausedUntil > this.#options.clock.monotonic()) {
        void this.#wake();
        break;
      }
      if (this.#available === 0) {
        this.#fetch();
        break;
      }
      if (turn.mayStart()) this.#start(turn);
      else turn.withdraw();
    }
    // A token kept for later would let two requests out too close to each other.
    if (this.#isPaced()) this.#putBack();
  }

  #start(turn: Turn): void {
    this.#available -= 1;
    const isProbe = this.#refusals > 0;
    if (isProbe) this.#isProbing = true;
    const running = turn.run().then(() => {
      this.#running.delete(running);
      if (isProbe) this.#isProbing = false;
      // The caller handles the answer first: it may mean that nothing else may be sent.
      setImmediate(() => this.#advance());
    });
    this.#running.add(running);
  }

  async #run<T>(job: () => Promise<T>): Promise<T> {
    const { clock, history } = this.#options;
    this.#inFlight += 1;
    history?.sent();
    try {
      return await job();
    } finally {
      this.#inFlight -= 1;
      history?.answered();
      this.#answered(clock.monotonic());
      this.#renewIfClockWasSetBack();
    }
  }

  async #wake(): Promise<void> {
    if (this.#isWaking) return;
    this.#isWaking = true;
    const { clock } = this.#options;
    const left = (): number => this.#pausedUntil - clock.monotonic();
    while (left() > 0 && !this.stopped) await clock.sleep(left(), this.#stopped.signal);
    this.#isWaking = false;
    this.#advance();
  }

  /** Gets one token from bottleneck, and more with it if many are free. */
  #fetch(): void {
    this.#renewIfClockWasSetBack();
    if (this.#isFetching) return;
    this.#isFetching = true;
    const bottleneck = this.#bottleneck;
    const isCurrent = (): boolean => bottleneck === this.#bottleneck && !this.stopped;
    const granted = async (): Promise<void> => {
      if (!isCurrent()) return;
      this.#isFetching = false;
      this.#available += 1;
      this.#filled -= 1;
      if (!this.#isPaced()) this.#available += Math.max(0, Math.floor(this.#free() * BATCH_SHARE));
      this.#refill();
      this.#advance();
    };
    bottleneck.schedule(granted).catch((error: unknown) => {
      if (isCurrent()) throw error;
    });
  }

  #putBack(): void {
    this.#available = 0;
    this.#refill();
  }

  #answered(at: number): void {
    this.#foreign.answered(at);
    this.#windows.answered(at);
  }

  /** Tokens that bottleneck has not issued. */
  #free(): number {
    return this.#windows.left - this.#available - this.#inFlight;
  }

  #hold(): void {
    const { reserve, clock } = this.#options;
    this.#windows.hold(this.#serviceLimit, Math.max(reserve, this.#foreign.withhold(clock.monotonic())));
  }

  #adjust(): void {
    this.#hold();
    const minTime = this.#interval();
    // A token that bottleneck issued while the limit was higher must not be used.
    if (this.#free() < Math.max(0, this.#filled)) this.#putBack();
    else this.#refill();
    if (minTime === this.#minTime) return;
    this.#minTime = minTime;
    void this.#bottleneck.updateSettings({ minTime });
    if (this.#isPaced()) this.#putBack();
  }

  /**
   * Minimum interval between requests, in milliseconds. Bursts are harmless while nobody else uses the API key;
   * otherwise they would starve the others and make their requests hard to detect.
   */
  #interval(): number {
    const { reserve, clock } = this.#options;
    const isShared = reserve > 0 || this.#refusals > 0 || this.#foreign.estimate(clock.monotonic()) > 0;
    return isShared ? this.#windows.paceMs : 0;
  }

  /** Timers cannot keep an interval of less than a millisecond. */
  #isPaced(): boolean {
    return this.#minTime >= 1;
  }

  #refill(): void {
    const tokens = this.#free() - this.#filled;
    this.#filled += tokens;
    if (tokens !== 0) void this.#bottleneck.incrementReservoir(tokens);
  }

  #build(): Bottleneck {
    this.#filled = this.#free();
    return new Bottleneck({ reservoir: this.#filled, minTime: this.#minTime });
  }

  /**
   * Bottleneck schedules by the wall clock and starts no job before the previous one: if the clock is set back by an
   * hour, it stalls for an hour. A new instance takes over.
   */
  #renewIfClockWasSetBack(): void {
    const { clock } = this.#options;
    const offset = clock.wall() - clock.monotonic();
    const setBack = this.#clockOffset - offset;
    this.#clockOffset = offset;
    if (setBack < 1_000 || this.stopped) return;
    void this.#bottleneck.stop({ dropWaitingJobs: true });
    this.#bottleneck = this.#build();
    this.#isFetching = false;
    this.#advance();
  }
}
