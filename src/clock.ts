import { uptime } from 'node:os';

/** The source of time for everything that waits, passed in so that tests can control it. */
export interface Clock {
  /** Milliseconds since an arbitrary start; never decreases. */
  monotonic(): number;
  /** Milliseconds since 1970 by the system clock, which can be set at any time. */
  wall(): number;
  /** Milliseconds since the machine started, including the time it was asleep; never decreases. */
  uptime(): number;
  /** Resolves after `ms` milliseconds, or as soon as `signal` is aborted; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `tick` every `ms` milliseconds until the returned function is called. Does not keep the process alive. */
  every(ms: number, tick: () => void): () => void;
}

/** The longest delay of a timer; Node fires longer ones immediately. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  uptime: () => uptime() * 1000,
  async sleep(ms, signal) {
    const until = performance.now() + ms;
    for (let left = ms; left > 0 && !signal?.aborted; left = until - performance.now()) {
      await timer(Math.min(left, LONGEST_TIMER), signal);
    }
  },
  every(ms, tick) {
    const interval = setInterval(tick, ms).unref();
    return () => clearInterval(interval);
  },
};

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timeout);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timeout = setTimeout(end, Math.ceil(ms));
    signal?.addEventListener('abort', end, { once: true });
  });
}

const TICK_MS = 5_000;
/** Asking for the uptime opens a file on some systems, which would be felt if it were done for every request. */
const LOOK_MS = 100;
/** A tick this late means that the machine or the process was suspended; a busy event loop is never this late. */
const ASLEEP_MS = 15_000;

/**
 * Detects that the machine or the process was suspended: a short wait took far longer by one of the two clocks. Both are
 * needed, since on some systems the monotonic clock stops during sleep. The wall clock is not used: it can be set at any
 * time. `awake()` is the monotonic time without these gaps.
 */
export class SleepWatch {
  readonly #clock: Clock;
  readonly #onSleep: (ms: number) => void;
  readonly #stop: () => void;
  #monotonic: number;
  #uptime: number;
  #slept = 0;

  /** `onSleep` is called with the length of each sleep in milliseconds. */
  constructor(clock: Clock, onSleep: (ms: number) => void) {
    this.#clock = clock;
    this.#onSleep = onSleep;
    this.#monotonic = clock.monotonic();
    this.#uptime = clock.uptime();
    this.#stop = clock.every(TICK_MS, () => this.#check());
  }

  awake(): number {
    const now = this.#clock.monotonic();
    if (now >= this.#monotonic + LOOK_MS) this.#check();
    return now - this.#slept;
  }

  stop(): void {
    this.#stop();
  }

  #check(): void {
    const monotonic = this.#clock.monotonic();
    const uptime = this.#clock.uptime();
    const passed = monotonic - this.#monotonic;
    const gap = Math.max(passed, uptime - this.#uptime);
    this.#monotonic = monotonic;
    this.#uptime = uptime;
    if (gap < TICK_MS + ASLEEP_MS) return;
    this.#slept += Math.max(0, passed - TICK_MS);
    this.#onSleep(gap);
  }
}
