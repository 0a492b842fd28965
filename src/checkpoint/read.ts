import { codeOf, messageOf, UserError } from '../errors.ts';
import { tryParseJson } from '../json.ts';
import { EVENT_TYPES, type Effect } from '../model.ts';
import { openRegular } from '../private-file.ts';
import type { CheckpointLine, HeaderLine, SettledLine } from './lines.ts';

/** At first; a longer line makes the buffer grow. */
const BUFFER_BYTES = 1 << 20;
const LINE_FEED = 0x0a;

/**
 * A file in pieces of whole lines, from the byte `position`; a last line without a line feed is a separate piece. A piece
 * is valid until the next one is requested. Yields nothing if there is no such file. Throws a `UserError` if it cannot be
 * read.
 */
export async function* readPieces(path: string, position = 0): AsyncGenerator<Buffer, void, undefined> {
  const file = await openRegular(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw cannotRead(path, error);
  });
  if (!file) return;
  let buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  let filled = 0;
  try {
    for (;;) {
      if (filled === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      const { bytesRead } = await file
        .read(buffer, filled, buffer.length - filled, position)
        .catch((error: unknown) => {
          throw cannotRead(path, error);
        });
      if (bytesRead === 0) break;
      position += bytesRead;
      filled += bytesRead;
      const end = buffer.lastIndexOf(LINE_FEED, filled - 1) + 1;
      if (end === 0) continue;
      yield buffer.subarray(0, end);
      buffer.copyWithin(0, end, filled);
      filled -= end;
    }
    if (filled > 0) yield buffer.subarray(0, filled);
  } finally {
    await file.close();
  }
}

function cannotRead(path: string, error: unknown): UserError {
  return new UserError(`cannot read ${path}: ${messageOf(error)}`, { hint: 'check the permissions', cause: error });
}

/** Whether the piece is a last line without a line feed. */
export function isTorn(piece: Buffer): boolean {
  return piece.at(-1) !== LINE_FEED;
}

/** The lines of a piece without their line feeds. Only LF ends a line: JSON may contain U+2028 unescaped. */
export function* textLines(piece: Buffer): Generator<string, void, undefined> {
  let start = 0;
  for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
    yield piece.toString('utf8', start, end);
    start = end + 1;
  }
}

/** Reads the whole lines of a checkpoint in order, and can continue where it stopped when lines have been appended. */
export class CheckpointReader {
  /** Bytes up to the end of the last line that was read. */
  wholeBytes = 0;
  /** Bytes of a last line without a line feed; it is not read. */
  tornBytes = 0;
  /** Numbers (from 1) of lines that are not JSON or not of a known form; they are skipped. */
  readonly damagedLines: number[] = [];
  readonly path: string;
  readonly #keyId: string | undefined;
  /** Of the run whose lines are being read. */
  #keyIdOfRun: string | undefined;
  #lines = 0;
  #damagedHeader = '';

  /** `keyId`: of the key that field hashes are compared with (`FieldHasher.keyId`); those of other keys are left out. */
  constructor(path: string, keyId?: string) {
    this.path = path;
    this.#keyId = keyId;
  }

  /** The lines piece by piece: all of one piece are to be read before the next one is requested. */
  async *pieces(): AsyncGenerator<Iterable<CheckpointLine>, void, undefined> {
    this.tornBytes = 0;
    for await (const piece of readPieces(this.path, this.wholeBytes)) {
      if (isTorn(piece)) {
        this.tornBytes = piece.length;
        return;
      }
      yield this.#linesOf(piece);
      this.wholeBytes += piece.length;
    }
  }

