import { isUtf8 } from 'node:buffer';
import type { Hash } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import type { DecoderStream } from 'iconv-lite';
import { UserError } from '../errors.ts';
import { readBytes } from './bytes.ts';
import { chooseEncoding, doubtOf, settingOf, type Encoding } from './encoding.ts';
import type { InputFile } from './files.ts';
import { refuseOtherFormats } from './not-text.ts';
import { undecodable, type UndecodableText } from './undecodable.ts';

/** A file whose encoding is known. */
export interface TextFile extends InputFile {
  readonly encoding: Encoding;
  /** What the user should check about the encoding. */
  readonly doubt?: string;
}

/** Bytes of text that are passed on at a time; bounds how many records are in memory. */
const PIECE = 16 * 1024;

/**
 * The text of a file as UTF-8, without byte-order mark, cut between any two characters. Bytes that are not text in the
 * encoding of the file throw a `UserError` that names their line; none are silently replaced by U+FFFD.
 */
export async function* readText(file: TextFile, hash?: Hash): AsyncGenerator<Buffer, void, undefined> {
  const decoder = await decoderFor(file.encoding);
  let skip = file.encoding.bom;
  let offset = 0;
  for await (const bytes of readBytes(file, hash)) {
    const chunk = skip > 0 ? bytes.subarray(skip) : bytes;
    skip -= bytes.length - chunk.length;
    const text = decoder.decode(chunk);
    if (text === undefined) throw await undecodable(file, offset, decoder.failure());
    offset += bytes.length;
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
  failure(): UndecodableText;
}

async function decoderFor(encoding: Encoding): Promise<StrictDecoder> {
  if (encoding.name === 'UTF-8') return new Utf8();
  if (encoding.name === 'UTF-16LE' || encoding.name === 'UTF-16BE') return new Utf16(encoding.name === 'UTF-16BE');
  // Few exports use a code page, so the tables are loaded only for those that do.
  const { default: iconv } = await import('iconv-lite');
  return new CodePage(iconv.getDecoder(encoding.name));
}

class Utf8 implements StrictDecoder {
  #rest: Buffer = Buffer.alloc(0);

  decode(chunk: Buffer): Buffer | undefined {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    const end = lastBoundary(bytes);
    const text = end === bytes.length ? bytes : bytes.subarray(0, end);
    if (!isUtf8(text)) {
      this.#rest = bytes;
      return undefined;
    }
    this.#rest = bytes.subarray(end);
    return text;
  }

  complete(): boolean {
    return this.#rest.length === 0;
  }

  failure(): UndecodableText {
    let breaks = 0;
    let start = 0;
    for (const match of this.#rest.toString('latin1').matchAll(/\r\n|\r|\n|$/g)) {
      const line = this.#rest.subarray(start, match.index);
      if (!isUtf8(line)) return { breaks, bytes: wordAround(line) };
      breaks += 1;
      start = match.index + match[0].length;
    }
    throw new Error('a chunk is not UTF-8 although each of its lines is');
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

/** The word with the first invalid byte, by which the user can recognise the encoding. */
function wordAround(line: Buffer): Buffer {
  const bad = Buffer.byteLength(line.toString('utf8').split('\ufffd', 1)[0] ?? '');
  const words = [...line.toString('latin1').matchAll(/[^\s,;"|]+/g)];
  const word = words.find((match) => match.index + match[0].length > bad)?.[0] ?? '';
  return Buffer.from(word.slice(0, 24), 'latin1');
}

class Utf16 implements StrictDecoder {
  readonly #swap: boolean;
  readonly #decoder = new StringDecoder('utf16le');
  #odd: Buffer = Buffer.alloc(0);
  #text = '';

  constructor(swap: boolean) {
    this.#swap = swap;
  }

  decode(chunk: Buffer): Buffer | undefined {
    const bytes = this.#odd.length > 0 ? Buffer.concat([this.#odd, chunk]) : chunk;
    const even = bytes.length - (bytes.length % 2);
    this.#odd = bytes.subarray(even);
    const pairs = bytes.subarray(0, even);
    this.#text = this.#decoder.write(this.#swap ? Buffer.from(pairs).swap16() : pairs);
    return this.#text.isWellFormed() ? Buffer.from(this.#text) : undefined;
  }

  complete(): boolean {
    this.#text = this.#decoder.end();
    return this.#odd.length === 0 && this.#text === '';
  }

  failure(): UndecodableText {
    const bad = this.#text.search(/\p{Surrogate}/u);
    return { breaks: countBreaks(this.#text.slice(0, Math.max(0, bad))), bytes: Buffer.alloc(0) };
  }
}

class CodePage implements StrictDecoder {
  readonly #decoder: DecoderStream;
  #text = '';

  constructor(decoder: DecoderStream) {
    this.#decoder = decoder;
  }

  decode(chunk: Buffer): Buffer | undefined {
    this.#text = this.#decoder.write(chunk);
    return this.#text.includes('\ufffd') ? undefined : Buffer.from(this.#text);
  }

  complete(): boolean {
    this.#text = this.#decoder.end() ?? '';
    return this.#text === '';
  }

  failure(): UndecodableText {
    return { breaks: countBreaks(this.#text.slice(0, this.#text.indexOf('\ufffd'))), bytes: Buffer.alloc(0) };
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
  await refuseOtherFormats(file);
  const { text } = await firstOf(readBytes(file), SAMPLE);
  const encoding = await chooseEncoding(file, text, declared);
  const doubt = doubtOf(encoding, text);
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
