import { AppendLog } from '../append-log.ts';
import type { LoadedCheckpoint } from './load.ts';
import type { HeaderLine, RunLine, SentLine, SettledLine } from './lines.ts';

/** Appends to a checkpoint. What it resolved as settled survives a power cut; what it resolved as sent survives kill -9. */
export class CheckpointWriter {
  readonly #log: AppendLog;

  private constructor(log: AppendLog) {
    this.#log = log;
  }

  /** Cuts a torn last line off, so that the next line begins on its own. */
  static async open(path: string, loaded: LoadedCheckpoint): Promise<CheckpointWriter> {
    return new CheckpointWriter(await AppendLog.open(path, { keepBytes: loaded.wholeBytes }));
  }

  /** The head of a new checkpoint, or of a new run: on disk before anything is sent. */
  async begin(lines: readonly (HeaderLine | RunLine)[]): Promise<void> {
    await this.#log.append(lines.map(asLine).join(''), { durable: true });
  }

  sent(line: SentLine): Promise<void> {
    return this.#log.append(asLine(line), { durable: false });
  }

  settle(line: SettledLine): Promise<void> {
    return this.#log.append(asLine(line), { durable: true });
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}

function asLine(line: HeaderLine | RunLine | SentLine | SettledLine): string {
  return `${JSON.stringify(line)}\n`;
}