  /** Throws a `UserError` that names the damaged lines, if there are any. */
  assertUndamaged(): void {
    const [first, ...others] = this.damagedLines;
    if (first === undefined) return;
    if (first === 1) throw refusedHeader(this.path, this.#damagedHeader);
    const more = others.length === 0 ? '' : `, and ${others.length} more: ${listed(others)}`;
    const what = others.length === 0 ? 'the line' : 'these lines';
    throw new UserError(`${this.path}:${first}: damaged line${more}`, {
      hint: `remove ${what} and rerun. This is safe: an event whose line is removed is sent again under the same id`,
    });
  }

  *#linesOf(piece: Buffer): Generator<CheckpointLine, void, undefined> {
    for (const text of textLines(piece)) {
      this.#lines += 1;
      const line = parseLine(text);
      if (!line && this.#lines === 1) this.#damagedHeader = text;
      // Two checkpoints in one file may be of two accounts.
      if (!line || (line.kind === 'header' && this.#lines > 1)) this.damagedLines.push(this.#lines);
      else
        yield (line.kind === undefined || line.kind === 'sent') && this.#hasOtherKey ? { ...line, fields: {} } : line;
      if (line?.kind === 'run') this.#keyIdOfRun = line.field_key;
    }
  }

  get #hasOtherKey(): boolean {
    return this.#keyIdOfRun !== undefined && this.#keyIdOfRun !== this.#keyId;
  }
}

const MOST_LISTED = 10;

function listed(lines: readonly number[]): string {
  return lines.length > MOST_LISTED ? `${lines.slice(0, MOST_LISTED).join(', ')}, …` : lines.join(', ');
}

function refusedHeader(path: string, text: string): UserError {
  const { version } = (tryParseJson(text) ?? {}) as { version?: unknown };
  if (typeof version === 'number' && version > VERSION) {
    return new UserError(`${path}:1: this checkpoint has version ${version}; this program reads version ${VERSION}`, {
      hint: 'a newer version of this program has written it: install that version, then rerun',
    });
  }
  return new UserError(`${path}:1: the header line is damaged`, {
    hint: 'restore the file from a backup: the header says which account the checkpoint belongs to',
  });
}

/** The header of a checkpoint, undefined if there is no checkpoint. Throws a `UserError` if it is damaged. */
export async function readHeader(path: string): Promise<HeaderLine | undefined> {
  for await (const piece of readPieces(path)) {
    if (isTorn(piece)) return undefined;
    const [first = ''] = textLines(piece);
    const line = parseLine(first);
    if (line?.kind === 'header') return line;
    throw refusedHeader(path, first);
  }
  return undefined;
}

/** The settled lines of a checkpoint in order; `keyId` as in `CheckpointReader`. Throws a `UserError` if a line is damaged. */
export async function* settledLines(path: string, keyId?: string): AsyncGenerator<SettledLine, void, undefined> {
  const reader = new CheckpointReader(path, keyId);
  for await (const lines of reader.pieces()) {
    for (const line of lines) if (line.kind === undefined) yield line;
    reader.assertUndamaged();
  }
}

/** Undefined if the text is not JSON or not a line of a known form. */
function parseLine(text: string): CheckpointLine | undefined {
  const line = tryParseJson(text);
  return isLine(line) ? line : undefined;
}

/** Of `HeaderLine`. */
const VERSION = 1;

const EFFECTS: readonly unknown[] = ['created', 'updated', 'none', null] satisfies (Effect | null)[];

function isLine(value: unknown): value is CheckpointLine {
  if (!isFields(value)) return false;
  switch (value.kind) {
    case 'header':
      return value.version === VERSION && isText(value.migration) && isText(value.base_url) && isAccount(value.account);
    case 'run':
      return isText(value.tool) && isText(value.at);
    case 'sent':
      return isAboutEvent(value);
    case 'compared':
      return isAboutEvent({ ...value, id: '' }) && isText(value.external_id);
    case undefined:
      return isAboutEvent(value) && isSettlement(value);
    default:
      return false;
  }
}

type LineFields = Readonly<Record<string, unknown>>;

function isAccount(value: unknown): boolean {
  return isFields(value) && Array.isArray(value.pipeline_ids) && value.pipeline_ids.every(isText);
}

function isAboutEvent({ id, type, external_id, content_sha }: LineFields): boolean {
  return (
    isText(id) && (EVENT_TYPES as readonly unknown[]).includes(type) && isTextOrNull(external_id) && isText(content_sha)
  );
}

function isSettlement({ status, outcome, entity_id, code, fields, at }: LineFields): boolean {
  const isKnown = (status === 'acknowledged' || status === 'rejected') && EFFECTS.includes(outcome);
  return isKnown && isTextOrNull(entity_id) && isTextOrNull(code) && isFields(fields) && isText(at);
}

function isFields(value: unknown): value is LineFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTextOrNull(value: unknown): boolean {
  return typeof value === 'string' || value === null;
}
