import { SleepWatch, type Clock } from '../clock.ts';
import { EXIT } from '../errors.ts';
import type { Halt } from '../halt.ts';
import { durationText } from '../report/words/times.ts';
import type { LimiterWait } from '../service/limiter.ts';
import { probeDelay } from '../service/retry.ts';

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
  /** Shows a warning. */
  readonly warn: (message: string) => void;
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

/**
 * Who may send, drawn in src/send/README.md. `open`: every event. `alone`: one event, once more after five seconds. `down`: none,
 * until GET /health answers. `probe`: after an outage one event, the first that comes if `id` is not set.
 */
type GateState =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'alone';
      readonly id: string;
      readonly reason: 'credentials' | 'intercepted';
      readonly until: number;
    }
  | { readonly kind: 'down'; readonly until: number; readonly probes: number }
  | { readonly kind: 'probe'; readonly id: string | undefined; readonly probes: number };

const OPEN: GateState = { kind: 'open' };
const ALONE_MS = 5_000;
const CHECK_MS = 1_000;
/** A wait up to this long lasts as long as the service asked for. */
const ALWAYS_WAITED_MS = 60_000;

/** Why nothing gets through. */
type Cause = 'outage' | 'rate_limited';

const STOPS: Readonly<Record<Cause, readonly [message: string, hint: string]>> = {
  outage: ['the service gave no usable answer for longer than --max-outage', 'rerun when the service is back'],
  rate_limited: [
    'the service kept rate-limiting the run for longer than --max-outage',
    'check what else uses the API key, and the Retry-After in run.log; rerun later',
  ],
};

