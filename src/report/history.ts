import { LineForms } from '../checkpoint/forms.ts';
import type { HeaderLine, RunLine, SettledLine } from '../checkpoint/lines.ts';
import { isTorn, linesOf, readPieces } from '../checkpoint/read.ts';
import type { EventType } from '../model.ts';
import { Timeline } from './timeline.ts';

/** One run that sent something, as the checkpoint shows it. */
export interface RunSpan {
  /** ISO 8601: when its survey was over. */
  readonly at: string;
  readonly tool: string;
  acknowledged: number;
  rejected: number;
  /** When its last event was settled. */
  last: string | undefined;
}

/** A settled event (good until the next), and whether it was known as rejected with the same content before. */
export type SettledListener = (line: SettledLine, wasRejected: boolean) => void;

/**
 * What a checkpoint tells people: runs, how much was settled when, by type. Reads without the lock, and goes on from
 * where it stopped, so that a run can be watched.
 */
export class History {
  header: HeaderLine | undefined;
  readonly runs: RunSpan[] = [];
  readonly timeline = new Timeline();
  readonly acknowledged = new Map<EventType, number>();
  lastAt: string | undefined;
  readonly #path: string;
  readonly #forms = new LineForms();
  readonly #onSettled: SettledListener | undefined;
  /** Content of what is rejected and was not acknowledged since. */
  readonly #rejected = new Map<string, string>();
  #offset = 0;

  constructor(path: string, onSettled?: SettledListener) {
    this.#path = path;
    this.#onSettled = onSettled;
  }

  /** Reads what was appended since the last call. */
  async catchUp(): Promise<void> {
    for await (const piece of readPieces(this.#path, this.#offset)) {
      if (isTorn(piece)) return;
      for (const line of linesOf(piece, this.#forms)) {
        if (!line) continue;
        if (line.kind === undefined) this.#settle(line);
        else if (line.kind === 'header') this.header ??= line;
        else if (line.kind === 'run') this.#beginRun(line);
      }
      this.#offset += piece.length;
    }
  }

  rejected(type: EventType): number {
    let count = 0;
    for (const key of this.#rejected.keys()) if (key.startsWith(`${type} `)) count += 1;
    return count;
  }

  #beginRun({ at, tool }: RunLine): void {
    this.runs.push({ at, tool, acknowledged: 0, rejected: 0, last: undefined });
  }

  #settle(line: SettledLine): void {
    const { type, status, at } = line;
    // It may be damaged: nothing else needs it.
    if (typeof at !== 'string') return;
    const key = `${type} ${line.external_id ?? line.id}`;
    const wasRejected = this.#rejected.get(key) === line.content_sha;
    if (status === 'rejected') this.#rejected.set(key, line.content_sha);
    else {
      this.#rejected.delete(key);
      this.acknowledged.set(type, (this.acknowledged.get(type) ?? 0) + 1);
    }
    this.timeline.add(at, type, status);
    this.lastAt = at;
    const run = this.runs.at(-1);
    if (run) {
      run[status] += 1;
      run.last = at;
    }
    this.#onSettled?.(line, wasRejected);
  }
}
