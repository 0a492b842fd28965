import { dirname } from 'node:path';
import { systemClock } from '../clock.ts';
import { EXIT, UserError } from '../errors.ts';
import type { Database } from './sqlite.ts';

interface CommitOptions {
  /** Throws if the files are no longer where a rerun would look for them. */
  readonly assertInPlace?: () => void;
  /** Whether the run was asked to stop: then it does not wait long for others. */
  readonly isStopping?: () => boolean;
  /** Shows a warning. */
  readonly warn?: (message: string) => void;
}

/** How long a transaction of another program is waited for. */
const MOST_BUSY_MS = 10 * 60_000;
const MOST_BUSY_STOPPING_MS = 5_000;
const RETRY_MS = 200;

interface Change {
  readonly apply: () => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Groups the changes of two ticks into one transaction: many events are on their way at once, and a commit waits for the
 * disk. After a failed commit every later change fails with the same error, so nothing more is sent.
 */
export class Commits {
  readonly #db: Database;
  readonly #options: CommitOptions;
  /** When another process was first found to hold the lock, by the monotonic clock. */
  #busySince: number | undefined;
  #waiting: Change[] = [];
  #failed: { readonly error: unknown } | undefined;

  constructor(db: Database, options: CommitOptions = {}) {
    this.#db = db;
    this.#options = options;
  }

  /** Resolves when the change is on disk. */
  commit(apply: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      // Two ticks: an answer makes room for the next request, and both go into one commit.
      if (this.#waiting.length === 0) setImmediate(() => setImmediate(() => this.flush()));
      this.#waiting.push({ apply, resolve, reject });
    });
  }

  /** Commits at once what waits. */
  flush(): void {
    const changes = this.#waiting;
    this.#waiting = [];
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
    setTimeout(() => this.flush(), RETRY_MS);
  }
}
