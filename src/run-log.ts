import { AppendLog } from './append-log.ts';
import { openRegular } from './private-file.ts';
import type { Redactor } from './redact.ts';

export const RUN_LOG_FILE = 'run.log';

/** `run.log`: NDJSON with secrets redacted. It contains external ids, but no other values of records. */
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

  /** Never fails and never waits: a run must not stop because its log cannot be written. */
  write(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const line = this.#redactor.redact(JSON.stringify({ at: new Date().toISOString(), event, ...fields }));
    void this.#file.append(`${line}\n`, { durable: false }).catch(() => undefined);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Whether the file is a log of this program. */
export async function isRunLog(path: string): Promise<boolean> {
  const file = await openRegular(path).catch(() => undefined);
  if (!file) return false;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(200), 0, 200, 0).finally(() => file.close());
  return /^\{"at":"[^"]*","event":"run","tool":"crm-backfill\//.test(buffer.toString('utf8', 0, bytesRead));
}