/**
 * Decides which events may send now, and how long the others wait. The service is down when several different events
 * got no answer and none has been answered since. When nothing has got through for --max-outage, whatever the reason, the
 * run stops; waiting for our own rate limit does not count, nor does time asleep.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #threshold: number;
  readonly #sleepWatch: SleepWatch;
  readonly #stopChecking: () => void;
  #state: GateState = OPEN;
  /** Events without an answer since the last answer. */
  readonly #failing = new Set<string>();
  /** Waiting events in order of arrival, and what wakes each. */
  readonly #waiting = new Map<string, () => void>();
  /** When each event that waits for its next attempt is sent again (monotonic). */
  readonly #retries = new Map<string, number>();
  #answeredAt = -Infinity;
  /** Since the last answer. */
  #lastFailure: string | undefined;
  /** That the service asks for a longer wait than --max-outage. */
  #hasSaidSo = false;
  /** Why nothing gets through, and for how long that has lasted until `countedTo` (`awake`). */
  #blocked: { cause: Cause; countedTo: number; lastedMs: number } | undefined;

  constructor(options: GateOptions) {
    const { clock, halt, concurrency, log, onSleep } = options;
    this.#options = options;
    // With a concurrency of 1, two events must fail: GET /health tells whether a single event is at fault.
    this.#threshold = Math.max(2, Math.min(3, concurrency));
    this.#sleepWatch = new SleepWatch(clock, (ms) => {
      log('machine_slept', { seconds: Math.round(ms / 1000) });
      onSleep();
    });
    this.#stopChecking = clock.every(CHECK_MS, () => this.#check());
    halt.signal.addEventListener('abort', () => this.#wakeAll(), { once: true });
  }

  /** Monotonic milliseconds, without the time the machine was asleep. */
  awake(): number {
    return this.#sleepWatch.awake();
  }

  get isDown(): boolean {
    return this.#state.kind === 'down' || this.#state.kind === 'probe';
  }

  /** Whether any event has been answered since `time` (`awake`). */
  answeredSince(time: number): boolean {
    return this.#answeredAt >= time;
  }

  /** Whether this event must wait. Nobody waits once the run is stopping. */
  holds(id: string): boolean {
    const state = this.#state;
    if (this.#options.halt.requested || state.kind === 'open') return false;
    return state.kind === 'down' || state.id !== id;
  }

  /** Resolves when this event may be sent, or the run is stopping. */
  async pass(id: string): Promise<void> {
    if (this.#state.kind === 'probe' && this.#state.id === undefined) this.#state = { ...this.#state, id };
    while (this.holds(id)) await new Promise<void>((resolve) => this.#waiting.set(id, resolve));
  }

  /** Why this event or all of them wait; `inProgress`: the number of events that are being sent. */
  waiting(inProgress: number): GateWait | undefined {
    const state = this.#state;
    const inMs = (until: number): number => Math.max(0, until - this.#options.clock.monotonic());
    if (state.kind === 'alone') return { reason: state.reason, nextInMs: inMs(state.until) };
    const because = this.#lastFailure;
    if (state.kind !== 'open') {
      const nextInMs = state.kind === 'down' ? inMs(state.until) : 0;
      return { reason: 'outage', nextInMs, because, givesUpInMs: this.#leftMs() };
    }
    const limiter = this.#options.limiterWait();
    if (limiter || this.#retries.size === 0 || this.#retries.size < inProgress) return limiter;
    return { reason: 'retry', nextInMs: inMs(Math.min(...this.#retries.values())), because };
  }

  /** The service answered an event with anything but a 429. */
  answered(): void {
    this.#alive();
    this.#hasSaidSo = false;
    this.#lastFailure = undefined;
    this.#blocked = undefined;
  }

  /** This event, which was sent at `sentAt`, was answered 429. */
  rateLimited(id: string, sentAt: number): void {
    const { limiterWait, maxOutageMs, warn } = this.#options;
    this.#alive();
    this.end(id);
    const pauseMs = limiterWait()?.nextInMs ?? 0;
    if (pauseMs > maxOutageMs && !this.#hasSaidSo) {
      this.#hasSaidSo = true;
      const [asked, most] = [pauseMs, maxOutageMs].map((ms) => durationText(ms / 1000));
      warn(`the service asks to wait for ${asked} (429, Retry-After), but the run stops after ${most} (--max-outage)`);
    }
    this.#block('rate_limited', sentAt);
  }

  /** This event, which was sent at `sentAt`, got no answer; `because`: what came instead, without its values. */
  failed(id: string, sentAt: number, because: string): void {
    const state = this.#state;
    this.#lastFailure = because;
    this.#failing.add(id);
    if (state.kind === 'probe' && state.id === id) this.#goDown(state.probes + 1);
    else if (!this.isDown && this.#failing.size >= this.#threshold) {
      this.#options.log('outage', { events: this.#failing.size });
      this.#goDown(1);
    }
    this.#block('outage', sentAt);
  }

  /** Whether this event is being sent once more while all others wait. */
  isAlone(id: string): boolean {
    return this.#state.kind === 'alone' && this.#state.id === id;
  }

  /** Resolves when this event may be sent once more, while all others wait, or the run is stopping. */
  async begin(id: string, reason: 'credentials' | 'intercepted'): Promise<void> {
    const { clock, halt } = this.#options;
    this.#enter({ kind: 'alone', id, reason, until: clock.monotonic() + ALONE_MS });
    await clock.sleep(ALONE_MS, halt.signal);
  }

  /** This event was answered, or has its outcome: others need not wait for it. */
  end(id: string): void {
    const state = this.#state;
    if (this.isAlone(id)) this.#enter(OPEN);
    if (state.kind === 'probe' && state.id === id) this.#goDown(state.probes + 1);
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

  #enter(state: GateState): void {
    this.#state = state;
    if (state.kind !== 'down') this.#wakeAll();
  }

  #wakeAll(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** The service answered, whatever the answer. */
  #alive(): void {
    this.#answeredAt = this.awake();
    if (this.#failing.size > 0) this.#failing.clear();
    if (!this.isDown) return;
    this.#options.log('outage_over');
    this.#enter(OPEN);
  }

  #goDown(probes: number): void {
    const { clock, random } = this.#options;
    const state = { kind: 'down', until: clock.monotonic() + probeDelay(probes, random), probes } as const;
    this.#enter(state);
    void this.#recover(state);
  }

  /** Another event goes first each time, because one that always fails must not hold up the others. */
  async #recover(state: Extract<GateState, { kind: 'down' }>): Promise<void> {
    const { clock, halt, health } = this.#options;
    await clock.sleep(state.until - clock.monotonic(), halt.signal);
    const isOver = (): boolean => this.#state !== state || halt.requested;
    if (isOver()) return;
    const isHealthy = await health();
    if (isOver()) return;
    const [id] = this.#waiting.keys();
    if (isHealthy) this.#enter({ kind: 'probe', id, probes: state.probes });
    else this.#goDown(state.probes + 1);
  }

  /** Nothing gets through since this time (`awake`), or since an earlier one. */
  #block(cause: Cause, since: number): void {
    const countedTo = Math.max(since, this.#answeredAt);
    this.#blocked = { countedTo, lastedMs: 0, ...this.#blocked, cause };
    this.#check();
  }

  /** Until the run stops, if nothing gets through; undefined if something does. */
  #leftMs(): number | undefined {
    const blocked = this.#blocked;
    if (!blocked) return undefined;
    return Math.max(0, this.#options.maxOutageMs - blocked.lastedMs - (this.awake() - blocked.countedTo));
  }

  #check(): void {
    const { halt, maxOutageMs, limiterWait } = this.#options;
    const waitsFor = limiterWait()?.reason;
    // Also where something else than an event was answered 429, or an event that was sent before it was answered.
    if (waitsFor !== undefined && waitsFor !== 'rate' && !this.#blocked) return this.#block(waitsFor, this.awake());
    const blocked = this.#blocked;
    if (!blocked || halt.requested) return;
    const now = this.awake();
    if (waitsFor !== 'rate' || this.isDown) blocked.lastedMs += now - blocked.countedTo;
    blocked.countedTo = now;
    if (blocked.lastedMs < maxOutageMs) return;
    const { cause } = blocked;
    const [message, hint] = STOPS[cause];
    const last = cause === 'outage' && this.#lastFailure !== undefined ? `; the last was: ${this.#lastFailure}` : '';
    halt.request({ code: cause, message: `${message}${last}`, hint, exitCode: EXIT.stopped });
    // The requests in flight would otherwise prolong the outage by up to --timeout.
    if (cause === 'outage') halt.abort();
  }
}
