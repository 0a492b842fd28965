import { open, type FileHandle } from 'node:fs/promises';
import { messageOf, UserError } from './errors.ts';

interface Waiting {
  readonly text: string;
  readonly durable: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A file that only grows (mode 0600). Whatever waits is written in one go, and one flush to disk serves all that asked
 * for it. What cannot be written (a full disk, say) is a `UserError`; after one, nothing more is written and every later
 * append fails with it.
 */
export class AppendLog {
  readonly #path: string;
  readonly #file: FileHandle;
  #waiting: Waiting[] = [];
  #working: Promise<void> | undefined;
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
      this.#waiting.push({ text, durable: options.durable, resolve, reject });
      this.#working ??= this.#work();
    });
  }

  async close(): Promise<void> {
    await this.#working;
    await this.#file.close();
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      if (!this.#broken) await this.#write(batch);
      for (const { resolve, reject } of batch) {
        if (this.#broken) reject(this.#broken);
        else resolve();
      }
    }
    this.#working = undefined;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#file.appendFile(batch.map(({ text }) => text).join(''));
      if (batch.some(({ durable }) => durable)) await this.#file.datasync();
    } catch (error) {
      this.#broken = cannotWrite(this.#path, error);
    }
  }
}

export function cannotWrite(path: string, error: unknown): UserError {
  return new UserError(`cannot write ${path}: ${messageOf(error)}`, {
    hint: 'make room or mend the permissions, then rerun: nothing that was acknowledged is lost',
    cause: error,
  });
}
