import { AppendLog } from './append-log.ts';
import type { Redactor } from './redact.ts';

export const RUN_LOG_FILE = 'run.log';

/** `run.log`: NDJSON, secrets redacted, external ids but no other values of records. */
export class RunLog {
  readonly #file: AppendLog;
  readonly #redactor: Redactor;

  private constructor(file: AppendLog, redactor: Redactor) {
    this.#file = file;
    this.#redactor = redactor;
  }

  static async open(path: string, redactor: Redactor): Promise<RunLog> {
    return new RunLog(await AppendLog.open(path), redactor);
  }

  /** Never fails and never waits: a log that cannot be written must not end a run. */
  write(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const line = this.#redactor.redact(JSON.stringify({ at: new Date().toISOString(), event, ...fields }));
    void this.#file.append(`${line}\n`, { durable: false }).catch(() => undefined);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
