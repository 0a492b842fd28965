import { appendFileSync, closeSync, existsSync, fdatasync, fstatSync, ftruncateSync } from 'node:fs';
import { promisify } from 'node:util';
import { EXIT, messageOf, shortageOf, UserError } from './errors.ts';
import { openPrivate } from './private-file.ts';

const flushed = promisify(fdatasync);

interface Append {
  readonly text: string;
  readonly durable: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * An append-only file (mode 0600). Appends that wait are written in one call, and one flush to disk serves all durable
 * appends that were written before it began; an append that is not durable does not wait for a flush. A failed write (a full
 * disk, say) is a `UserError`; after it nothing more is written, and every later append fails with the same error.
 *
 * Writes are synchronous: they end in the page cache, which is faster than handing them to a thread pool. Flushes are not.
 */
export class AppendLog {
  readonly #path: string;
  readonly #file: number;
  #waiting: Append[] = [];
  /** Written but not flushed yet. */
  #written: Append[] = [];
  #flushing: Promise<void> | undefined;
  #broken: UserError | undefined;

  private constructor(path: string, file: number) {
    this.#path = path;
    this.#file = file;
  }

  /** Opens for appending; `keepBytes` truncates the file to that length first (0 empties it). */
  static async open(path: string, options: { keepBytes?: number } = {}): Promise<AppendLog> {
    try {
      const file = openPrivate(path);
      if (options.keepBytes !== undefined) ftruncateSync(file, options.keepBytes);
      return new AppendLog(path, file);
    } catch (error) {
      throw cannotWrite(path, error);
    }
  }

  /** Resolves when the text is in the file, or, if `durable`, on the disk. */
  append(text: string, options: { durable: boolean }): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) queueMicrotask(() => this.#write());
      this.#waiting.push({ text, durable: options.durable, resolve, reject });
    });
  }

  /** Whether what is written can be found again: writing to a file that was deleted or moved succeeds, and so does flushing. */
  get isInPlace(): boolean {
    return existsSync(this.#path) && fstatSync(this.#file).nlink > 0;
  }

  async close(): Promise<void> {
    this.#write();
    await this.#flushing;
    closeSync(this.#file);
  }

  #write(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    if (!this.#broken && batch.length > 0) {
      try {
        appendFileSync(this.#file, batch.map(({ text }) => text).join(''));
      } catch (error) {
        this.#broken = cannotWrite(this.#path, error);
      }
    }
    this.#end(batch.filter(({ durable }) => !durable || this.#broken));
    if (this.#broken) return;
    this.#written.push(...batch.filter(({ durable }) => durable));
    if (this.#written.length > 0) this.#flushing ??= this.#flush();
  }

  async #flush(): Promise<void> {
    while (this.#written.length > 0) {
      const batch = this.#written;
      this.#written = [];
      try {
        await flushed(this.#file);
      } catch (error) {
        this.#broken ??= cannotWrite(this.#path, error);
      }
      this.#end(batch);
    }
    this.#flushing = undefined;
  }

  #end(batch: readonly Append[]): void {
    for (const { resolve, reject } of batch) {
      if (this.#broken) reject(this.#broken);
      else resolve();
    }
  }
}

export function cannotWrite(path: string, error: unknown): UserError {
  return new UserError(`cannot write ${path}: ${messageOf(error)}`, {
    hint: `${shortageOf(error, EXIT.stopped)?.hint ?? 'check the permissions, then rerun'}: nothing that was acknowledged is lost`,
    cause: error,
  });
}
