import { open, type FileHandle } from 'node:fs/promises';

interface Waiting {
  readonly text: string;
  readonly durable: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A file that only grows (mode 0600). Whatever waits is written in one go, and one flush to disk serves all that asked
 * for it. After a failed write nothing more is written: every later append fails with the same error.
 */
export class AppendLog {
  readonly #file: FileHandle;
  #waiting: Waiting[] = [];
  #working: Promise<void> | undefined;
  #broken: { readonly cause: unknown } | undefined;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Opens for appending; `keepBytes` cuts the file to that length first (0 begins anew). */
  static async open(path: string, options: { keepBytes?: number } = {}): Promise<AppendLog> {
    const file = await open(path, 'a', 0o600);
    if (options.keepBytes !== undefined) await file.truncate(options.keepBytes);
    return new AppendLog(file);
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
        if (this.#broken) reject(this.#broken.cause);
        else resolve();
      }
    }
    this.#working = undefined;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#file.appendFile(batch.map(({ text }) => text).join(''));
      if (batch.some(({ durable }) => durable)) await this.#file.datasync();
    } catch (cause) {
      this.#broken = { cause };
    }
  }
}
