import { systemClock, type Clock } from '../../clock.ts';
import { EXIT, messageOf, UserError } from '../../errors.ts';
import { isStateLost, type Halt } from '../../halt.ts';
import { counted } from '../words/numbers.ts';
import { ProgressTracker, type ProgressView } from './progress-tracker.ts';
import type { WaitingState } from './progress-text.ts';
import type { Secret } from '../../redact.ts';
import type { Summary } from '../files/summary.ts';
import { noteWait } from '../../store/checkpoint.ts';
import type { Database } from '../../store/sqlite.ts';
import type * as hook from './hook.ts';
import { ended, failed, heldUp, resumed, started, type Notification, type Standing } from './messages.ts';

interface WatchOptions {
  /** The name of the migration in messages, until its real name is known. */
  readonly mapping: string;
  /** The URL of `--notify`. */
  readonly notify: Secret | undefined;
  readonly maxOutageMs: number;
  readonly halt: Halt;
  /** Shows a warning. */
  readonly warn: (message: string) => void;
  readonly clock?: Clock;
}

type Log = (event: string, fields: Readonly<Record<string, unknown>>) => void;

const TICK_MS = 1_000;
/** A run without progress for this long is held up. */
const HELD_UP_MS = 5 * 60_000;
/** How long the end of a run waits for its notifications. */
const LAST_NOTIFICATION_MS = 10_000;

/**
 * Watches a run for people who are not looking: sends the messages of `--notify`, and says in the checkpoint what the run waits
 * for. Nothing here delays the run or makes it fail: messages are sent beside it, and one that cannot be delivered is a
 * warning. Only the end waits for the last one, ten seconds at most.
 */
export class Watch {
  readonly #options: WatchOptions;
  readonly #clock: Clock;
  #migration: string;
  #log: Log = () => undefined;
  #stopTicking: () => void = () => undefined;
  #db: Database | undefined;
  #tracker: ProgressTracker | undefined;
  #deliverer: ProgressView['deliverer'] | undefined;
  #answered = -1;
  /** Monotonic, as `#heldUpSince`. */
  #progressAt = 0;
  #heldUpSince: number | undefined;
  /** What is in the checkpoint. */
  #noted: string | undefined;
  /** Sent one after the other, so that messages arrive in order. */
  #notifications: Promise<void> = Promise.resolve();
  /** Messages without an outcome. */
  readonly #waiting = new Set<Notification>();
  readonly #undelivered: string[] = [];

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#migration = options.mapping;
    this.#clock = options.clock ?? systemClock;
  }

  /** Loads what messages need: while a run is sending, there may be too few file descriptors. */
  async load(): Promise<void> {
    if (this.#options.notify) await loadHook();
  }

  /** From now on messages name the migration, and those that cannot be delivered are logged. */
  begin(migration: string, log: Log): void {
    this.#migration = migration;
    this.#log = log;
  }

  /** From now on the run sends events. `db`: its plan, with the checkpoint. */
  sending(run: ProgressView, db: Database): void {
    this.#db = db;
    this.#deliverer = run.deliverer;
    this.#tracker = new ProgressTracker(run);
    this.#progressAt = this.#clock.monotonic();
    const standing = this.#standing();
    if (standing.pace.left > 0) this.#notify(started(this.#migration, standing));
    this.#stopTicking = this.#clock.every(TICK_MS, () => this.#tick());
    this.#tick();
  }

  /** Whether an event has gone out. */
  get hasSent(): boolean {
    return (this.#deliverer?.counters.events_sent ?? 0) > 0;
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

  /** Says at the end of a run which messages were not delivered, and why; undefined if all were. */
  get undelivered(): string | undefined {
    const problem = this.#undelivered.at(-1);
    if (problem === undefined) return undefined;
    return `${counted(this.#undelivered.length, 'message')} to --notify could not be delivered: ${problem}`;
  }

  #standing(): Standing {
    return { types: this.#tracker!.types(), pace: this.#tracker!.pace() };
  }

  #tick(): void {
    const now = this.#clock.monotonic();
    const standing = this.#standing();
    this.#follow(standing, now);
    const sinceProgress = now - this.#progressAt;
    if (this.#heldUpSince === undefined && sinceProgress >= HELD_UP_MS) {
      this.#heldUpSince = this.#progressAt;
      this.#notify(heldUp(this.#migration, standing, sinceProgress, this.#options.maxOutageMs));
    }
    this.#note(standing.pace.waiting, standing.pace.now);
  }

  /** Progress is an event that was answered, or a wait for the rate limit, which is as planned. */
  #follow(standing: Standing, now: number): void {
    const answered = standing.types.reduce((total, each) => total + each.acknowledged + each.rejected, 0);
    const isProgress = answered !== this.#answered;
    this.#answered = answered;
    if (!isProgress && standing.pace.waiting?.reason !== 'rate') return;
    this.#progressAt = now;
    if (this.#heldUpSince === undefined || !isProgress) return;
    this.#notify(resumed(this.#migration, standing, now - this.#heldUpSince));
    this.#heldUpSince = undefined;
  }

  #note(waiting: WaitingState | undefined, now: Date): void {
    const reason = waiting?.reason === 'rate' ? undefined : waiting?.reason;
    const isLost = isStateLost(this.#options.halt.reason?.code);
    const because = reason === undefined ? undefined : waiting?.because;
    const noted = reason === undefined ? undefined : `${reason} ${because}`;
    if (noted === this.#noted || isLost || !this.#db?.isOpen) return;
    this.#noted = noted;
    try {
      const since = new Date(now.getTime() - (waiting?.forMs ?? 0)).toISOString();
      noteWait(this.#db, reason === undefined ? undefined : { reason, since, because: because ?? null });
    } catch (error) {
      this.#log('wait_not_noted', { message: messageOf(error) });
    }
  }

  #notify(message: Notification): void {
    const { notify } = this.#options;
    if (!notify) return;
    this.#waiting.add(message);
    this.#notifications = this.#notifications.then(() => this.#deliver(notify, message));
  }

  async #deliver(url: Secret, message: Notification): Promise<void> {
    // Some chats refuse keys that they do not know: they get the text alone.
    const bodies = [message, { text: message.text }];
    const problem = await loadHook().then(({ callHook }) => callHook(url, bodies), messageOf);
    if (this.#waiting.delete(message) && problem !== undefined) this.#lost(message.event, problem);
  }

  #lost(event: string, problem: string): void {
    this.#undelivered.push(problem);
    this.#log('notify_failed', { notification: event, message: problem });
    this.#options.warn(`the message \`${event}\` to --notify could not be delivered: ${problem}`);
  }

  async #close(): Promise<void> {
    this.#stopTicking();
    if (this.#tracker) {
      this.#follow(this.#standing(), this.#clock.monotonic());
      this.#note(undefined, new Date());
    }
    const delivered = new AbortController();
    void this.#notifications.then(() => delivered.abort());
    await this.#clock.sleep(LAST_NOTIFICATION_MS, delivered.signal);
    for (const message of this.#waiting) this.#lost(message.event, 'the run ended before it was answered');
    this.#waiting.clear();
  }
}

/** With the HTTP client, which a run without notifications or a connection does not need. */
function loadHook(): Promise<typeof hook> {
  return import('./hook.ts');
}
