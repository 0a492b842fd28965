import { systemClock, type Clock } from '../clock.ts';
import { EXIT, messageOf, UserError } from '../errors.ts';
import { isStateLost, type Halt } from '../halt.ts';
import type { Hooks } from '../hook-url.ts';
import type { Secret } from '../redact.ts';
import { ProgressTracker, type ProgressView } from '../pages/progress-tracker.ts';
import { METRICS_FILE, type Summary } from '../report/summary.ts';
import { writeWhole, type StateDir } from '../state-dir.ts';
import { perMinute } from '../rate.ts';
import type * as hook from './hook.ts';
import { bodiesOf, ended, failed, heldUp, resumed, type Notification, type Standing } from './messages.ts';
import { metricsText } from './metrics.ts';

/** A run that sends. */
export interface WatchedRun extends ProgressView {
  readonly deliverer: ProgressView['deliverer'] & {
    readonly counters: { readonly requests: number; readonly retries: number; readonly rate_limited: number };
  };
}

export interface WatchOptions {
  /** What messages call the migration until its name is known. */
  readonly mapping: string;
  readonly hooks: Hooks;
  readonly maxOutageMs: number;
  readonly halt: Halt;
  readonly clock?: Clock;
}

type Log = (event: string, fields: Readonly<Record<string, unknown>>) => void;

const TICK_MS = 1_000;
const METRICS_EVERY_MS = 15_000;
const HEARTBEAT_EVERY_MS = 60_000;
/** A run without progress for this long is held up. */
const HELD_UP_MS = 5 * 60_000;
/** How long the end of a run waits for its notifications. */
const LAST_NOTIFICATION_MS = 10_000;

/**
 * Watches a run for people who are not looking: `--notify`, `--heartbeat` and `metrics.prom`. Nothing here delays the run or
 * makes it fail: calls are made beside it, and a failed one is a line in `run.log`. Only the end waits for the last
 * notification, ten seconds at most.
 */
