/** The rate limiter's decision on one call; times in milliseconds of the sandbox's clock. */
export interface Admission {
  readonly admitted: boolean;
  readonly limit: number;
  /** Calls left in the window after this one. */
  readonly remaining: number;
  /** When the next call is admitted. */
  readonly freeAt: number;
}

/**
 * The strict sliding window of one API key: at most `limit` calls within any `windowMs`, counted on arrival (service
 * interface, section 8). Calls of another client with the same key can be simulated.
 */
export class SlidingWindow {
  #limit: number;
  readonly #windowMs: number;
  readonly #countRefused: boolean;
  #calls: number[] = [];
  /** Calls before this index have left the window. */
  #first = 0;
  #foreign: { readonly gapMs: number; readonly until: number; next: number } | undefined;

  constructor(rate: { requests: number; seconds: number }, options: { countRefused: boolean }) {
    this.#limit = rate.requests;
    this.#windowMs = rate.seconds * 1000;
    this.#countRefused = options.countRefused;
  }

  /** The limit from now on. */
  setLimit(requests: number): void {
    this.#limit = requests;
  }

  /** A call that arrives at `now`. */
  admit(now: number): Admission {
    this.#advance(now);
    const admitted = this.#used() < this.#limit;
    if (admitted || this.#countRefused) this.#calls.push(now);
    return this.#state(now, admitted);
  }

  /** The state without a call. */
  peek(now: number): Admission {
    this.#advance(now);
    return this.#state(now, this.#used() < this.#limit);
  }

  /** Simulates another client that sends `requests` at once, as far as the limit allows. */
  takeAtOnce(now: number, requests: number): void {
    this.#advance(now);
    for (let n = 0; n < requests && this.#used() < this.#limit; n += 1) this.#calls.push(now);
  }

  /** Simulates another client that sends `perSecond` requests from `now` until `until`, subject to the limit. */
  takeSteadily(now: number, perSecond: number, until: number): void {
    this.#advance(now);
    this.#foreign = { gapMs: 1000 / perSecond, until, next: now };
  }

  #advance(now: number): void {
    const foreign = this.#foreign;
    if (foreign) {
      for (; foreign.next <= Math.min(now, foreign.until); foreign.next += foreign.gapMs) {
        this.#expire(foreign.next);
        if (this.#used() < this.#limit) this.#calls.push(foreign.next);
      }
      if (foreign.next > foreign.until) this.#foreign = undefined;
    }
    this.#expire(now);
  }

  #expire(now: number): void {
    while (this.#first < this.#calls.length && now - this.#calls[this.#first]! >= this.#windowMs) this.#first += 1;
    if (this.#first > 1000 && this.#first * 2 > this.#calls.length) {
      this.#calls = this.#calls.slice(this.#first);
      this.#first = 0;
    }
  }

  #used(): number {
    return this.#calls.length - this.#first;
  }

  #state(now: number, admitted: boolean): Admission {
    const limit = this.#limit;
    const used = this.#used();
    // Below the limit a call is admitted now; the oldest call determines when the next one is.
    const frees = this.#calls[used < limit ? this.#first : this.#calls.length - limit];
    const freeAt = frees === undefined ? now : frees + this.#windowMs;
    return { admitted, limit, remaining: Math.max(0, limit - used), freeAt };
  }
}
