import { mkdir, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { AppendLog } from '../append-log.ts';
import { canonicalJson, type JsonObject } from '../json.ts';
import type { EventType, Issue, Omission, Place, RawRecord } from '../model.ts';
import type { Source } from '../source/source.ts';
import type { StateDir } from '../state-dir.ts';
import { csvLine } from '../csv.ts';

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
 * The error report of a run: `errors.csv`, `errors.ndjson`, `rejects/<source>.csv|.ndjson` and `omitted.csv`, rewritten
 * by every run. Each method resolves when its lines are in the file (on disk, if `durable`).
 */
export class ErrorReport {
  readonly errorsByCode = new Map<string, number>();
  readonly warningsByCode = new Map<string, number>();
  /** By code; no code is used for both errors and warnings. */
  readonly examples = new Map<string, CodeExample>();
  readonly #directory: string;
  readonly #csv: AppendLog;
  readonly #ndjson: AppendLog;
  readonly #omitted: AppendLog;
  readonly #sources: ReadonlyMap<string, Source>;
  readonly #rejects = new Map<string, Promise<AppendLog>>();
  readonly #rejected = new Set<string>();
  /** Sources with records that have errors themselves, not only blocked ones. */
  readonly #faulty = new Set<string>();

  private constructor(
    directory: string,
    sources: ReadonlyMap<string, Source>,
    logs: { csv: AppendLog; ndjson: AppendLog; omitted: AppendLog },
  ) {
    this.#directory = directory;
    this.#sources = sources;
    this.#csv = logs.csv;
    this.#ndjson = logs.ndjson;
    this.#omitted = logs.omitted;
  }

  static async open(state: StateDir, sources: ReadonlyMap<string, Source>): Promise<ErrorReport> {
    const truncated = { keepBytes: 0 };
    const directory = state.file('rejects');
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const name of await readdir(directory)) await unlink(join(directory, name));
    const [csv, ndjson, omitted] = await Promise.all([
      AppendLog.open(state.file('errors.csv'), truncated),
      AppendLog.open(state.file('errors.ndjson'), truncated),
      AppendLog.open(state.file('omitted.csv'), truncated),
    ]);
    await csv.append(csvLine(ERROR_COLUMNS), { durable: false });
    await omitted.append(csvLine(OMITTED_COLUMNS), { durable: false });
    return new ErrorReport(directory, sources, { csv, ndjson, omitted });
  }

  async error(entry: ErrorEntry, options: { durable: boolean } = { durable: false }): Promise<void> {
    const at = new Date().toISOString();
    const errors = entry.issues.filter(({ severity }) => severity === 'error');
    const lines = errors.map((issue) => errorLine(entry, issue, at));
    for (const issue of errors) {
      count(this.errorsByCode, issue.code);
      this.#remember(issue, entry.place);
      if (issue.kind !== 'blocked') this.#faulty.add(entry.place.source);
    }
    await Promise.all([
      this.#csv.append(lines.map((line) => csvLine(ERROR_COLUMNS.map((name) => line[name]))).join(''), options),
      this.#ndjson.append(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), options),
      this.#reject(entry, errors),
    ]);
  }

  warning(issue: Issue, place?: Place): void {
    count(this.warningsByCode, issue.code);
    this.#remember(issue, place);
  }

  /** The rejects files to correct, by source, except those with blocked records only. */
  get rejects(): ReadonlyMap<string, string> {
    const names = [...this.#rejects.keys()].filter((name) => this.#faulty.has(name));
    const sources = names.map((name) => this.#sources.get(name)!);
    return new Map(sources.map((source) => [source.name, rejectsPath(this.#directory, source)]));
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
    const rejects = await Promise.all(this.#rejects.values());
    await Promise.all([this.#csv, this.#ndjson, this.#omitted, ...rejects].map((log) => log.close()));
  }

  #remember(issue: Issue, place: Place | undefined): void {
    const known = this.examples.get(issue.code);
    if (!known) this.examples.set(issue.code, { issue, places: place ? [place] : [] });
    else if (place && issue.message === known.issue.message && known.places.length < MAX_PLACES)
      known.places.push(place);
  }

  /** Each record once, however many of its events failed, so that no record is in a rejects file twice. */
  async #reject(entry: ErrorEntry, errors: readonly Issue[]): Promise<void> {
    const { place, raw } = entry;
    const source = this.#sources.get(place.source);
    const record = `${place.source}\0${place.file}\0${place.record}`;
    if (!raw || !source || errors.length === 0 || this.#rejected.has(record)) return;
    this.#rejected.add(record);
    const log = await this.#rejectsOf(source);
    const error = errors.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join('; ');
    // Extra cells would shift the added columns; the error describes them.
    const cells = source.kind === 'table' ? (raw as readonly string[]) : [];
    const line =
      source.kind === 'table'
        ? csvLine([...source.columns.map((_, at) => cells[at]), place.file, place.record, place.line, error])
        : `${canonicalJson({ ...(raw as JsonObject), _file: place.file, _record: place.record, _line: place.line, _error: error })}\n`;
    await log.append(line, { durable: false });
  }

  #rejectsOf(source: Source): Promise<AppendLog> {
    let log = this.#rejects.get(source.name);
    if (!log) {
      log = openRejects(this.#directory, source);
      this.#rejects.set(source.name, log);
    }
    return log;
  }
}

async function openRejects(directory: string, source: Source): Promise<AppendLog> {
  const log = await AppendLog.open(rejectsPath(directory, source), { keepBytes: 0 });
  if (source.kind === 'table')
    await log.append(csvLine([...source.columns, '_file', '_record', '_line', '_error']), { durable: false });
  return log;
}

function rejectsPath(directory: string, source: Source): string {
  return join(directory, `${source.name}.${source.kind === 'table' ? 'csv' : 'ndjson'}`);
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
