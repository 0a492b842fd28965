import { AppendLog } from '../append-log.ts';
import type { LoadedCheckpoint } from './load.ts';
import type { CheckpointLine, HeaderLine, RunLine, SentLine, SettledLine } from './lines.ts';

/** Appends to a checkpoint. Once its promise resolves, a settled line survives a power cut, a sent line a kill -9. */
export class CheckpointWriter {
  readonly #log: AppendLog;
  readonly #onLine: (line: CheckpointLine) => void;

  private constructor(log: AppendLog, onLine: (line: CheckpointLine) => void) {
    this.#log = log;
    this.#onLine = onLine;
  }

  /**
   * Cuts off a torn last line, so that the next line does not continue it. `onLine` is called with each line that has been
   * written, except sent lines.
   */
  static async open(
    path: string,
    loaded: LoadedCheckpoint,
    onLine: (line: CheckpointLine) => void = () => undefined,
  ): Promise<CheckpointWriter> {
    return new CheckpointWriter(await AppendLog.open(path, { keepBytes: loaded.wholeBytes }), onLine);
  }

  /** Writes the first lines of a checkpoint or of a run: on disk before anything is sent. */
  async begin(lines: readonly (HeaderLine | RunLine)[]): Promise<void> {
    await this.#log.append(lines.map(asLine).join(''), { durable: true });
    for (const line of lines) this.#onLine(line);
  }

  sent(line: SentLine): Promise<void> {
    return this.#log.append(asLine(line), { durable: false });
  }

  async settle(line: SettledLine): Promise<void> {
    await this.#log.append(asLine(line), { durable: true });
    this.#onLine(line);
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}

function asLine(line: CheckpointLine): string {
  return `${JSON.stringify(line)}\n`;
}
