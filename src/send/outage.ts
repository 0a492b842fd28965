import type { Clock } from '../clock.ts';
import { EXIT } from '../errors.ts';
import { backoffCeiling } from '../service/retry.ts';
import type { Halt } from '../halt.ts';

export interface OutageOptions {
  /** GET /health. */
  readonly health: () => Promise<boolean>;
  readonly halt: Halt;
  readonly clock: Clock;
  /** Monotonic milliseconds without those the machine slept. */
  readonly awake: () => number;
  readonly concurrency: number;
  /** How long, awake, the service may be silent. */
  readonly maxOutageMs: number;
  readonly random: () => number;
  readonly log: (event: string, fields?: Readonly<Record<string, unknown>>) => void;
}

/**
 * Tells a service that is down from an event that fails. It is down when several different events got no answer and none
 * was answered since. Then all wait, /health is asked until it answers, and one event goes alone: only once that is
 * answered do the others follow.
 */
export class Outage {
  readonly #options: OutageOptions;
  readonly #threshold: number;
  /** Events that failed since the last answer. */
  readonly #failing = new Set<string>();
  /** Events held back, in the order in which they came, and what lets each go. */
  readonly #waiting = new Map<string, () => void>();
  #silentSince: number | undefined;
  #answeredAt = -Infinity;
  /** The present outage, if there is one; a later one is another. */
  #down: object | undefined;
  #probeAt = 0;
  #alone: string | undefined;
  #arrived: () => void = () => undefined;
  #aloneEnded: () => void = () => undefined;

  constructor(options: OutageOptions) {
    this.#options = options;
    // Where events go one at a time, a single one that fails is told apart by /health, so two must fail.
    this.#threshold = Math.max(2, Math.min(3, options.concurrency));
    options.halt.signal.addEventListener('abort', () => this.#releaseAll(), { once: true });
  }

  get isDown(): boolean {
    return this.#down !== undefined;
  }

  /** Milliseconds until /health is asked again. */
  get nextInMs(): number {
    return Math.max(0, this.#probeAt - this.#options.clock.monotonic());
  }

  /** Whether anything was answered since that time (monotonic). */
  answeredSince(time: number): boolean {
    return this.#answeredAt >= time;
  }

  /** Whether this event has to wait. */
  holds(id: string): boolean {
    return this.#down !== undefined && !this.#options.halt.requested && this.#alone !== id;
  }

  /** Resolves when this event may be sent: at once, after the outage, or as the one that goes alone. */
  async pass(id: string): Promise<void> {
    if (!this.holds(id)) return;
    await new Promise<void>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#arrived();
    });
  }

  /** The service answered, whatever it said. */
  answered(): void {
    this.#answeredAt = this.#options.clock.monotonic();
    this.#failing.clear();
    this.#silentSince = undefined;
    if (!this.#down) return;
    this.#down = undefined;
    this.#options.log('outage_over');
    this.#releaseAll();
  }

  /** An event's attempt got no answer. */
  failed(id: string): void {
    const { awake, log } = this.#options;
    this.#silentSince ??= awake();
    this.#failing.add(id);
    if (this.#alone === id) this.#aloneEnded();
    if (this.#isTooLong() || this.#down || this.#failing.size < this.#threshold) return;
    this.#down = {};
    log('outage', { events: this.#failing.size });
    void this.#recover(this.#down);
  }

  async #recover(outage: object): Promise<void> {
    const { health, clock, halt, random, log } = this.#options;
    for (let probes = 1; this.#isStillDown(outage); probes += 1) {
      const ceiling = backoffCeiling(probes);
      const wait = ceiling / 2 + (random() * ceiling) / 2;
      this.#probeAt = clock.monotonic() + wait;
      await clock.sleep(wait, halt.signal);
      if (!this.#isStillDown(outage) || this.#isTooLong()) return;
      const isHealthy = await health();
      log('health', { answers: isHealthy });
      if (isHealthy && this.#isStillDown(outage)) await this.#sendOneAlone(outage);
    }
  }

  /** Each time it is another one's turn: an event that fails by itself must not hold up the rest. */
  async #sendOneAlone(outage: object): Promise<void> {
    if (this.#waiting.size === 0) await new Promise<void>((resolve) => (this.#arrived = resolve));
    if (!this.#isStillDown(outage)) return;
    const [id, release] = this.#waiting.entries().next().value!;
    this.#waiting.delete(id);
    this.#alone = id;
    const ended = new Promise<void>((resolve) => (this.#aloneEnded = resolve));
    release();
    await ended;
    this.#alone = undefined;
  }

  #isStillDown(outage: object): boolean {
    return this.#down === outage && !this.#options.halt.requested;
  }

  #releaseAll(): void {
    for (const release of this.#waiting.values()) release();
    this.#waiting.clear();
    this.#arrived();
    this.#aloneEnded();
  }

  #isTooLong(): boolean {
    const { awake, maxOutageMs, halt } = this.#options;
    if (this.#silentSince === undefined || awake() - this.#silentSince < maxOutageMs) return false;
    halt.request({
      code: 'outage',
      message: 'the service gave no answer for as long as --max-outage allows',
      hint: 'rerun when it is back',
      exitCode: EXIT.stopped,
    });
    return true;
  }
}
