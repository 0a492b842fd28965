/** The limiter against a strict sliding window, in simulated time: timers that the caller has faked (setTimeout, Date). */
import type { Clock } from '../../src/clock.ts';
import { Limiter } from '../../src/service/limiter.ts';
import { readRetryAfter } from '../../src/service/reply.ts';

/** A strict sliding window, as the service keeps one per key (service interface, section 8). */
export class StrictWindow {
  readonly refusedBy = new Map<string, number>();
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #countsRefused: boolean;
  readonly #times: number[] = [];

  /** `countsRefused`: refused calls also count in the window. */
  constructor(limit: number, windowMs: number, { countsRefused = false } = {}) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#countsRefused = countsRefused;
  }

  /** One call at `now`, in milliseconds: status and headers. */
  call(now: number, client: string): { status: 200 | 429; headers: Record<string, string> } {
    while (this.#times.length > 0 && this.#times[0]! <= now - this.#windowMs) this.#times.shift();
    const isAccepted = this.#times.length < this.#limit;
    if (isAccepted || this.#countsRefused) this.#times.push(now);
    const headers: Record<string, string> = {
      'x-ratelimit-limit': String(this.#limit),
      'x-ratelimit-remaining': String(Math.max(0, this.#limit - this.#times.length)),
    };
    if (isAccepted) return { status: 200, headers };
    this.refusedBy.set(client, (this.refusedBy.get(client) ?? 0) + 1);
    const frees = this.#times[this.#times.length - this.#limit]! + this.#windowMs - now;
    return { status: 429, headers: { ...headers, 'retry-after': String(Math.max(1, Math.ceil(frees / 1000))) } };
  }
}

/** A clock that reads the faked Date. */
export const fakedClock: Clock = {
  monotonic: () => Date.now(),
  wall: () => Date.now(),
  uptime: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (ms <= 0 || signal?.aborted) return resolve();
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, Math.ceil(ms));
      signal?.addEventListener('abort', end, { once: true });
    }),
  every: (ms, tick) => {
    const interval = setInterval(tick, ms);
    return () => clearInterval(interval);
  },
};

export interface Scenario {
  readonly limit: number;
  readonly windowMs: number;
  readonly requests: number;
  readonly concurrency: number;
  /** Round-trip time, in milliseconds. */
  readonly latency: readonly [least: number, most: number];
  readonly countsRefused?: boolean;
  /** Requests per window that another client makes, at regular intervals, since a window before. */
  readonly foreign?: number;
}

export interface Measured {
  /** The minimum time that a strict window allows for these requests, without the share of the other client, divided by the time taken. */
  readonly utilisation: number;
  readonly refused: number;
  readonly foreignRefused: number;
  readonly minutes: number;
}

/** Sends all requests, retrying refused ones, and resolves when the last one was accepted. */
export async function simulate(scenario: Scenario): Promise<Measured> {
  const { limit, windowMs, requests, concurrency, latency, foreign = 0, countsRefused = false } = scenario;
  const window = new StrictWindow(limit, windowMs, { countsRefused });
  const random = generator();
  const over = new AbortController();
  const other = async (): Promise<void> => {
    while (!over.signal.aborted) {
      window.call(Date.now(), 'foreign');
      await fakedClock.sleep(windowMs / foreign, over.signal);
    }
  };
  if (foreign > 0) {
    void other();
    await fakedClock.sleep(windowMs);
  }
  const startedAt = Date.now();
  const limiter = new Limiter({ rate: { requests: limit, seconds: windowMs / 1000 }, concurrency, clock: fakedClock });
  const send = (): Promise<number> =>
    limiter.schedule(async () => {
      const took = latency[0] + random() * (latency[1] - latency[0]);
      const sentAt = Date.now();
      const there = random() * took;
      await fakedClock.sleep(there);
      const { status, headers } = window.call(Date.now(), 'own');
      await fakedClock.sleep(took - there);
      limiter.observe(status, headers, sentAt);
      if (status === 429) limiter.refused(readRetryAfter(headers, Date.now()), sentAt);
      return status;
    });
  let left = requests;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      while ((await send()) === 429);
    }
  };
  // More workers than requests allowed in flight: the limiter decides which one continues.
  await Promise.all(Array.from({ length: concurrency * 2 }, lane));
  const took = Date.now() - startedAt;
  over.abort();
  await limiter.stop();
  return {
    utilisation: (Math.floor((requests - 1) / (limit - foreign)) * windowMs) / took,
    refused: window.refusedBy.get('own') ?? 0,
    foreignRefused: window.refusedBy.get('foreign') ?? 0,
    minutes: took / 60_000,
  };
}

/** The same random numbers every time (Park-Miller generator). */
function generator(): () => number {
  let seed = 1_234_567;
  return () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
}
