import { isUtf8 } from 'node:buffer';
import type { Hash } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import { UserError } from '../../errors.ts';
import { issueOf } from '../../report/words/words.ts';
import { readBytes } from '../bytes.ts';
import type { InputFile } from '../files.ts';
import { notice, type SourceNotice } from '../source.ts';
import { chooseEncoding, doubtOf, MIXED, settingOf, WESTERN, type Encoding, type TextFile } from './encoding.ts';
import { refuseOtherFormats } from './not-text.ts';
import { undecodable } from './undecodable.ts';

/** Bytes of text that are passed on at a time; bounds how many records are in memory. */
const PIECE = 16 * 1024;

export type { TextFile };

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
  const last = decoder.end();
  if (last === 'undecodable') throw await undecodable(file, decoder.line);
  if (last === undefined) {
    throw new UserError(`${file.label} is incomplete: it ends in the middle of a character`, {
      hint: `export it again, or set its encoding, for example ${settingOf(file, WESTERN)}`,
    });
  }
  yield* inPieces(last);
}

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
  /** What is left of the text; undefined if it may not end here. */
  end(): Buffer | 'undecodable' | undefined;
  /** The line on which the text stops being valid, after `decode` has returned undefined; undefined if it is not known. */
  readonly line?: number;
}

async function decoderFor(encoding: Encoding): Promise<StrictDecoder> {
  if (encoding.name === 'UTF-8') return new Utf8();
  if (encoding.name === 'UTF-16LE') return new StringText(new Utf16(), LONE_SURROGATE);
  if (encoding.name === 'UTF-16BE') return new StringText(new Utf16({ swap: true }), LONE_SURROGATE);
  // Few exports use a code page, so the tables are loaded only for those that do.
  const { default: iconv } = await import('iconv-lite');
  if (encoding.name === MIXED) return new MixedLines((line) => iconv.decode(line, WESTERN));
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

  end(): Buffer | undefined {
    return this.#rest.length === 0 ? this.#rest : undefined;
  }
}

/** A line that does not end, as in some JSON, is judged in pieces of this size. */
const LONGEST_LINE = 1024 * 1024;
const BREAK = /[\r\n]/g;

/** Counts the lines of a text that comes in parts. */
class LineCount {
  /** On which the text so far ends. */
  line = 1;
  #afterReturn = false;

  protected count(text: string): void {
    this.line += countBreaks(text) - Number(this.#afterReturn && text.startsWith('\n'));
    if (text !== '') this.#afterReturn = text.endsWith('\r');
  }
}

/** Lines of which each is UTF-8, or else text of a code page that has the bytes of ASCII. */
class MixedLines extends LineCount implements StrictDecoder {
  readonly #decode: (line: Buffer) => string;
  #rest: Buffer[] = [];
  #length = 0;

  constructor(decode: (line: Buffer) => string) {
    super();
    this.#decode = decode;
  }

  decode(chunk: Buffer): Buffer | undefined {
    const end = Math.max(chunk.lastIndexOf(0x0a), chunk.lastIndexOf(0x0d)) + 1;
    this.#rest.push(end > 0 ? chunk.subarray(0, end) : chunk);
    this.#length += chunk.length;
    if (end === 0 && this.#length < LONGEST_LINE) return Buffer.alloc(0);
    const bytes = Buffer.concat(this.#rest);
    const whole = end > 0 ? bytes.length : lastBoundary(bytes);
    this.#rest = end > 0 ? [chunk.subarray(end)] : [bytes.subarray(whole)];
    this.#length = this.#rest[0]!.length;
    return this.#lines(bytes.subarray(0, whole));
  }

  end(): Buffer | 'undecodable' {
    return this.#lines(Buffer.concat(this.#rest)) ?? 'undecodable';
  }

  #lines(bytes: Buffer): Buffer | undefined {
    if (isUtf8(bytes)) {
      this.count(bytes.toString('latin1'));
      return bytes;
    }
    const lines: Buffer[] = [];
    let start = 0;
    for (const { index } of [...bytes.toString('latin1').matchAll(BREAK), { index: bytes.length - 1 }]) {
      const line = bytes.subarray(start, index + 1);
      start = index + 1;
      const text = isUtf8(line) ? undefined : this.#decode(line);
      if (text !== undefined && REPLACED.test(text)) return undefined;
      lines.push(text === undefined ? line : Buffer.from(text));
      this.count(line.toString('latin1'));
    }
    return Buffer.concat(lines);
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

/** The character that decoders write for bytes that they cannot decode. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const REPLACED = /\ufffd/;

/** A decoder that does not refuse anything. `end` returns what an incomplete last character becomes. */
interface LenientDecoder {
  write(chunk: Buffer): string;
  end(): string | undefined;
}

class StringText extends LineCount implements StrictDecoder {
  readonly #decoder: LenientDecoder;
  readonly #bad: RegExp;

  constructor(decoder: LenientDecoder, bad: RegExp) {
    super();
    this.#decoder = decoder;
    this.#bad = bad;
  }

  decode(chunk: Buffer): Buffer | undefined {
    const text = this.#decoder.write(chunk);
    const bad = text.search(this.#bad);
    this.count(bad < 0 ? text : text.slice(0, bad));
    return bad < 0 ? Buffer.from(text) : undefined;
  }

  end(): Buffer | undefined {
    return this.#decoder.end() ? undefined : Buffer.alloc(0);
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
export async function openText(
  input: InputFile,
  spec: { readonly encoding?: string | undefined },
): Promise<{ readonly file: TextFile; readonly encoding: string; readonly notices: readonly SourceNotice[] }> {
  const { text: head } = await firstOf(readBytes(input), SAMPLE);
  refuseOtherFormats(input, head);
  const encoding = await chooseEncoding(input, head, spec.encoding);
  const doubt = doubtOf(encoding, head);
  return {
    file: { ...input, encoding },
    encoding: encoding.name,
    notices: doubt === undefined ? [] : [notice(issueOf('doubtful_encoding', doubt), input.label)],
  };
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
