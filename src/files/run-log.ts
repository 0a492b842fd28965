import { closeSync, writeSync } from 'node:fs';
import { cannotWrite } from '../errors.ts';
import { openPrivate } from './private-file.ts';
import type { Redactor } from '../redact.ts';

export const RUN_LOG_FILE = 'run.log';

/** `run.log`: NDJSON with secrets redacted. It contains external ids, but no other values of records. */
export class RunLog {
  readonly #file: number;
  readonly #redactor: Redactor;

  constructor(path: string, redactor: Redactor) {
    this.#redactor = redactor;
    try {
      this.#file = openPrivate(path);
    } catch (error) {
      throw cannotWrite(path, error);
    }
  }

  /** Never fails: a run must not stop because its log cannot be written. */
  write(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const line = this.#redactor.redact(JSON.stringify({ at: new Date().toISOString(), event, ...fields }));
    try {
      writeSync(this.#file, `${line}\n`);
    } catch {
      // For example, the disk is full. The databases have everything that matters.
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}
