import type { Clock } from '../../src/clock.ts';

interface Sleeper {
  readonly at: number;
  readonly isTick: boolean;
  readonly wake: () => void;
}

/** Of one jump. */
const MAX_TICKS = 5_000;

/**
 * A clock for tests: whenever nothing real has happened for a moment, it jumps to when the next sleeper wakes. Hours of
 * backoff pass in milliseconds, in the right order.
 */
export class VirtualClock implements Clock {
  /** What `sleep` was asked for, in order. */
  readonly slept: number[] = [];
  #now = 1_000;
  #wall = Date.UTC(2026, 0, 1);
  /** Uptime minus the monotonic time. */
  #asleep = 0;
  readonly #sleepers = new Set<Sleeper>();
  readonly #realMsPerJump: number;
  #pump: NodeJS.Timeout | undefined;

  constructor(realMsPerJump = 5) {
    this.#realMsPerJump = realMsPerJump;
    this.start();
  }

  monotonic(): number {
    return this.#now;
  }

  wall(): number {
    return this.#wall;
  }

  uptime(): number {
    return this.#now + this.#asleep;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.slept.push(ms);
    if (ms <= 0 || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { at: this.#now + ms, isTick: false, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  every(ms: number, tick: () => void): () => void {
    let sleeper: Sleeper;
    const arm = (): void => {
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        arm();
        tick();
      };
      sleeper = { at: this.#now + ms, isTick: true, wake };
      this.#sleepers.add(sleeper);
    };
    arm();
    return () => this.#sleepers.delete(sleeper);
  }

  /** Somebody sets the wall clock. */
  setWall(ms: number): void {
    this.#wall += ms;
  }

  /** The machine slept while the monotonic clock stood still. */
  suspend(ms: number): void {
    this.#wall += ms;
    this.#asleep += ms;
  }

  /** Advances all clocks without waking any sleeper: the machine slept, or this process was suspended. */
  leap(ms: number): void {
    this.#now += ms;
    this.#wall += ms;
  }

  /** Lets so much time pass at once. */
  pass(ms: number): void {
    const until = this.#now + ms;
    for (let next = this.#next(); next && next.at <= until; next = this.#next()) this.#wakeAt(next);
    this.#wall += until - this.#now;
    this.#now = until;
  }

  start(): void {
    this.#pump = setInterval(() => this.#jump(), this.#realMsPerJump).unref();
  }

  /** Time stops: sleepers keep sleeping. */
  stop(): void {
    clearInterval(this.#pump);
  }

  /** On to the next one that sleeps; ticks on the way are ticked, and what they cause happens before more of them. */
  #jump(): void {
    for (let ticks = 0; ticks < MAX_TICKS; ticks += 1) {
      if (![...this.#sleepers].some(({ isTick }) => !isTick)) return;
      const next = this.#next()!;
      this.#wakeAt(next);
      if (!next.isTick) return;
    }
  }

  #wakeAt(sleeper: Sleeper): void {
    const passed = Math.max(0, sleeper.at - this.#now);
    this.#wall += passed;
    this.#now += passed;
    sleeper.wake();
  }

  #next(): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) if (!next || sleeper.at < next.at) next = sleeper;
    return next;
  }
}
