import { AppendLog } from '../append-log.ts';
import type { EventType, Issue, Omission, Place, RawRecord } from '../model.ts';
import type { Source } from '../source/source.ts';
import type { StateDir } from '../state-dir.ts';
import { csvLine } from '../csv.ts';
import { Rejects } from './rejects.ts';

/** The report entry of one event (or record) that is not acknowledged. */
export interface ErrorEntry {
  readonly place: Place;
  /** Absent if the record produced no event. */
  readonly type?: EventType;
  readonly externalId?: string | undefined;
  readonly eventId?: string;
  readonly issues: readonly Issue[];
  readonly httpStatus?: number | undefined;
  readonly attempts?: number;
  /** The record as read, for the rejects file. */
  readonly raw?: RawRecord | undefined;
}

/** The first issue with a code, and the first few places with the same message, thus with the same value. */
export interface CodeExample {
  readonly issue: Issue;
  readonly places: Place[];
}

const MAX_PLACES = 3;

const ERROR_COLUMNS = [
  'source',
  'file',
  'line',
  'record',
  'event_type',
  'external_id',
  'event_id',
  'kind',
  'code',
  'http_status',
  'field',
  'message',
  'hint',
  'attempts',
  'at',
] as const;

const OMITTED_COLUMNS = ['source', 'file', 'line', 'external_id', 'field', 'original', 'reason'];

/**
 * The error report of a run: `errors.csv`, `errors.ndjson`, `rejects/` and `omitted.csv`, rewritten by every run. Each method
 * resolves when its lines are in the file (on disk, if `durable`).
 */
export class ErrorReport {
  readonly errorsByCode = new Map<string, number>();
  readonly warningsByCode = new Map<string, number>();
  /** By code; no code is used for both errors and warnings. */
  readonly examples = new Map<string, CodeExample>();
  readonly rejects: Rejects;
  readonly #csv: AppendLog;
  readonly #ndjson: AppendLog;
  readonly #omitted: AppendLog;

  private constructor(rejects: Rejects, logs: { csv: AppendLog; ndjson: AppendLog; omitted: AppendLog }) {
    this.rejects = rejects;
    this.#csv = logs.csv;
    this.#ndjson = logs.ndjson;
    this.#omitted = logs.omitted;
  }

  static async open(state: StateDir, sources: ReadonlyMap<string, Source>): Promise<ErrorReport> {
    const truncated = { keepBytes: 0 };
    const rejects = await Rejects.begin(state, sources);
    const [csv, ndjson, omitted] = await Promise.all([
      AppendLog.open(state.file('errors.csv'), truncated),
      AppendLog.open(state.file('errors.ndjson'), truncated),
      AppendLog.open(state.file('omitted.csv'), truncated),
    ]);
    await csv.append(csvLine(ERROR_COLUMNS), { durable: false });
    await omitted.append(csvLine(OMITTED_COLUMNS), { durable: false });
    return new ErrorReport(rejects, { csv, ndjson, omitted });
  }

  async error(entry: ErrorEntry, options: { durable: boolean } = { durable: false }): Promise<void> {
    const at = new Date().toISOString();
    const errors = entry.issues.filter(({ severity }) => severity === 'error');
    const lines = errors.map((issue) => errorLine(entry, issue, at));
    for (const issue of errors) {
      count(this.errorsByCode, issue.code);
      this.#remember(issue, entry.place);
    }
    await Promise.all([
      this.#csv.append(lines.map((line) => csvLine(ERROR_COLUMNS.map((name) => line[name]))).join(''), options),
      this.#ndjson.append(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), options),
      this.rejects.add(entry.place, entry.raw, errors),
    ]);
  }

  warning(issue: Issue, place?: Place): void {
    count(this.warningsByCode, issue.code);
    this.#remember(issue, place);
  }

  async omitted(
    place: Place,
    externalId: string | undefined,
    omissions: readonly Omit<Omission, 'code'>[],
  ): Promise<void> {
    const lines = omissions.map(({ field, original, reason }) =>
      csvLine([place.source, place.file, place.line, externalId, field, original, reason]),
    );
    await this.#omitted.append(lines.join(''), { durable: false });
  }

  async close(): Promise<void> {
    await Promise.all([this.#csv, this.#ndjson, this.#omitted, this.rejects].map((log) => log.close()));
  }

  /** Instead of `close`, after a survey that failed: the rejects of the run before stay. */
  async discard(): Promise<void> {
    await this.close();
    await this.rejects.discard();
  }

  #remember(issue: Issue, place: Place | undefined): void {
    const known = this.examples.get(issue.code);
    if (!known) this.examples.set(issue.code, { issue, places: place ? [place] : [] });
    else if (place && issue.message === known.issue.message && known.places.length < MAX_PLACES)
      known.places.push(place);
  }
}

function errorLine(
  entry: ErrorEntry,
  issue: Issue,
  at: string,
): Record<(typeof ERROR_COLUMNS)[number], string | number> {
  return {
    source: entry.place.source,
    file: entry.place.file,
    line: entry.place.line,
    record: entry.place.record,
    event_type: entry.type ?? '',
    external_id: entry.externalId ?? '',
    event_id: entry.eventId ?? '',
    kind: issue.kind,
    code: issue.code,
    http_status: entry.httpStatus ?? '',
    field: issue.field ?? '',
    message: issue.message,
    hint: issue.hint ?? '',
    attempts: entry.attempts ?? 0,
    at,
  };
}

function count(counts: Map<string, number>, code: string): void {
  counts.set(code, (counts.get(code) ?? 0) + 1);
}
