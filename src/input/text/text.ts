import { isUtf8 } from 'node:buffer';
import type { Hash } from 'node:crypto';
import { TextDecoder } from 'node:util';
import { UserError } from '../../errors.ts';
import { issueOf } from '../../report/words/words.ts';
import { readBytes, type InputFile } from '../files.ts';
import { otherReading } from './candidates.ts';
import {
  chooseEncoding,
  doubtOf,
  isUtf16,
  MIXED,
  settingOf,
  WESTERN,
  type Encoding,
  type TextFile,
} from './encoding.ts';
import { refuseOtherFormats } from './not-text.ts';
import { undecodable } from './undecodable.ts';
import type { Problem } from '../../problem.ts';

/** Bytes of text that are passed on at a time; bounds how many records are in memory. */
const PIECE = 16 * 1024;

export type { TextFile };

/**
 * The text of a file as UTF-8, without byte-order mark, cut between any two characters. Bytes that are not text in the
 * encoding of the file throw a `UserError` that names their line; none are silently replaced by U+FFFD.
 */
export async function* readText(file: TextFile, hash?: Hash): AsyncGenerator<Buffer, void, undefined> {
  const decode = await decoderFor(file.encoding);
  let skip = file.encoding.bom;
  for await (const bytes of readBytes(file, hash)) {
    const chunk = skip > 0 ? bytes.subarray(skip) : bytes;
    skip -= bytes.length - chunk.length;
    yield* inPieces(await textOf(decode(chunk), file));
  }
  yield* inPieces(await textOf(decode(undefined), file));
}

async function textOf(decoded: Decoded, file: TextFile): Promise<Buffer> {
  if (decoded === 'wrong') throw await undecodable(file);
  if (decoded !== 'cut') return decoded;
  throw new UserError(`${file.label} is incomplete: it ends in the middle of a character`, {
    hint: `export it again, or set its encoding, for example ${settingOf(file, WESTERN)}`,
  });
}

function* inPieces(text: Buffer): Generator<Buffer, void, undefined> {
  for (let rest = text; rest.length > 0;) {
    const end = lastBoundary(rest.subarray(0, PIECE));
    yield rest.subarray(0, end);
    rest = rest.subarray(end);
  }
}

/** Characters as UTF-8; `wrong` if the bytes are no text in the encoding, `cut` if the text may not end here. */
type Decoded = Buffer | 'wrong' | 'cut';
/** Decodes a text chunk by chunk and does not replace anything; undefined is its end. */
type DecodeText = (chunk: Buffer | undefined) => Decoded;

const NOTHING: Buffer = Buffer.alloc(0);

async function decoderFor({ name }: Encoding): Promise<DecodeText> {
  if (name === 'UTF-8') return utf8();
  if (isUtf16(name)) return utf16(name);
  // Few exports use a code page, so the tables are loaded only for those that do.
  const { default: iconv } = await import('iconv-lite');
  if (name === MIXED) return mixedLines((line) => iconv.decode(line, WESTERN));
  const decoder = iconv.getDecoder(name);
  return (chunk) => {
    if (!chunk) return decoder.end() ? 'cut' : NOTHING;
    return strictly(decoder.write(chunk));
  };
}

/** What decoders write for bytes that they cannot decode is in no export: code pages have no such character. */
function strictly(text: string): Decoded {
  return text.includes('\ufffd') ? 'wrong' : Buffer.from(text);
}

function utf8(): DecodeText {
  let rest = NOTHING;
  return (chunk) => {
    if (!chunk) return rest.length === 0 ? rest : 'cut';
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const end = lastBoundary(bytes);
    rest = bytes.subarray(end);
    const text = bytes.subarray(0, end);
    return isUtf8(text) ? text : 'wrong';
  };
}

function utf16(name: string): DecodeText {
  const decoder = new TextDecoder(name, { fatal: true, ignoreBOM: true });
  return (chunk) => {
    try {
      return Buffer.from(chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode());
    } catch {
      return chunk ? 'wrong' : 'cut';
    }
  };
}

/** A line that does not end, as in some JSON, is judged in pieces of this size. */
const LONGEST_LINE = 1024 * 1024;

/** Lines of which each is UTF-8, or else text of a code page that has the bytes of ASCII. */
function mixedLines(decodeLine: (line: Buffer) => string): DecodeText {
  const decodeAll = (bytes: Buffer): Decoded => {
    if (isUtf8(bytes)) return bytes;
    const lines = bytes.toString('latin1').match(/[^\r\n]*[\r\n]|[^\r\n]+$/g) ?? [];
    const decoded = lines.map((text) => {
      const line = Buffer.from(text, 'latin1');
      return isUtf8(line) ? line : strictly(decodeLine(line));
    });
    return decoded.includes('wrong') ? 'wrong' : Buffer.concat(decoded as Buffer[]);
  };
  let parts: Buffer[] = [];
  let length = 0;
  return (chunk) => {
    if (!chunk) return decodeAll(Buffer.concat(parts));
    const end = Math.max(chunk.lastIndexOf(0x0a), chunk.lastIndexOf(0x0d)) + 1;
    length += chunk.length;
    if (end === 0 && length < LONGEST_LINE) {
      parts.push(chunk);
      return NOTHING;
    }
    const bytes = Buffer.concat([...parts, end > 0 ? chunk.subarray(0, end) : chunk]);
    const whole = end > 0 ? bytes.length : lastBoundary(bytes);
    parts = [end > 0 ? chunk.subarray(end) : bytes.subarray(whole)];
    length = parts[0]!.length;
    return decodeAll(bytes.subarray(0, whole));
  };
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
): Promise<{ readonly file: TextFile; readonly encoding: string; readonly notices: readonly Problem[] }> {
  const { text: head } = await firstOf(readBytes(input), SAMPLE);
  refuseOtherFormats(input, head);
  const encoding = await chooseEncoding(input, head, spec.encoding);
  const isPage = encoding.declared && encoding.name !== MIXED && !/^utf/i.test(encoding.name);
  const doubt = doubtOf(encoding, head) ?? (isPage ? await otherReading(encoding.name, head) : undefined);
  return {
    file: { ...input, encoding },
    encoding: encoding.name,
    notices: doubt === undefined ? [] : [issueOf('doubtful_encoding', doubt).in(input.label)],
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
