import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppendLog, cannotWrite } from '../append-log.ts';
import { csvLine } from '../csv.ts';
import { UserError } from '../errors.ts';
import { canonicalJson, type JsonObject } from '../json.ts';
import type { Issue, Place, RawRecord } from '../model.ts';
import { rejectColumnsFor } from '../source/reject-columns.ts';
import type { Source } from '../source/source.ts';
import type { StateDir } from '../state-dir.ts';
import { publishFiles } from './own-files.ts';

const REJECTS = 'rejects';

/**
 * `rejects/<source>.csv` or `.ndjson`: the original records behind the errors, to be corrected. People correct them in place
 * and keep their own files beside them, so a run gathers its rejects in `rejects.tmp/` and moves them when it ends, only over
 * files that are as a run left them; beside any other file it chooses another name (`contacts.2.csv`).
 */
export class Rejects {
  readonly #state: StateDir;
  readonly #directory: string;
  readonly #gathered: string;
  readonly #sources: ReadonlyMap<string, Source>;
  readonly #logs = new Map<Source, Promise<AppendLog>>();
  readonly #records = new Set<string>();
  /** Names of sources with records that have errors themselves, not only blocked ones. */
  readonly #faulty = new Set<string>();
  #published: ReadonlyMap<Source, string> = new Map();

  private constructor(state: StateDir, sources: ReadonlyMap<string, Source>) {
    this.#state = state;
    this.#directory = state.file(REJECTS);
    this.#gathered = state.file('rejects.tmp');
    this.#sources = sources;
  }

  static async begin(state: StateDir, sources: ReadonlyMap<string, Source>): Promise<Rejects> {
    // A link in its place is refused before anything is sent.
    await state.directory(REJECTS);
    const rejects = new Rejects(state, sources);
    try {
      await rm(rejects.#gathered, { recursive: true, force: true });
      await mkdir(rejects.#gathered, { mode: 0o700 });
    } catch (error) {
      throw cannotWrite(rejects.#gathered, error);
    }
    return rejects;
  }

  /** Each record once, however many of its events failed, so that no record is in a file twice. */
  async add(place: Place, raw: RawRecord | undefined, errors: readonly Issue[]): Promise<void> {
    const source = this.#sources.get(place.source);
    const record = `${place.source}\0${place.file}\0${place.record}`;
    if (errors.some(({ kind }) => kind !== 'blocked')) this.#faulty.add(place.source);
    if (!raw || !source || errors.length === 0 || this.#records.has(record)) return;
    this.#records.add(record);
    const log = await this.#logOf(source);
    await log.append(rejectLine(source, place, raw, errors), { durable: false });
  }

  async close(): Promise<void> {
    const logs = await Promise.all(this.#logs.values());
    await Promise.all(logs.map((log) => log.close()));
  }

  /**
   * To be called after `close`: moves what was gathered to `rejects/`, and deletes what an earlier run left there unchanged.
   * Throws a `UserError`.
   */
  async publish(): Promise<void> {
    await this.#move().catch((error: unknown) => {
      throw error instanceof UserError ? error : cannotWrite(this.#directory, error);
    });
  }

  /** Deletes what was gathered and not moved. */
  async discard(): Promise<void> {
    await rm(this.#gathered, { recursive: true, force: true });
  }

  /** The published files to correct, by source, except those with blocked records only. */
  get files(): ReadonlyMap<string, string> {
    const faulty = [...this.#published].filter(([{ name }]) => this.#faulty.has(name));
    return new Map(faulty.map(([source, name]) => [source.name, join(this.#directory, name)]));
  }

  /** The published files with another name than usual, and the files in their place: others changed or added those. */
  get beside(): readonly { readonly usual: string; readonly path: string }[] {
    return [...this.#published].flatMap(([source, name]) =>
      name === fileName(source)
        ? []
        : [{ usual: join(this.#directory, fileName(source)), path: join(this.#directory, name) }],
    );
  }

  #logOf(source: Source): Promise<AppendLog> {
    let log = this.#logs.get(source);
    if (!log) {
      log = openLog(join(this.#gathered, fileName(source)), source);
      this.#logs.set(source, log);
    }
    return log;
  }

  async #move(): Promise<void> {
    await this.#state.directory(REJECTS);
    const sources = [...this.#logs.keys()];
    const files = sources.map((source) => ({
      path: join(this.#gathered, fileName(source)),
      nameOf: (number: number) => fileName(source, number),
    }));
    const names = await publishFiles(this.#directory, files);
    await this.discard();
    this.#published = new Map(sources.map((source, index) => [source, names[index]!]));
  }
}

function fileName(source: Source, number = 1): string {
  return `${source.name}${number === 1 ? '' : `.${number}`}.${source.kind === 'table' ? 'csv' : 'ndjson'}`;
}

async function openLog(path: string, source: Source): Promise<AppendLog> {
  const log = await AppendLog.open(path);
  const { file, line, error, row } = rejectColumnsFor(source.columns);
  if (source.kind === 'table')
    await log.append(csvLine([...source.columns, file, line, error, row]), { durable: false });
  return log;
}

function rejectLine(source: Source, place: Place, raw: RawRecord, errors: readonly Issue[]): string {
  const error = errors.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join('; ');
  const row = source.rowHash(place, raw);
  if (source.kind === 'table') {
    // Extra cells would shift the added columns; the error describes them.
    const cells = source.columns.map((_, at) => (raw as readonly string[])[at]);
    return csvLine([...cells, place.file, place.line, error, row]);
  }
  const names = rejectColumnsFor(Object.keys(raw));
  const added = { [names.file]: place.file, [names.line]: place.line, [names.error]: error, [names.row]: row };
  return `${canonicalJson({ ...(raw as JsonObject), ...added })}\n`;
}
