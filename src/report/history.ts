import type { HeaderLine, RunLine, SettledLine } from '../checkpoint/lines.ts';
import { CheckpointReader } from '../checkpoint/read.ts';
import type { EventType } from '../model.ts';
import { Timeline } from './timeline.ts';

/** One run that sent events, according to the checkpoint. */
export interface RunSpan {
  /** ISO 8601: when its survey ended. */
  readonly at: string;
  readonly tool: string;
  acknowledged: number;
  rejected: number;
  /** When its last event was settled. */
  last: string | undefined;
}

/** Receives a settled event, and whether the same content was rejected before. */
export type SettledListener = (line: SettledLine, wasRejected: boolean) => void;

/**
 * The history that a checkpoint contains: its runs, and how many events of each type were settled when. It is read without
 * the lock and continues where it stopped, so that a run can be watched. Damaged lines are skipped.
 */
export class History {
  header: HeaderLine | undefined;
  readonly runs: RunSpan[] = [];
  readonly timeline = new Timeline();
  readonly acknowledged = new Map<EventType, number>();
  lastAt: string | undefined;
  readonly #reader: CheckpointReader;
  readonly #onSettled: SettledListener | undefined;
  /** Content hashes of events that were rejected and have not been acknowledged since. */
  readonly #rejected = new Map<string, string>();

  constructor(path: string, onSettled?: SettledListener) {
    this.#reader = new CheckpointReader(path);
    this.#onSettled = onSettled;
  }

  /** One sentence about damaged lines; undefined if there are none. */
  get damageText(): string | undefined {
    const [first, ...others] = this.#reader.damagedLines;
    if (first === undefined) return undefined;
    const lines = others.length === 0 ? `line ${first}` : `line ${first} and ${others.length} more`;
    return `The checkpoint is damaged (${lines}): damaged lines are not counted here, and \`run\` sends nothing until they are removed.`;
  }

  /** Reads what has been appended since the last call. */
  async catchUp(): Promise<void> {
    for await (const lines of this.#reader.pieces()) {
      for (const line of lines) {
        if (line.kind === undefined) this.#settle(line);
        else if (line.kind === 'header') this.header ??= line;
        else if (line.kind === 'run') this.#beginRun(line);
      }
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
