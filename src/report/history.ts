import type { CheckpointLine, HeaderLine, RunLine, SettledLine } from '../checkpoint/lines.ts';
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

/** How many of the events settled last are kept. */
const LATEST = 12;

/** Receives a settled event, and whether the same content was rejected before. */
export type SettledListener = (line: SettledLine, wasRejected: boolean) => void;

/** The history that a checkpoint contains: its runs, and how many events of each type were settled when. */
export class History {
  header: HeaderLine | undefined;
  readonly runs: RunSpan[] = [];
  readonly timeline = new Timeline();
  readonly acknowledged = new Map<EventType, number>();
  lastAt: string | undefined;
  /** The events settled last, the latest last. */
  readonly latest: SettledLine[] = [];
  readonly #onSettled: SettledListener | undefined;
  /** Content hashes of events that were rejected and have not been acknowledged since. */
  readonly #rejected = new Map<string, string>();

  constructor(onSettled?: SettledListener) {
    this.#onSettled = onSettled;
  }

  /** Adds the next line of the checkpoint. */
  take(line: CheckpointLine): void {
    if (line.kind === undefined) this.#settle(line);
    else if (line.kind === 'header') this.header ??= line;
    else if (line.kind === 'run') this.#beginRun(line);
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
    this.latest.push(line);
    if (this.latest.length > LATEST) this.latest.shift();
    const run = this.runs.at(-1);
    if (run) {
      run[status] += 1;
      run.last = at;
    }
    this.#onSettled?.(line, wasRejected);
  }
}
