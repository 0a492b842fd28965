import { appendFileSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { messageOf, UserError } from './errors.ts';

interface Waiting {
  readonly text: string;
  readonly durable: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A file that only grows (mode 0600). Whatever waits is written in one go, and one flush to disk serves all that asked for
 * it and were written before it began; who does not ask waits for none. What cannot be written (a full disk, say) is a
 * `UserError`; after one, nothing more is written and every later append fails with it.
 *
 * Writing is synchronous: it ends in the system's memory, and costs less than having another thread do it and hearing of
 * its end. Flushing goes on beside it.
 */
export class AppendLog {
  readonly #path: string;
  readonly #file: FileHandle;
  #waiting: Waiting[] = [];
  /** Written, and waiting for the next flush. */
  #written: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #broken: UserError | undefined;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** Opens for appending; `keepBytes` cuts the file to that length first (0 begins anew). */
  static async open(path: string, options: { keepBytes?: number } = {}): Promise<AppendLog> {
    try {
      const file = await open(path, 'a', 0o600);
      if (options.keepBytes !== undefined) await file.truncate(options.keepBytes);
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

  async close(): Promise<void> {
    this.#write();
    await this.#flushing;
    await this.#file.close();
  }

  #write(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    if (!this.#broken && batch.length > 0) {
      try {
        appendFileSync(this.#file.fd, batch.map(({ text }) => text).join(''));
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
        await this.#file.datasync();
      } catch (error) {
        this.#broken ??= cannotWrite(this.#path, error);
      }
      this.#end(batch);
    }
    this.#flushing = undefined;
  }

  #end(batch: readonly Waiting[]): void {
    for (const { resolve, reject } of batch) {
      if (this.#broken) reject(this.#broken);
      else resolve();
    }
  }
}

export function cannotWrite(path: string, error: unknown): UserError {
  return new UserError(`cannot write ${path}: ${messageOf(error)}`, {
    hint: 'make room or mend the permissions, then rerun: nothing that was acknowledged is lost',
    cause: error,
  });
}
