/** What became of single events, according to the checkpoint and the error report. */
import { CHECKPOINT_FILE, type SentLine, type SettledLine } from '../checkpoint/lines.ts';
import { CheckpointReader } from '../checkpoint/read.ts';
import { recordKey } from '../compare/last-sent.ts';
import { entityOf, isUpdate, type EventType, type Place, type Planned } from '../model.ts';
import { parseLine, wholeLines } from '../report/lines.ts';
import type { NamedRecord } from '../settings.ts';
import type { StateDir } from '../state-dir.ts';

export const ERRORS_FILE = 'errors.ndjson';

export type EventFate = 'acknowledged' | 'duplicate' | 'invalid' | 'rejected' | 'blocked' | 'pending';

/** A line of `errors.ndjson`. */
export interface ErrorLine extends Place {
  readonly event_type: EventType;
  readonly external_id: string;
  readonly kind: string;
  readonly code: string;
  readonly field: string;
  readonly message: string;
  readonly hint: string;
  readonly attempts: number;
  readonly at: string;
}

/** What identifies an event of the plan. */
export type EventKey = Pick<Planned, 'type' | 'externalId' | 'sha' | 'place'>;

/** The fates of the events of one record, and of some others. */
export class Fates {
  /** Errors of the record, in the order of the report. */
  readonly errors: ErrorLine[] = [];
  /** What was settled about the record, in the order of the checkpoint. */
  readonly settled: SettledLine[] = [];
  /** Requests about the record whose answers are not recorded, by event id. */
  readonly unanswered = new Map<string, SentLine>();
  /** How often each was acknowledged, and those that were rejected. */
  readonly #acknowledged = new Map<string, number>();
  readonly #rejected = new Set<string>();
  readonly #errorKinds = new Map<string, string>();
  readonly #own: string;
  readonly #others: ReadonlySet<string>;

  private constructor(own: string, others: readonly EventKey[]) {
    this.#own = own;
    this.#others = new Set(others.flatMap((event) => [settledKey(event), errorKey(event)]));
  }

  /** `errorFiles`: the newest first. A last line that is being written, and damaged ones, are skipped. */
  static async read(
    state: StateDir,
    errorFiles: readonly string[],
    record: NamedRecord,
    others: readonly EventKey[],
  ): Promise<Fates> {
    const fates = new Fates(recordKey(record.entity, record.externalId), others);
    for (const path of errorFiles) {
      for await (const text of wholeLines(path)) fates.#takeError(parseLine<ErrorLine>(text), path === errorFiles[0]);
    }
    for await (const lines of new CheckpointReader(state.file(CHECKPOINT_FILE)).pieces()) {
      for (const line of lines) if (line.kind === undefined || line.kind === 'sent') fates.#takeSettled(line);
    }
    return fates;
  }

  /** Nothing is known about the record. */
  get isUnknown(): boolean {
    return this.errors.length === 0 && this.settled.length === 0 && this.unanswered.size === 0;
  }

  of(event: EventKey): EventFate {
    const key = settledKey(event);
    const acknowledged = this.#acknowledged.get(key) ?? 0;
    if (acknowledged > 0) {
      // Of events with the same content, each acknowledgement is of one.
      if (key.includes(' sha ')) this.#acknowledged.set(key, acknowledged - 1);
      return 'acknowledged';
    }
    const kind = this.#errorKinds.get(errorKey(event));
    if (kind !== undefined && kind !== 'send') return kind === 'blocked' ? 'blocked' : 'invalid';
    return kind === 'send' || this.#rejected.has(key) ? 'rejected' : 'pending';
  }

  /** Of an older report, only the answers of the service still hold. */
  #takeError(line: Partial<ErrorLine> | undefined, isNewest: boolean): void {
    if (typeof line?.code !== 'string' || !line.event_type || (!isNewest && line.kind !== 'send')) return;
    const error = line as ErrorLine;
    const { event_type: type, external_id: externalId } = error;
    const isOwn = externalId !== '' && recordKey(entityOf(type), externalId) === this.#own;
    const key = errorKey({ type, ...(externalId === '' ? {} : { externalId }), place: error });
    if (!isOwn && !this.#others.has(key)) return;
    if (isOwn && (isNewest || !this.#errorKinds.has(key))) this.errors.push(error);
    if (isNewest || !this.#errorKinds.has(key)) this.#errorKinds.set(key, error.kind);
  }

  #takeSettled(line: SentLine | SettledLine): void {
    const { type, external_id: externalId, content_sha: sha } = line;
    const key = settledKey({ type, ...(externalId === null ? {} : { externalId }), sha });
    const isOwn = externalId !== null && recordKey(entityOf(type), externalId) === this.#own;
    if (!isOwn && !this.#others.has(key)) return;
    if (line.kind === 'sent') {
      if (isOwn) this.unanswered.set(line.id, line);
      return;
    }
    if (line.status === 'rejected') this.#rejected.add(key);
    else this.#acknowledged.set(key, (this.#acknowledged.get(key) ?? 0) + 1);
    if (!isOwn) return;
    this.unanswered.delete(line.id);
    this.settled.push(line);
  }
}

/** A record is created once; its updates, and comments without an id, are told apart by their content. */
function settledKey({ type, externalId, sha }: Omit<EventKey, 'place'>): string {
  return externalId !== undefined && !isUpdate(type) ? `${type} ${externalId}` : `${type} ${externalId} sha ${sha}`;
}

/** In the error report an update is told apart by its record in the export. */
function errorKey({ type, externalId, place }: Omit<EventKey, 'sha'>): string {
  const which = externalId === undefined || isUpdate(type) ? [place.source, place.file, place.record] : [];
  return JSON.stringify([type, externalId, ...which]);
}
