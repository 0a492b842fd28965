import Bottleneck from 'bottleneck';
import type { Clock } from '../clock.ts';
import type { RecentAnswers } from './recent-answers.ts';

/** A bottleneck job takes up to 2.4 ms, so a higher rate (of a rehearsal) bypasses it. */
const MOST_JOBS_PER_SECOND = 400;
/** Tokens due within this many milliseconds come back together. */
const BATCH_MS = 5;
/** A wall clock that is further behind was set back. */
const SET_BACK_MS = 1_000;

/** What a window allows at present. Times in milliseconds. */
export interface Allowance {
  readonly requests: number;
  readonly windowMs: number;
  /** Minimum interval between requests. */
  readonly distanceMs: number;
}

/**
 * A strict sliding window of requests. A request holds a token until one window after its *answer*. Every
 * request in the service's window is then in flight or was answered less than a window ago, so the limit is never
 * exceeded, however long requests take.
 *
 * The free tokens are bottleneck's reservoir, and its `minTime` keeps requests apart. Nothing is refreshed by bottleneck
 * itself: its windows begin at a fixed time, and are exceeded by a sliding one.
 */
export class TokenWindow {
  readonly #clock: Clock;
  readonly #answers: RecentAnswers;
  readonly #stopped = new AbortController();
  #allowance: Allowance = { requests: 0, windowMs: 0, distanceMs: 0 };
  /** Tokens given out and not given back. */
  #out = 0;
  /** Tokens in bottleneck's reservoir. */
  #reservoir = 0;
  #bottleneck = new Bottleneck({ reservoir: 0 });
  /** Tokens that bottleneck has been asked for at once. */
  #asked = 0;
  /** Wall clock minus monotonic clock. */
  #offset: number;
  #isReturning = false;

  /** `answers` includes answers of earlier runs. Whoever returns a token has added its answer. */
  constructor(clock: Clock, answers: RecentAnswers) {
    this.#clock = clock;
    this.#answers = answers;
    this.#offset = clock.wall() - clock.monotonic();
  }

  /** Applies from now on. */
  allow(allowance: Allowance): void {
    const { distanceMs } = this.#allowance;
    this.#allowance = allowance;
    if (allowance.distanceMs !== distanceMs) {
      void this.#bottleneck.updateSettings({ minTime: allowance.distanceMs });
    }
    this.#update();
  }

  /** Resolves with the number of tokens, at most `wanted`, or with 0 when it is time to ask again. One caller at a time. */
  async take(wanted: number): Promise<number> {
    const { distanceMs } = this.#allowance;
    // Timers cannot keep an interval of less than a millisecond.
    const weight = distanceMs >= 1 ? 1 : Math.max(1, Math.min(wanted, this.#free));
    if (this.#isFast) {
      if (this.#free <= 0) await this.#clock.sleep(BATCH_MS, this.#stopped.signal);
      if (this.#free < weight) return 0;
    } else {
      this.#asked = weight;
      const bottleneck = this.#bottleneck;
      const isGranted = await bottleneck.schedule({ weight }, async () => true).catch(() => false);
      this.#asked = 0;
      if (!isGranted) return 0;
      if (bottleneck === this.#bottleneck) this.#reservoir -= weight;
    }
    this.#out += weight;
    this.#update();
    return weight;
  }

  /** So many requests were answered or have failed, or were not sent. */
  giveBack(tokens: number): void {
    if (tokens === 0) return;
    this.#out -= tokens;
    this.#update();
  }

  /** The requests in flight or answered in the last `sinceMs` milliseconds. */
  own(sinceMs: number): number {
    return this.#out + this.#answers.countAfter(this.#clock.monotonic() - sinceMs);
  }

  /** Until a token is free; undefined if one is, or if all are in flight. */
  waitMs(): number | undefined {
    const free = this.#free;
    if (free > 0) return undefined;
    const now = this.#clock.monotonic();
    const { windowMs } = this.#allowance;
    const next = this.#answers.nthAfter(now - windowMs, -free);
    return next === undefined ? undefined : next + windowMs - now;
  }

  /** A waiting `take` resolves without a token. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#bottleneck.stop({ dropWaitingJobs: true });
  }

  /** Bottleneck is not asked. */
  get #isFast(): boolean {
    const { requests, windowMs, distanceMs } = this.#allowance;
    return requests * 1000 > MOST_JOBS_PER_SECOND * windowMs && distanceMs < 1;
  }

  get #free(): number {
    const { requests, windowMs } = this.#allowance;
    return requests - this.#out - this.#answers.countAfter(this.#clock.monotonic() - windowMs);
  }

  /** Brings bottleneck's reservoir up to date, down too: it may become negative. */
  #update(): void {
    if (this.#stopped.signal.aborted || (this.#isFast && this.#asked === 0)) return;
    const free = this.#free;
    if (this.#wasSetBack() || this.#asked > Math.max(1, free)) this.#renew();
    if (free !== this.#reservoir) void this.#bottleneck.incrementReservoir(free - this.#reservoir);
    this.#reservoir = free;
    void this.#returnTokens();
  }

  async #returnTokens(): Promise<void> {
    if (this.#isReturning) return;
    this.#isReturning = true;
    const next = (): number | undefined => {
      const { windowMs } = this.#allowance;
      const now = this.#clock.monotonic();
      const first = this.#answers.nthAfter(now - windowMs, 0);
      return first === undefined ? undefined : first + windowMs - now;
    };
    for (let ms = next(); ms !== undefined && !this.#stopped.signal.aborted; ms = next()) {
      await this.#clock.sleep(Math.max(BATCH_MS, ms), this.#stopped.signal);
      this.#update();
    }
    this.#isReturning = false;
  }

  #wasSetBack(): boolean {
    const before = this.#offset;
    this.#offset = this.#clock.wall() - this.#clock.monotonic();
    return this.#offset < before - SET_BACK_MS;
  }

  /**
   * Bottleneck uses the wall clock and starts no job before the previous one: if the clock were set back by an hour, it would pause for an
   * hour. It would also wait forever for more tokens than a lower limit allows. So a new one replaces it, and requests that wait for the
   * old one ask again.
   */
  #renew(): void {
    void this.#bottleneck.stop({ dropWaitingJobs: true });
    this.#reservoir = this.#free;
    this.#bottleneck = new Bottleneck({ reservoir: this.#reservoir, minTime: this.#allowance.distanceMs });
  }
}
