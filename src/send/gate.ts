import { SleepWatch, type Clock } from '../clock.ts';
import type { Halt, HaltReason } from '../halt.ts';
import type { LimiterWait } from '../service/limiter.ts';
import { probeDelay } from '../service/retry.ts';
import { ALONE_MS, arrived, CLEAR, counted, ended, holds, isDown, leftMs, overdue, probed } from './lane.ts';
import type { Lane, Moment } from './lane.ts';

interface GateOptions {
  readonly clock: Clock;
  readonly halt: Halt;
  readonly concurrency: number;
  readonly maxOutageMs: number;
  /** Whether GET /health answers. */
  readonly health: () => Promise<boolean>;
  /** What the limiter waits for. */
  readonly limiterWait: () => LimiterWait | undefined;
  /** The machine was asleep: requests in flight are lost. */
  readonly onSleep: () => void;
  readonly log: (event: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** Source of backoff jitter. */
  readonly random: () => number;
}

export interface GateWait {
  readonly reason: LimiterWait['reason'] | 'outage' | 'retry' | 'credentials' | 'intercepted';
  readonly nextInMs: number;
  /** What came last instead of an answer, without values of the event. */
  readonly because?: string | undefined;
  /** Of an outage: in how long the run stops, if it lasts. */
  readonly givesUpInMs?: number | undefined;
}

const CHECK_MS = 1_000;
/** A wait up to this long lasts as long as the service asked for. */
const ALWAYS_WAITED_MS = 60_000;

/** Does what the lane says: lets events wait and go, asks for the health of a service that is down, and stops a run for which that lasts too long. */
export class Gate {
  readonly #options: GateOptions;
  readonly #sleepWatch: SleepWatch;
  readonly #stopChecking: () => void;
  #lane = CLEAR;
  /** Waiting events in order of arrival, and what wakes each. */
  readonly #waiting = new Map<string, () => void>();
  /** When each event that waits for its next attempt is sent again (monotonic). */
  readonly #retries = new Map<string, number>();

  constructor(options: GateOptions) {
    const { clock, halt, log, onSleep } = options;
    this.#options = options;
    this.#sleepWatch = new SleepWatch(clock, (ms) => {
      log('machine_slept', { seconds: Math.round(ms / 1000) });
      onSleep();
    });
    this.#stopChecking = clock.every(CHECK_MS, () => {
      this.lane = counted(this.#lane, this.moment());
      const reason = overdue(this.#lane, options.maxOutageMs);
      if (reason) this.stop(reason);
    });
    halt.signal.addEventListener('abort', () => this.#wakeAll(), { once: true });
  }

  get lane(): Lane {
    return this.#lane;
  }

  set lane(lane: Lane) {
    const before = this.#lane;
    this.#lane = lane;
    if (lane.door === before.door) return;
    if (!isDown(before) && isDown(lane)) this.#options.log('outage', { events: lane.failing.size });
    if (isDown(before) && lane.door.kind === 'open') this.#options.log('outage_over');
    if (lane.door.kind === 'down') void this.#recover();
    else this.#wakeAll();
  }

  moment(): Moment {
    const { concurrency, random, limiterWait } = this.#options;
    return { now: this.#sleepWatch.awake(), waitsFor: limiterWait()?.reason, concurrency, random };
  }

  /** Whether this event must wait. Nobody waits once the run is stopping. */
  holds(id: string): boolean {
    return !this.#options.halt.requested && holds(this.#lane, id);
  }

  /** Resolves when this event may be sent, or the run is stopping. */
  async pass(id: string): Promise<void> {
    this.lane = arrived(this.#lane, id);
    while (this.holds(id)) await new Promise<void>((resolve) => this.#waiting.set(id, resolve));
  }

  /** This event has its outcome: others need not wait for it. */
  end(id: string): void {
    this.lane = ended(this.#lane, id, this.moment());
  }

  stop(reason: HaltReason): void {
    const { halt } = this.#options;
    if (halt.requested) return;
    halt.request(reason);
    // The requests in flight would otherwise prolong the outage by up to --timeout.
    if (reason.code === 'outage') halt.abort();
  }

  /** Why this event or all of them wait; `inProgress`: the number of events that are being sent. */
  waiting(inProgress: number): GateWait | undefined {
    const { door, lastFailure: because } = this.#lane;
    const { limiterWait, maxOutageMs, clock } = this.#options;
    const now = this.#sleepWatch.awake();
    if (door.kind === 'alone') return { reason: door.reason, nextInMs: Math.max(0, door.until - now) };
    if (door.kind !== 'open') {
      const nextInMs = door.kind === 'down' ? Math.max(0, door.until - now) : 0;
      return { reason: 'outage', nextInMs, because, givesUpInMs: leftMs(this.#lane, now, maxOutageMs) };
    }
    const limiter = limiterWait();
    if (limiter || this.#retries.size === 0 || this.#retries.size < inProgress) return limiter;
    const nextInMs = Math.max(0, Math.min(...this.#retries.values()) - clock.monotonic());
    return { reason: 'retry', nextInMs, because };
  }

  /** Before an event is sent once more, while all others wait. */
  async hold(): Promise<void> {
    await this.#options.clock.sleep(ALONE_MS, this.#options.halt.signal);
  }

  /**
   * Waits `ms` milliseconds before this event is sent again. A longer wait than a minute (a maintenance page with
   * `Retry-After: 3600`) ends when the service is back: GET /health answers after it did not, or still answers after a
   * minute. `isUp`: whether the service answered just now. Not for a 429, whose Retry-After is always waited for.
   */
  async retryIn(ms: number, id: string, isUp: boolean): Promise<void> {
    const { clock, halt, health, random } = this.#options;
    const until = clock.monotonic() + ms;
    this.#retries.set(id, until);
    let left = ms;
    let wait = isUp || ms <= ALWAYS_WAITED_MS ? ALWAYS_WAITED_MS : probeDelay(1, random);
    for (let probes = 2; ; probes += 1) {
      await clock.sleep(Math.min(wait, left), halt.signal);
      left = until - clock.monotonic();
      if (halt.requested || left <= 0 || (await health())) break;
      wait = probeDelay(probes, random);
    }
    this.#retries.delete(id);
  }

  close(): void {
    this.#stopChecking();
    this.#sleepWatch.stop();
  }

  #wakeAll(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Another event goes first each time, because one that always fails must not hold up the others. */
  async #recover(): Promise<void> {
    const { clock, halt, health } = this.#options;
    const { door } = this.#lane;
    const isOver = (): boolean => this.#lane.door !== door || halt.requested;
    if (door.kind === 'down') await clock.sleep(door.until - this.#sleepWatch.awake(), halt.signal);
    if (isOver()) return;
    const isHealthy = await health();
    const [first] = this.#waiting.keys();
    if (!isOver()) this.lane = probed(this.#lane, isHealthy, first, this.moment());
  }
}
