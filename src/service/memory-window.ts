import Bottleneck from 'bottleneck';
import type { Clock } from '../clock.ts';
import type { RecentAnswers } from './recent-answers.ts';
import type { Allowance, LimiterWait, Taken, TokenWindow } from './token-window.ts';

/** A bottleneck job takes up to 2.4 ms, so a higher rate (of a rehearsal) bypasses it. */
const MOST_JOBS_PER_SECOND = 400;
/** Tokens due within this many milliseconds come back together. */
const BATCH_MS = 5;
/** A wall clock that is further behind was set back. */
const SET_BACK_MS = 1_000;

/**
 * The window of this process alone. The free tokens are bottleneck's reservoir, and its `minTime` keeps requests apart.
 * Nothing is refreshed by bottleneck itself: its windows begin at a fixed time, and are exceeded by a sliding one.
 */
export class MemoryWindow implements TokenWindow {
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

  allow(allowance: Allowance): void {
    const { distanceMs } = this.#allowance;
    this.#allowance = allowance;
    if (allowance.distanceMs !== distanceMs) {
      void this.#bottleneck.updateSettings({ minTime: allowance.distanceMs });
    }
    this.#update();
  }

  async take(wanted: number): Promise<Taken> {
    const { distanceMs } = this.#allowance;
    // Timers cannot keep an interval of less than a millisecond.
    const weight = distanceMs >= 1 ? 1 : Math.max(1, Math.min(wanted, this.#free));
    if (this.#isFast) {
      if (this.#free <= 0) await this.#clock.sleep(BATCH_MS, this.#stopped.signal);
      if (this.#free < weight) return { tokens: [] };
    } else {
      this.#asked = weight;
      const bottleneck = this.#bottleneck;
      const isGranted = await bottleneck.schedule({ weight }, async () => true).catch(() => false);
      this.#asked = 0;
      if (!isGranted) return { tokens: [] };
      if (bottleneck === this.#bottleneck) this.#reservoir -= weight;
    }
    this.#out += weight;
    this.#update();
    return { tokens: Array<string>(weight).fill('') };
  }

  giveBack(): void {
    this.#out -= 1;
    this.#update();
  }

  own(sinceMs: number): number {
    return this.#out + this.#answers.countAfter(this.#clock.monotonic() - sinceMs);
  }

  tell(): void {
    // There is nobody else.
  }

  waiting(): LimiterWait | undefined {
    const free = this.#free;
    if (free > 0) return undefined;
    const now = this.#clock.monotonic();
    const { windowMs } = this.#allowance;
    const next = this.#answers.nthAfter(now - windowMs, -free);
    return next === undefined ? undefined : { reason: 'rate', nextInMs: next + windowMs - now };
  }

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