export class Watch {
  readonly #options: WatchOptions;
  readonly #clock: Clock;
  #migration: string;
  #log: Log = () => undefined;
  #stopTicking: () => void = () => undefined;
  #run: WatchedRun | undefined;
  #tracker: ProgressTracker | undefined;
  #state: StateDir | undefined;
  #answered = -1;
  #acknowledged = -1;
  #lastAcknowledgedAt: number | undefined;
  /** Monotonic, like all times here but `#lastAcknowledgedAt`. */
  #progressAt = 0;
  #heldUpSince: number | undefined;
  #metricsAt = -Infinity;
  /** `status` reads from the metrics that an outage has begun or ended, so that is written at once. */
  #wasDown = false;
  #heartbeatAt = -Infinity;
  /** Made one after the other, so that messages arrive in order. */
  #notifications: Promise<void> = Promise.resolve();
  #writing: Promise<void> = Promise.resolve();

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#migration = options.mapping;
    this.#clock = options.clock ?? systemClock;
  }

  /** Loads what calls to the hooks need: while a run is sending, there may be too few file descriptors. */
  async load(): Promise<void> {
    const { notify, heartbeat } = this.#options.hooks;
    if (notify || heartbeat) await loadHook();
  }

  /** From now on messages name the migration, and failed calls are logged. */
  begin(migration: string, log: Log): void {
    this.#migration = migration;
    this.#log = log;
  }

  /** From now on the run sends events. */
  sending(run: WatchedRun, state: StateDir): void {
    this.#run = run;
    this.#state = state;
    this.#tracker = new ProgressTracker(run);
    this.#progressAt = this.#clock.monotonic();
    this.#stopTicking = this.#clock.every(TICK_MS, () => this.#tick());
    this.#tick();
  }

  /** The run has ended in an orderly way. */
  async ended(summary: Summary): Promise<void> {
    this.#notify(ended(this.#migration, summary, this.#options.halt.reason));
    await this.#close();
  }

  /** The run threw this error. */
  async failed(error: unknown): Promise<void> {
    const known = error instanceof UserError;
    const code = known ? error.exitCode : EXIT.stopped;
    this.#notify(failed(this.#migration, known ? error.message : undefined, code));
    await this.#close();
  }

  #tick(): void {
    const now = this.#clock.monotonic();
    const standing: Standing = { types: this.#tracker!.types(), pace: this.#tracker!.pace() };
    this.#follow(standing, now);
    const sinceProgress = now - this.#progressAt;
    if (this.#heldUpSince === undefined && sinceProgress >= HELD_UP_MS) {
      this.#heldUpSince = this.#progressAt;
      this.#notify(heldUp(this.#migration, standing, sinceProgress, this.#options.maxOutageMs));
    }
    if (sinceProgress < HEARTBEAT_EVERY_MS && now - this.#heartbeatAt >= HEARTBEAT_EVERY_MS) {
      this.#heartbeatAt = now;
      void this.#call('heartbeat', this.#options.hooks.heartbeat);
    }
    const isDown = standing.pace.waiting?.reason === 'outage';
    if (now - this.#metricsAt >= METRICS_EVERY_MS || isDown !== this.#wasDown) {
      this.#metricsAt = now;
      this.#wasDown = isDown;
      this.#writeMetrics(standing, true);
    }
  }

  /** Progress is an event that was answered, or a wait for the rate limit, which is as planned. */
  #follow(standing: Standing, now: number): void {
    const sum = (key: 'rejected' | 'acknowledged'): number =>
      standing.types.reduce((total, each) => total + each[key], 0);
    const acknowledged = sum('acknowledged');
    const answered = acknowledged + sum('rejected');
    if (acknowledged !== this.#acknowledged && this.#acknowledged >= 0) this.#lastAcknowledgedAt = this.#clock.wall();
    this.#acknowledged = acknowledged;
    const isProgress = answered !== this.#answered;
    this.#answered = answered;
    if (!isProgress && standing.pace.waiting?.reason !== 'rate') return;
    this.#progressAt = now;
    if (this.#heldUpSince === undefined || !isProgress) return;
    this.#notify(resumed(this.#migration, standing, now - this.#heldUpSince));
    this.#heldUpSince = undefined;
  }

  #notify(message: Notification): void {
    const bodies = bodiesOf(message);
    this.#notifications = this.#notifications.then(() => this.#call('notify', this.#options.hooks.notify, bodies));
  }

  async #call(what: 'notify' | 'heartbeat', url: Secret | undefined, bodies: readonly object[] = []): Promise<void> {
    if (!url) return;
    const problem = await loadHook().then(({ callHook }) => callHook(url, bodies), messageOf);
    if (problem !== undefined) this.#log(`${what}_failed`, { message: problem });
  }

  #writeMetrics({ pace }: { readonly pace: Standing['pace'] | undefined }, running: boolean): void {
    if (isStateLost(this.#options.halt.reason?.code)) return;
    const { rate, deliverer } = this.#run!;
    const { counters } = deliverer;
    const text = metricsText({
      migration: this.#migration,
      running,
      events: this.#tracker!.counts(),
      requests: counters.requests,
      retries: counters.retries,
      rateLimited: counters.rate_limited,
      pace,
      allowedPerMinute: perMinute(rate),
      lastAcknowledgedAt: this.#lastAcknowledgedAt,
    });
    const path = this.#state!.file(METRICS_FILE);
    this.#writing = this.#writing
      .then(() => writeWhole(path, text))
      .catch((error: unknown) => this.#log('metrics_failed', { message: String(error) }));
  }

  async #close(): Promise<void> {
    this.#stopTicking();
    if (this.#run) {
      this.#follow({ types: this.#tracker!.types(), pace: this.#tracker!.pace() }, this.#clock.monotonic());
      this.#writeMetrics({ pace: undefined }, false);
    }
    const delivered = new AbortController();
    void this.#notifications.then(() => delivered.abort());
    await this.#clock.sleep(LAST_NOTIFICATION_MS, delivered.signal);
    await this.#writing;
  }
}

/** With the HTTP client, which a run without hooks or a connection does not need. */
function loadHook(): Promise<typeof hook> {
  return import('./hook.ts');
}
