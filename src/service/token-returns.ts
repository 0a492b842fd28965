import type { Clock } from '../clock.ts';

/** Tokens due within this many milliseconds are returned together. */
const BATCH_MS = 5;

/** Tokens that have been used, each returned once its time has come. */
export class TokenReturns {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onReturn: () => void;
  /** By the monotonic clock, soonest first. */
  readonly #times: number[] = [];
  #isRunning = false;

  /** `onReturn` is called after tokens have been returned; nothing is returned after `signal` is aborted. */
  constructor(clock: Clock, signal: AbortSignal, onReturn: () => void) {
    this.#clock = clock;
    this.#signal = signal;
    this.#onReturn = onReturn;
  }

  /** Tokens not returned yet. */
  get size(): number {
    return this.#times.length;
  }

  /** When the next token is returned, by the monotonic clock. */
  get next(): number | undefined {
    return this.#times[0];
  }

  /** Returns a token at `time` (monotonic), which must not be earlier than the time of the token added before. */
  add(time: number): void {
    this.#times.push(time);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#times.length > 0 && !this.#signal.aborted) {
      await this.#clock.sleep(Math.max(BATCH_MS, this.#times[0]! - this.#clock.monotonic()), this.#signal);
      const now = this.#clock.monotonic();
      const later = this.#times.findIndex((time) => time > now);
      this.#times.splice(0, later < 0 ? Infinity : later);
      this.#onReturn();
    }
    this.#isRunning = false;
  }
}
