import Bottleneck from 'bottleneck';
import { HEADERS } from './contract.ts';
import { ForeignUse } from './foreign-use.ts';
import {
  MARGIN_MS,
  PACE,
  readCount,
  type Limiter,
  type LimiterOptions,
  type LimiterStats,
  type TurnOptions,
  type LimiterWait,
} from './limiter.ts';
import { backoff, backoffCeiling } from './retry.ts';
import { TurnQueue, type Turn } from './turn-queue.ts';

/** Where many tokens are free, this part of them is taken at a time. */
const HANDFUL = 0.01;
/** Tokens that come back within so many milliseconds come back together. */
const RETURN_MS = 5;

/** A limiter for this process alone. */
export function createLimiter(options: LimiterOptions): Limiter {
  return new LocalLimiter(options);
}

/**
 * A token comes back one window after the *answer* to the request that took it: whatever lies in the service's window is
 * either in flight or was answered less than a window ago, so what goes out can never be too much, however long requests
 * take on their way.
 *
 * Bottleneck hands the tokens out, at the pace that holds; a request goes out when there is a token in hand. A job of
 * bottleneck's takes some milliseconds, so where tokens are plenty each brings a handful.
 */
class LocalLimiter implements Limiter {
  readonly #options: LimiterOptions;
  readonly #windowMs: number;
  readonly #foreign: ForeignUse;
  readonly #stopped = new AbortController();
  readonly #queue = new TurnQueue(this.#stopped.signal);
  readonly #running = new Set<Promise<void>>();
  /** Tokens that bottleneck gave, and no request has taken yet. */
  #inHand = 0;
  #isFetching = false;
  #inFlight = 0;
  /** When tokens come back, by the monotonic clock; the soonest first. */
  readonly #returns: number[] = [];
  #isReturning = false;
  /** Tokens in circulation: free, in hand, in flight, or on their way back. */
  #allowed: number;
  #serviceLimit = Infinity;

  #pausedUntil = 0;
  #pausedAt = 0;
  #isWaking = false;
  /** Pauses in a row that did not help. */
  #refusals = 0;
  /** After a 429 one goes first, alone. */
  #isProbing = false;
  #minTime: number;

  #bottleneck: Bottleneck;
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
    for (const age of history?.recent(this.#windowMs) ?? []) this.#comesBack(clock.monotonic() - age);
    this.#bottleneck = this.#build();
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
    const next = this.#returns[0];
    if (next === undefined || this.#free() + this.#inHand > 0) return undefined;
    return { reason: 'rate', nextInMs: Math.max(0, next - now) };
  }

  stats(): LimiterStats {
    const foreign = this.#foreign.estimate(this.#options.clock.monotonic());
    return { allowed: this.#allowed, foreign, inFlight: this.#inFlight };
  }

  async stop(): Promise<void> {
    if (this.stopped) return;
    this.#stopped.abort();
    await Promise.all([this.#bottleneck.stop({ dropWaitingJobs: true }), ...this.#running]);
  }

  /** Starts what may start. Called whenever that may have changed. */
  #advance(): void {
    for (let turn = this.#queue.first; turn; turn = this.#queue.first) {
      if (this.#isProbing || this.#inFlight >= this.#options.concurrency) break;
      if (this.#pausedUntil > this.#options.clock.monotonic()) {
        void this.#wake();
        break;
      }
      if (this.#inHand === 0) {
        this.#fetch();
        break;
      }
      if (turn.mayStart()) this.#start(turn);
      else turn.withdraw();
    }
    // What is not used at once would later go out too close to the next.
    if (this.#isPaced()) this.#putBack();
  }

  #start(turn: Turn): void {
    this.#inHand -= 1;
    const isProbe = this.#refusals > 0;
    if (isProbe) this.#isProbing = true;
    const running = turn.run().then(() => {
      this.#running.delete(running);
      if (isProbe) this.#isProbing = false;
      // Whoever asked hears of the answer first: it may mean that nothing more is to go out.
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
      this.#comesBack(clock.monotonic());
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

  /** One token is waited for; where many are free, more come with it. */
  #fetch(): void {
    this.#renewIfClockWasSetBack();
    if (this.#isFetching) return;
    this.#isFetching = true;
    const bottleneck = this.#bottleneck;
    const isCurrent = (): boolean => bottleneck === this.#bottleneck && !this.stopped;
    const granted = async (): Promise<void> => {
      if (!isCurrent()) return;
      this.#isFetching = false;
      this.#inHand += 1;
      const more = this.#isPaced() ? 0 : Math.max(0, Math.floor(this.#free() * HANDFUL));
      this.#inHand += more;
      this.#give(-more);
      this.#advance();
    };
    bottleneck.schedule(granted).catch((error: unknown) => {
      if (isCurrent()) throw error;
    });
  }

  #putBack(): void {
    this.#give(this.#inHand);
    this.#inHand = 0;
  }

  #comesBack(answeredAt: number): void {
    this.#foreign.answered(answeredAt);
    this.#returns.push(answeredAt + this.#windowMs + MARGIN_MS);
    if (!this.#isReturning) void this.#returnTokens();
  }

  async #returnTokens(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopped;
    this.#isReturning = true;
    while (this.#returns.length > 0 && !signal.aborted) {
      await clock.sleep(Math.max(RETURN_MS, this.#returns[0]! - clock.monotonic()), signal);
      this.#renewIfClockWasSetBack();
      const now = clock.monotonic();
      const later = this.#returns.findIndex((at) => at > now);
      const due = this.#returns.splice(0, later < 0 ? Infinity : later);
      this.#give(due.length);
      this.#adjust();
    }
    this.#isReturning = false;
  }

  /** Tokens that bottleneck has left. */
  #free(): number {
    return this.#allowed - this.#inHand - this.#inFlight - this.#returns.length;
  }

  #allowance(): number {
    const { rate, reserve, clock } = this.#options;
    const withheld = Math.max(reserve, this.#foreign.withhold(clock.monotonic()));
    return Math.max(1, Math.min(rate.requests, this.#serviceLimit) - withheld);
  }

  #adjust(): void {
    const allowed = this.#allowance();
    const minTime = this.#distance();
    if (allowed < this.#allowed) this.#putBack();
    this.#give(allowed - this.#allowed);
    this.#allowed = allowed;
    if (minTime === this.#minTime) return;
    this.#minTime = minTime;
    void this.#bottleneck.updateSettings({ minTime });
    if (this.#isPaced()) this.#putBack();
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

  /** No timer keeps a distance of less than a millisecond. */
  #isPaced(): boolean {
    return this.#minTime >= 1;
  }

  #give(tokens: number): void {
    if (tokens !== 0) void this.#bottleneck.incrementReservoir(tokens);
  }

  #build(): Bottleneck {
    return new Bottleneck({ reservoir: this.#free(), minTime: this.#minTime });
  }

  /**
   * Bottleneck lets no job start before the last one did, by the wall clock: an hour set back would be an hour's
   * standstill. So a new one takes over.
   */
  #renewIfClockWasSetBack(): void {
    const { clock } = this.#options;
    const offset = clock.wall() - clock.monotonic();
    const setBack = this.#offset - offset;
    this.#offset = offset;
    if (setBack < 1_000 || this.stopped) return;
    void this.#bottleneck.stop({ dropWaitingJobs: true });
    this.#bottleneck = this.#build();
    this.#isFetching = false;
    this.#advance();
  }
}
