/** The rate limiter's decision on one call; times in milliseconds of the sandbox's clock. */
export interface Admission {
  readonly admitted: boolean;
  readonly limit: number;
  /** Calls left in the window after this one. */
  readonly remaining: number;
  /** When the next call is admitted. */
  readonly freeAt: number;
}

export interface SandboxRate {
  readonly requests: number;
  readonly seconds: number;
}

/**
 * The strict sliding window of one API key: at most `limit` calls within any `windowMs`, counted on arrival (service
 * interface, section 8).
 */
export class SlidingWindow {
  #limit: number;
  readonly #windowMs: number;
  readonly #countRefused: boolean;
  #calls: number[] = [];
  /** Calls before this index have left the window. */
  #first = 0;

  constructor(rate: SandboxRate, countRefused: boolean) {
    this.#countRefused = countRefused;
    this.#limit = rate.requests;
    this.#windowMs = rate.seconds * 1000;
  }

  /** The limit from now on. */
  setLimit(requests: number): void {
    this.#limit = requests;
  }

  /** A call that arrives at `now`. */
  admit(now: number): Admission {
    const admitted = this.#take(now);
    if (!admitted && this.#countRefused) this.#calls.push(now);
    const [limit, used] = [this.#limit, this.#calls.length - this.#first];
    // Below the limit a call is admitted now; the oldest call determines when the next one is.
    const frees = this.#calls[used < limit ? this.#first : this.#calls.length - limit];
    const freeAt = frees === undefined ? now : frees + this.#windowMs;
    return { admitted, limit, remaining: Math.max(0, limit - used), freeAt };
  }

  #take(now: number): boolean {
    while (this.#first < this.#calls.length && now - this.#calls[this.#first]! >= this.#windowMs) this.#first += 1;
    if (this.#first > 1000 && this.#first * 2 > this.#calls.length) {
      this.#calls = this.#calls.slice(this.#first);
      this.#first = 0;
    }
    const admitted = this.#calls.length - this.#first < this.#limit;
    if (admitted) this.#calls.push(now);
    return admitted;
  }
}
