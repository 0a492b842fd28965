import type { Clock } from '../clock.ts';
import { probeDelay } from '../service/retry.ts';
import type { Halt } from '../halt.ts';

export interface OutageOptions {
  /** GET /health. */
  readonly health: () => Promise<boolean>;
  readonly halt: Halt;
  readonly clock: Clock;
  /** Monotonic milliseconds, without the time the machine was asleep. */
  readonly awake: () => number;
  readonly concurrency: number;
  readonly random: () => number;
  readonly log: (event: string, fields?: Readonly<Record<string, unknown>>) => void;
}

/**
 * Distinguishes an outage of the service from a failing event. The service is down when several different events got no
 * answer and none has been answered since. Then all events wait, GET /health is polled until it answers, and a single
 * event is sent as a probe. The others follow once it has been answered.
 */
export class Outage {
  readonly #options: OutageOptions;
  readonly #threshold: number;
  /** Events without an answer since the last answer. */
  readonly #failing = new Set<string>();
  /** Waiting events in order of arrival, and the function that releases each. */
  readonly #waiting = new Map<string, () => void>();
  #answeredAt = -Infinity;
  /** The current outage, if there is one; each outage has its own object. */
  #down: object | undefined;
  #probeAt = 0;
  /** The event sent as a probe. */
  #probe: string | undefined;
  #arrived: () => void = () => undefined;
  #probeEnded: () => void = () => undefined;

  constructor(options: OutageOptions) {
    this.#options = options;
    // With a concurrency of 1, two events must fail: GET /health tells whether a single event is at fault.
    this.#threshold = Math.max(2, Math.min(3, options.concurrency));
    options.halt.signal.addEventListener('abort', () => this.#releaseAll(), { once: true });
  }

  get isDown(): boolean {
    return this.#down !== undefined;
  }

  /** Milliseconds until the next GET /health. */
  get nextInMs(): number {
    return Math.max(0, this.#probeAt - this.#options.clock.monotonic());
  }

  /** Whether any event has been answered since `time` (`awake`). */
  answeredSince(time: number): boolean {
    return this.#answeredAt >= time;
  }

  /** Whether this event must wait. */
  holds(id: string): boolean {
    return this.#down !== undefined && !this.#options.halt.requested && this.#probe !== id;
  }

  /** Resolves when this event may be sent: immediately, after the outage, or as the probe. */
  async pass(id: string): Promise<void> {
    if (!this.holds(id)) return;
    await new Promise<void>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#arrived();
    });
  }

  /** The service answered, whatever the answer. */
  answered(): void {
    this.#answeredAt = this.#options.awake();
    // Even an empty Set gets a new table here: see `SmallSet`.
    if (this.#failing.size > 0) this.#failing.clear();
    if (!this.#down) return;
    this.#down = undefined;
    this.#options.log('outage_over');
    this.#releaseAll();
  }

  /** An event's attempt got no answer. */
  failed(id: string): void {
    this.#failing.add(id);
    if (this.#probe === id) this.#probeEnded();
    if (this.#down || this.#failing.size < this.#threshold) return;
    this.#down = {};
    this.#options.log('outage', { events: this.#failing.size });
    void this.#recover(this.#down);
  }

  async #recover(outage: object): Promise<void> {
    const { health, clock, halt, random } = this.#options;
    for (let probes = 1; this.#isStillDown(outage); probes += 1) {
      const wait = probeDelay(probes, random);
      this.#probeAt = clock.monotonic() + wait;
      await clock.sleep(wait, halt.signal);
      if (!this.#isStillDown(outage)) return;
      const isHealthy = await health();
      if (isHealthy && this.#isStillDown(outage)) await this.#sendProbe(outage);
    }
  }

  /** Uses a different event each time, because an event that always fails must not block the others. */
  async #sendProbe(outage: object): Promise<void> {
    if (this.#waiting.size === 0) await new Promise<void>((resolve) => (this.#arrived = resolve));
    if (!this.#isStillDown(outage)) return;
    const [id, release] = this.#waiting.entries().next().value!;
    this.#waiting.delete(id);
    this.#probe = id;
    const ended = new Promise<void>((resolve) => (this.#probeEnded = resolve));
    release();
    await ended;
    this.#probe = undefined;
  }

  #isStillDown(outage: object): boolean {
    return this.#down === outage && !this.#options.halt.requested;
  }

  #releaseAll(): void {
    for (const release of this.#waiting.values()) release();
    this.#waiting.clear();
    this.#arrived();
    this.#probeEnded();
  }
}
