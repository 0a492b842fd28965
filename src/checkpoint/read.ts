import { open } from 'node:fs/promises';
import { codeOf } from '../errors.ts';
import { EVENT_TYPES } from '../model.ts';
import { LineForms } from './forms.ts';
import type { CheckpointLine, SettledLine } from './lines.ts';
import { QuickLine } from './quick.ts';

const PIECE = 1 << 20;
const LINE_FEED = 0x0a;

/**
 * A checkpoint in pieces of whole lines, each good until the next is asked for; a last line without line feed is a piece
 * of its own. Nothing where there is no file. While one piece is looked at, the next is being read. `from`: bytes to pass by.
 */
export async function* readPieces(path: string, from = 0): AsyncGenerator<Buffer> {
  const file = await open(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (!file) return;
  let buffer = Buffer.allocUnsafeSlow(PIECE);
  let other = Buffer.allocUnsafeSlow(PIECE);
  /** Bytes of a line whose end has not come yet. */
  let rest = 0;
  let position = from;
  const readOn = async (): Promise<number> => {
    const { bytesRead } = await file.read(buffer, rest, buffer.length - rest, position);
    position += bytesRead;
    return bytesRead;
  };
  const read = (): Promise<number> => {
    const reading = readOn();
    // A failure is told when this piece is asked for, not before.
    reading.catch(() => undefined);
    return reading;
  };
  let reading = read();
  try {
    for (let bytes = await reading; bytes > 0; bytes = await reading) {
      const filled = rest + bytes;
      const piece = buffer.subarray(0, buffer.lastIndexOf(LINE_FEED, filled - 1) + 1);
      rest = filled - piece.length;
      if (rest >= other.length) other = Buffer.allocUnsafeSlow(rest * 2);
      buffer.copy(other, 0, piece.length, filled);
      [buffer, other] = [other, buffer];
      reading = read();
      if (piece.length > 0) yield piece;
    }
    if (rest > 0) yield buffer.subarray(0, rest);
  } finally {
    // Whoever leaves early does not wait for it.
    await reading.catch(() => 0);
    await file.close();
  }
}

export function isTorn(piece: Buffer): boolean {
  return piece.at(-1) !== LINE_FEED;
}

/** Goes through the lines of a piece. */
export class LineCursor {
  /** Good until the next is asked for; undefined where it is damaged. */
  line: QuickLine | CheckpointLine | undefined;
  readonly #piece: Buffer;
  readonly #forms: LineForms;
  readonly #quick: QuickLine;
  #at = 0;

  constructor(piece: Buffer, forms: LineForms) {
    this.#piece = piece;
    this.#forms = forms;
    this.#quick = new QuickLine(piece, forms);
  }

  /** Goes on to the next line; false where there is none. */
  next(): boolean {
    const start = this.#at;
    if (start >= this.#piece.length) return false;
    if (this.#quick.read(start)) {
      this.line = this.#quick;
      this.#at = this.#quick.end;
      return true;
    }
    const line = lineAt(this.#piece, start);
    // So that those like it are known.
    if (line && (line.kind === undefined || line.kind === 'sent')) this.#forms.learn(line);
    this.line = line;
    this.#at = this.#piece.indexOf(LINE_FEED, start) + 1;
    return true;
  }
}

/** The lines of a piece, each good until the next is asked for; undefined for a damaged one. */
export function* linesOf(piece: Buffer, forms: LineForms): Generator<CheckpointLine | undefined, void, undefined> {
  for (const lines = new LineCursor(piece, forms); lines.next();) yield lines.line;
}

/** The settled lines of a checkpoint in order; lines that cannot be read are passed over: the loader reports them. */
export async function* settledLines(path: string): AsyncGenerator<SettledLine> {
  const forms = new LineForms();
  for await (const piece of readPieces(path)) {
    if (isTorn(piece)) return;
    for (const line of linesOf(piece, forms)) if (line && line.kind === undefined) yield line;
  }
}

/** The line that begins there; undefined where it is damaged. */
export function lineAt(piece: Buffer, place: number): CheckpointLine | undefined {
  return parseLine(piece.toString('utf8', place, piece.indexOf(LINE_FEED, place)));
}

/** Undefined where the line is damaged. */
export function parseLine(text: string): CheckpointLine | undefined {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isLine(line) ? line : undefined;
}

function isLine(value: unknown): value is CheckpointLine {
  if (typeof value !== 'object' || value === null) return false;
  const line = value as Record<string, unknown>;
  if (line.kind === 'header') return typeof line.migration === 'string' && typeof line.base_url === 'string';
  if (line.kind === 'run') return typeof line.at === 'string';
  const event =
    typeof line.id === 'string' &&
    (EVENT_TYPES as readonly unknown[]).includes(line.type) &&
    (typeof line.external_id === 'string' || line.external_id === null) &&
    typeof line.content_sha === 'string';
  if (line.kind === 'sent') return event;
  return line.kind === undefined && event && (line.status === 'acknowledged' || line.status === 'rejected');
}
