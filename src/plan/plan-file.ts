import { appendFileSync, closeSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { cannotWrite } from '../append-log.ts';
import { EXIT, messageOf, UserError } from '../errors.ts';
import { contentSha } from '../identity.ts';
import { canonicalJson, isObject, parseJson, recordJson, type JsonObject } from '../json.ts';
import {
  EVENT_TYPES,
  type Entity,
  type EventType,
  type Planned,
  type RawRecord,
  type RecordText,
  type Sendable,
} from '../model.ts';
import { wholeLines } from '../report/lines.ts';
import type { NamedRecord } from '../settings.ts';
import { DRY_RUN, type StateDir } from '../state-dir.ts';
import { parentOf } from './prepare.ts';

export const PLAN_FILE = 'plan.ndjson';

/** Bytes that are gathered before they are written. */
const WRITE = 1 << 18;
/** Bytes that are read at once: events are mostly read in the order in which they were written. */
const BLOCK = 1 << 16;
const LINE_FEED = 0x0a;
/** The hash of the whole content, in the line of an event that goes out without some fields. */
const wholeSha = (sha: string): string => `,"content_sha":"${sha}"`;
/** Room for it. */
const SPARE = ' '.repeat(wholeSha('0'.repeat(32)).length);

/** One line, as the contract names its keys. */
interface PlanLine {
  readonly type: EventType;
  readonly external_id?: string;
  readonly occurred_at?: string;
  readonly data: JsonObject;
  readonly source: string;
  readonly file: string;
  readonly line: number;
  readonly record: number;
  readonly entry: number;
  readonly derived?: true;
  readonly content_sha?: string;
  readonly raw: RawRecord;
}

/**
 * `plan.ndjson`: one line per event that could be sent, exactly as it goes out, with the record it comes from. It is
 * written under another name and gets its own once it is whole. Reading and writing are synchronous: both end in the
 * system's memory.
 */
export class PlanFile {
  readonly path: string;
  readonly #temporary: string;
  readonly #file: number;
  #isCommitted = false;
  #size = 0;
  /** What is not written yet: the first `#used` bytes. */
  readonly #pending = Buffer.allocUnsafe(WRITE);
  #used = 0;
  #block: Buffer = Buffer.alloc(0);
  #blockAt = 0;

  private constructor(path: string, temporary: string, file: number) {
    this.path = path;
    this.#temporary = temporary;
    this.#file = file;
  }

  /** Begins a new plan; the one at `path` stays until `commit`. Throws a `UserError` where it cannot be written. */
  static create(path: string): PlanFile {
    const temporary = `${path}.tmp`;
    try {
      rmSync(temporary, { force: true });
      return new PlanFile(path, temporary, openSync(temporary, 'wx+', 0o600));
    } catch (error) {
      throw cannotWrite(path, error);
    }
  }

  /** Adds an event; returns where its line begins, in bytes. `mayLoseFields`: `replace` may leave out any of its fields. */
  append(event: Sendable, record: RecordText, isDerived = false, mayLoseFields = false): number {
    const at = this.#size;
    const line = lineOf(event, record, isDerived);
    const text = mayLoseFields ? `${line}${SPARE}\n` : `${line}\n`;
    // A UTF-16 unit has at most three bytes in UTF-8.
    if (this.#used + text.length * 3 > WRITE) this.#flush();
    if (text.length * 3 > WRITE) this.#size += this.#write(Buffer.from(text));
    else {
      const bytes = this.#pending.write(text, this.#used);
      this.#used += bytes;
      this.#size += bytes;
    }
    return at;
  }

  /** The event whose line begins at `at`. */
  read(at: number): Planned {
    const text = this.#lineAt(at).toString('utf8');
    try {
      return plannedOf(text);
    } catch (error) {
      throw planChanged(this.path, messageOf(error));
    }
  }

  /** Puts an event in the place of one with a longer line; spaces fill the rest. */
  replace(at: number, event: Planned): void {
    const text = lineOf(event, event, event.isDerived, event.isPartial);
    this.#overwrite(at, (length) => Buffer.from(text + ' '.repeat(length - Buffer.byteLength(text))));
  }

  /** Removes an event that cannot be sent after all: its line becomes blank. */
  blank(at: number): void {
    this.#overwrite(at, (length) => Buffer.alloc(length, ' '));
  }

  /** The plan is whole: it replaces the one before. */
  commit(): void {
    this.#flush();
    try {
      renameSync(this.#temporary, this.path);
    } catch (error) {
      throw cannotWrite(this.path, error);
    }
    this.#isCommitted = true;
  }

  /** A plan that was not committed is deleted. */
  close(): void {
    closeSync(this.#file);
    if (!this.#isCommitted) rmSync(this.#temporary, { force: true });
  }

  #flush(): void {
    this.#write(this.#pending.subarray(0, this.#used));
    this.#used = 0;
  }

  /** Returns the number of bytes. */
  #write(bytes: Buffer): number {
    try {
      if (bytes.length > 0) appendFileSync(this.#file, bytes);
    } catch (error) {
      throw cannotWrite(this.path, error);
    }
    return bytes.length;
  }

  #overwrite(at: number, make: (length: number) => Buffer): void {
    const bytes = make(this.#lineAt(at).length);
    try {
      writeSync(this.#file, bytes, 0, bytes.length, at);
    } catch (error) {
      throw cannotWrite(this.path, error);
    }
    this.#block = Buffer.alloc(0);
  }

  /** Without its line feed; valid until the next call. */
  #lineAt(at: number): Buffer {
    this.#flush();
    const start = at - this.#blockAt;
    const end = start >= 0 && start < this.#block.length ? this.#block.indexOf(LINE_FEED, start) : -1;
    if (end >= 0) return this.#block.subarray(start, end);
    for (let size = BLOCK; ; size *= 2) {
      const block = Buffer.allocUnsafe(size);
      this.#block = block.subarray(0, readSync(this.#file, block, 0, size, at));
      this.#blockAt = at;
      const first = this.#block.indexOf(LINE_FEED);
      if (first >= 0) return this.#block.subarray(0, first);
      if (this.#block.length < size) throw planChanged(this.path, 'a line is cut off');
    }
  }
}

/** Without its line feed. */
function lineOf(event: Sendable, { raw, text }: RecordText, isDerived: boolean, isPartial = false): string {
  const { type, externalId, occurredAt, content, place, entry } = event;
  const id = externalId === undefined ? '' : `,"external_id":${JSON.stringify(externalId)}`;
  const time = occurredAt === undefined ? '' : `,"occurred_at":${JSON.stringify(occurredAt)}`;
  const where = `"source":${JSON.stringify(place.source)},"file":${JSON.stringify(place.file)}`;
  const which = `"line":${place.line},"record":${place.record},"entry":${entry}${isDerived ? ',"derived":true' : ''}`;
  const whole = isPartial ? wholeSha(event.sha) : '';
  const record = text ?? recordJson(raw);
  return `{"type":"${type}"${id}${time},"data":${content},${where},${which}${whole},"raw":${record}}`;
}

/** The plans in a state directory, the newest first: that of the last run, and that of the last dry run. */
export async function storedPlans(state: StateDir): Promise<string[]> {
  const paths = [state.file(PLAN_FILE), join(state.file(DRY_RUN), PLAN_FILE)];
  const stats = await Promise.all(
    paths.map(async (path) => ({ path, found: await stat(path).catch(() => undefined) })),
  );
  return stats
    .flatMap(({ path, found }) => (found ? [{ path, at: found.mtimeMs }] : []))
    .sort((one, other) => other.at - one.at)
    .map(({ path }) => path);
}

/** The events of a stored plan; `about`: only those that mention this external id. Throws if it is not a valid plan. */
export async function* readPlan(path: string, about?: string): AsyncGenerator<Planned, void, undefined> {
  const mention = about === undefined ? '' : JSON.stringify(about);
  for await (const line of wholeLines(path)) {
    if (line.includes(mention) && line.trim() !== '') yield plannedOf(line);
  }
}

const HEAD = /^\{"type":"(\w+)\/\w+","external_id":("(?:[^"\\]|\\.)*")/;

/** The records of a stored plan, without those that have no external id; much faster than `readPlan`. */
export async function* plannedRecords(path: string): AsyncGenerator<NamedRecord, void, undefined> {
  for await (const line of wholeLines(path)) {
    const head = HEAD.exec(line);
    if (head) yield { entity: head[1] as Entity, externalId: JSON.parse(head[2]!) as string };
  }
}

/** Reads one line of a plan. Throws if it is not a valid one. */
function plannedOf(text: string): Planned {
  const line = parseJson(text) as JsonObject & Partial<PlanLine>;
  const { type, data, source, file, line: first, record, entry, raw } = line;
  if (type === undefined || !EVENT_TYPES.includes(type) || !isObject(data) || typeof raw !== 'object') {
    throw new Error('a line is not an event');
  }
  const content = canonicalJson(data);
  const parent = parentOf({ type }, data);
  return {
    type,
    entry: Number(entry),
    place: { source: String(source), file: String(file), line: Number(first), record: Number(record) },
    ...(line.external_id === undefined ? {} : { externalId: line.external_id }),
    ...(parent && { parent }),
    data,
    content,
    sha: line.content_sha ?? contentSha(content),
    ...(line.occurred_at === undefined ? {} : { occurredAt: line.occurred_at }),
    raw,
    isDerived: line.derived === true,
    isPartial: line.content_sha !== undefined,
  };
}

export function planChanged(path: string, why: string): UserError {
  return new UserError(`${path} has changed since it was written: ${why}`, {
    hint: 'nothing that was acknowledged is lost; rerun to survey the input again and to continue',
    exitCode: EXIT.stopped,
  });
}
