import type { Database } from './sqlite.ts';

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
  readonly #assertInPlace: () => void;
  #waiting: Change[] = [];
  #failed: { readonly error: unknown } | undefined;

  /** `assertInPlace` throws if the files are no longer where a rerun would look for them. */
  constructor(db: Database, assertInPlace: () => void = () => undefined) {
    this.#db = db;
    this.#assertInPlace = assertInPlace;
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
      this.#assertInPlace();
      this.#db.transaction(() => changes.forEach(({ apply }) => apply()), 'immediate');
    } catch (error) {
      this.#failed = { error };
      for (const { reject } of changes) reject(error);
      return;
    }
    for (const { resolve } of changes) resolve();
  }
}
