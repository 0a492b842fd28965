/** A strict sliding window, as the service keeps one per key (service interface, section 8). */
export class SlidingWindow {
  readonly refusedBy = new Map<string, number>();
  readonly acceptedBy = new Map<string, number>();
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #countsRefused: boolean;
  readonly #times: number[] = [];

  /** `countsRefused`: refused calls also count in the window. */
  constructor(limit: number, windowMs: number, options: { countsRefused?: boolean } = {}) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#countsRefused = options.countsRefused ?? false;
  }

  /** One call at `now`, in milliseconds: status and headers. */
  call(now: number, client: string): { status: 200 | 429; headers: Record<string, string> } {
    while (this.#times.length > 0 && this.#times[0]! <= now - this.#windowMs) this.#times.shift();
    const isAccepted = this.#times.length < this.#limit;
    if (isAccepted || this.#countsRefused) this.#times.push(now);
    const counts = isAccepted ? this.acceptedBy : this.refusedBy;
    counts.set(client, (counts.get(client) ?? 0) + 1);
    const headers: Record<string, string> = {
      'x-ratelimit-limit': String(this.#limit),
      'x-ratelimit-remaining': String(Math.max(0, this.#limit - this.#times.length)),
    };
    if (isAccepted) return { status: 200, headers };
    const frees = this.#times[this.#times.length - this.#limit]! + this.#windowMs - now;
    return { status: 429, headers: { ...headers, 'retry-after': String(Math.max(1, Math.ceil(frees / 1000))) } };
  }
}
