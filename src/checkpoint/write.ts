import { AppendLog } from '../append-log.ts';
import type { LoadedCheckpoint } from './load.ts';
import type { HeaderLine, RunLine, SentLine, SettledLine } from './lines.ts';

/** Appends to a checkpoint. Once its promise resolves, a settled line survives a power cut, a sent line a kill -9. */
export class CheckpointWriter {
  readonly #log: AppendLog;

  private constructor(log: AppendLog) {
    this.#log = log;
  }

  /** Cuts off a torn last line, so that the next line does not continue it. */
  static async open(path: string, loaded: LoadedCheckpoint): Promise<CheckpointWriter> {
    return new CheckpointWriter(await AppendLog.open(path, { keepBytes: loaded.wholeBytes }));
  }

  /** Writes the first lines of a checkpoint or of a run: on disk before anything is sent. */
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
