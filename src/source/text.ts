import { isUtf8 } from 'node:buffer';
import type { Hash } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import { UserError } from '../errors.ts';
import { readBytes } from './bytes.ts';
import { chooseEncoding, doubtOf, settingOf, type Encoding, type TextFile } from './encoding.ts';
import type { InputFile } from './files.ts';
import { refuseOtherFormats } from './not-text.ts';
import { undecodable } from './undecodable.ts';

/** Bytes of text that are passed on at a time; bounds how many records are in memory. */
const PIECE = 16 * 1024;

/**
 * The text of a file as UTF-8, without byte-order mark, cut between any two characters. Bytes that are not text in the
 * encoding of the file throw a `UserError` that names their line; none are silently replaced by U+FFFD.
 */
export async function* readText(file: TextFile, hash?: Hash): AsyncGenerator<Buffer, void, undefined> {
  const decoder = await decoderFor(file.encoding);
  let skip = file.encoding.bom;
  for await (const bytes of readBytes(file, hash)) {
    const chunk = skip > 0 ? bytes.subarray(skip) : bytes;
    skip -= bytes.length - chunk.length;
    const text = decoder.decode(chunk);
    if (text === undefined) throw await undecodable(file, decoder.line);
    yield* inPieces(text);
  }
  if (!decoder.complete()) {
    throw new UserError(`${file.shown} is incomplete: it ends in the middle of a character`, {
      hint: `export it again, or set its encoding, for example ${settingOf(file, 'windows-1252')}`,
    });
  }
}

/** Cuts a text between characters. */
function* inPieces(text: Buffer): Generator<Buffer, void, undefined> {
  for (let rest = text; rest.length > 0;) {
    const end = lastBoundary(rest.subarray(0, PIECE));
    yield rest.subarray(0, end);
    rest = rest.subarray(end);
  }
}

/** Decodes a text chunk by chunk and does not replace anything. */
interface StrictDecoder {
  /** The complete characters of the chunk as UTF-8; undefined if it is not text in this encoding. */
  decode(chunk: Buffer): Buffer | undefined;
  /** Whether the text may end here. */
  complete(): boolean;
  /** The line on which the text stops being valid, after `decode` has returned undefined; undefined if it is not known. */
  readonly line?: number;
}

async function decoderFor(encoding: Encoding): Promise<StrictDecoder> {
  if (encoding.name === 'UTF-8') return new Utf8();
  if (encoding.name === 'UTF-16LE') return new StringText(new Utf16(), LONE_SURROGATE);
  if (encoding.name === 'UTF-16BE') return new StringText(new Utf16({ swap: true }), LONE_SURROGATE);
  // Few exports use a code page, so the tables are loaded only for those that do.
  const { default: iconv } = await import('iconv-lite');
  return new StringText(iconv.getDecoder(encoding.name), REPLACED);
}

class Utf8 implements StrictDecoder {
  #rest: Buffer = Buffer.alloc(0);

  decode(chunk: Buffer): Buffer | undefined {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    const end = lastBoundary(bytes);
    const text = bytes.subarray(0, end);
    this.#rest = bytes.subarray(end);
    return isUtf8(text) ? text : undefined;
  }

  complete(): boolean {
    return this.#rest.length === 0;
  }
}

/** Where the last complete character ends: up to 3 bytes before the end. */
function lastBoundary(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** What decoders leave in a text in place of bytes that they cannot decode. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const REPLACED = /\ufffd/;

/** A decoder that does not refuse anything. `end` returns what an incomplete last character becomes. */
interface LenientDecoder {
  write(chunk: Buffer): string;
  end(): string | undefined;
}

/** Decodes by way of strings. */
class StringText implements StrictDecoder {
  readonly #decoder: LenientDecoder;
  readonly #bad: RegExp;
  #afterReturn = false;
  /** On which the text so far ends. */
  line = 1;

  constructor(decoder: LenientDecoder, bad: RegExp) {
    this.#decoder = decoder;
    this.#bad = bad;
  }

  decode(chunk: Buffer): Buffer | undefined {
    const text = this.#decoder.write(chunk);
    const bad = text.search(this.#bad);
    const valid = bad < 0 ? text : text.slice(0, bad);
    this.line += countBreaks(valid) - Number(this.#afterReturn && valid.startsWith('\n'));
    if (valid !== '') this.#afterReturn = valid.endsWith('\r');
    return bad < 0 ? Buffer.from(text) : undefined;
  }

  complete(): boolean {
    return !this.#decoder.end();
  }
}

class Utf16 implements LenientDecoder {
  readonly #swap: boolean;
  readonly #decoder = new StringDecoder('utf16le');
  #odd: Buffer = Buffer.alloc(0);

  constructor({ swap = false } = {}) {
    this.#swap = swap;
  }

  write(chunk: Buffer): string {
    const bytes = Buffer.concat([this.#odd, chunk]);
    const even = bytes.length - (bytes.length % 2);
    this.#odd = bytes.subarray(even);
    const pairs = bytes.subarray(0, even);
    return this.#decoder.write(this.#swap ? pairs.swap16() : pairs);
  }

  end(): string {
    return this.#decoder.end() + this.#odd.toString('latin1');
  }
}

export function countBreaks(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}

/** Bytes that are enough to detect the encoding and, unless its header is longer, the dialect of a file. */
const SAMPLE = 64 * 1024;

/**
 * Determines the encoding of a file from its first bytes, and whether there is reason to doubt it. Throws a `UserError` if
 * it is no text.
 */
export async function withEncoding(file: InputFile, declared: string | undefined): Promise<TextFile> {
  const { text: head } = await firstOf(readBytes(file), SAMPLE);
  refuseOtherFormats(file, head);
  const encoding = await chooseEncoding(file, head, declared);
  const doubt = doubtOf(encoding, head);
  return { ...file, encoding, ...(doubt === undefined ? {} : { doubt }) };
}

/** The beginning of the text of a file, of `least` bytes or somewhat more, and whether it is the whole text. */
export async function sampleOf(file: TextFile, least = SAMPLE): Promise<{ text: Buffer; whole: boolean }> {
  return firstOf(readText(file), least);
}

async function firstOf(chunks: AsyncGenerator<Buffer>, least: number): Promise<{ text: Buffer; whole: boolean }> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    length += chunk.length;
    if (length >= least) return { text: Buffer.concat(parts), whole: false };
  }
  return { text: Buffer.concat(parts), whole: true };
}
