import { AppendLog } from '../append-log.ts';
import { StateRemoved } from '../state-dir.ts';
import type { LoadedCheckpoint } from './load.ts';
import type { CheckpointLine, ComparedLine, HeaderLine, RunLine, SentLine, SettledLine } from './lines.ts';

/** Appends to a checkpoint. Once its promise resolves, a settled line survives a power cut, a sent line a kill -9. */
export class CheckpointWriter {
  readonly #log: AppendLog;
  readonly #path: string;
  readonly #onLine: (line: CheckpointLine) => void;

  private constructor(log: AppendLog, path: string, onLine: (line: CheckpointLine) => void) {
    this.#log = log;
    this.#path = path;
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
    return new CheckpointWriter(await AppendLog.open(path, { keepBytes: loaded.wholeBytes }), path, onLine);
  }

  /** Writes the first lines of a checkpoint or of a run: on disk before anything is sent. */
  async begin(lines: readonly (HeaderLine | RunLine | ComparedLine)[]): Promise<void> {
    await this.#log.append(lines.map(asLine).join(''), { durable: true });
    for (const line of lines) this.#onLine(line);
  }

  /** Throws `StateRemoved` if the file is no longer where a rerun would look for it. */
  async sent(line: SentLine): Promise<void> {
    this.#assertInPlace();
    await this.#log.append(asLine(line), { durable: false });
  }

  /** Throws `StateRemoved` if the file is no longer where a rerun would look for it. */
  async settle(line: SettledLine): Promise<void> {
    await this.#log.append(asLine(line), { durable: true });
    this.#assertInPlace();
    this.#onLine(line);
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  #assertInPlace(): void {
    if (!this.#log.isInPlace) throw new StateRemoved(this.#path);
  }
}

function asLine(line: CheckpointLine): string {
  return `${JSON.stringify(line)}\n`;
}
