import { dirname } from 'node:path';
import { systemClock } from '../clock.ts';
import { EXIT, UserError } from '../errors.ts';
import type { Database } from './sqlite.ts';

interface CommitOptions {
  /** Throws if the files are no longer where a rerun would look for them. */
  readonly assertInPlace?: () => void;
  /** Whether the run was asked to stop: then it does not wait long for others. */
  readonly isStopping?: () => boolean;
  /** Whether further changes are likely within milliseconds, because answers are on their way. */
  readonly expectsMore?: () => boolean;
  /** Shows a warning. */
  readonly warn?: (message: string) => void;
}

/** How long a transaction of another program is waited for. */
const MOST_BUSY_MS = 10 * 60_000;
const MOST_BUSY_STOPPING_MS = 5_000;
const RETRY_MS = 200;
/** How long a change waits for others: about as long as the disk takes for a commit. */
const GATHERING_MS = 5;

interface Change {
  readonly apply: () => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Groups changes into one transaction, because many events are on their way at once, and a commit waits for the disk: those of two ticks,
 * and those of the next milliseconds while more are expected. After a failed commit every later change fails with the same error, so
 * nothing more is sent.
 */
export class Commits {
  readonly #db: Database;
  readonly #options: CommitOptions;
  /** When another process was first found to hold the lock, by the monotonic clock. */
  #busySince: number | undefined;
  #waiting: Change[] = [];
  /** A flush is about to come. */
  #isDue = false;
  #gathering: NodeJS.Timeout | undefined;
  #failed: { readonly error: unknown } | undefined;

  constructor(db: Database, options: CommitOptions = {}) {
    this.#db = db;
    this.#options = options;
  }

  /** Resolves when the change is on disk. */
  commit(apply: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ apply, resolve, reject });
      if (this.#isDue) return;
      if (this.#options.expectsMore?.()) {
        this.#gathering ??= setTimeout(() => this.flush(), GATHERING_MS);
        return;
      }
      this.#isDue = true;
      // Two ticks: an answer makes room for the next request, and both go into one commit.
      setImmediate(() => setImmediate(() => this.flush()));
    });
  }

  /** Commits at once what waits. */
  flush(): void {
    const changes = this.#waiting;
    this.#waiting = [];
    this.#isDue = false;
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    if (changes.length === 0) return;
    try {
      if (this.#failed) throw this.#failed.error;
      this.#options.assertInPlace?.();
      if (this.#db.tryTransaction(() => changes.forEach(({ apply }) => apply())) === 'busy') {
        this.#wait();
        this.#waiting = [...changes, ...this.#waiting];
        return;
      }
      this.#busySince = undefined;
    } catch (error) {
      this.#failed = { error };
      for (const { reject } of changes) reject(error);
      return;
    }
    for (const { resolve } of changes) resolve();
  }

  /** Tries again a little later, so that signals are heard meanwhile. Throws once it has taken too long. */
  #wait(): void {
    const { isStopping = () => false, warn } = this.#options;
    const now = systemClock.monotonic();
    if (this.#busySince === undefined)
      warn?.(
        `another program holds a transaction on the databases in ${dirname(this.#db.path)}: waiting until it has ended`,
      );
    this.#busySince ??= now;
    if (now - this.#busySince > (isStopping() ? MOST_BUSY_STOPPING_MS : MOST_BUSY_MS)) {
      throw new UserError(
        `cannot use the databases in ${dirname(this.#db.path)}: another program holds a transaction on one of them`,
        {
          hint: 'close that program (for example a database browser), then rerun: the service recognises what it has processed',
          exitCode: EXIT.stopped,
        },
      );
    }
    this.#isDue = true;
    setTimeout(() => this.flush(), RETRY_MS);
  }
}
