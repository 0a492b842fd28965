import { isUtf8 } from 'node:buffer';
import { UserError } from '../../errors.ts';
import { didYouMean } from '../../problem.ts';
import type { InputFile } from '../files.ts';

export interface Encoding {
  /** `UTF-8`, `UTF-16LE`, `UTF-16BE`, `mixed` (each line UTF-8, else windows-1252), or the name of a code page in lower case. */
  readonly name: string;
  readonly bom: number;
  /** Set by the user; otherwise detected. */
  readonly declared: boolean;
}

export interface TextFile extends InputFile {
  readonly encoding: Encoding;
}

const MARKS = [
  { name: 'UTF-8', bytes: [0xef, 0xbb, 0xbf] },
  { name: 'utf-32le', bytes: [0xff, 0xfe, 0, 0] },
  { name: 'UTF-16LE', bytes: [0xff, 0xfe] },
  { name: 'UTF-16BE', bytes: [0xfe, 0xff] },
] as const;

const UNICODE = new Map([
  ['utf8', 'UTF-8'],
  ['utf16', 'UTF-16'],
  ['utf16le', 'UTF-16LE'],
  ['utf16be', 'UTF-16BE'],
  ['ucs2', 'UTF-16LE'],
]);

export function isUtf16(name: string): boolean {
  return name.startsWith('UTF-16');
}

/** Lines from several sources: each is UTF-8, or else `WESTERN`. */
export const MIXED = 'mixed';
/** Most likely, if a text is not UTF-8. */
export const WESTERN = 'windows-1252';

/** Suggested when a name is unknown; iconv-lite supports many more. */
const COMMON = [
  ...['mixed', 'utf-8', 'utf-16le', 'utf-16be', 'macintosh', 'koi8-r', 'koi8-u', 'cp437', 'cp850', 'cp852', 'cp866'],
  ...['shift_jis', 'euc-jp', 'gbk', 'gb18030', 'big5', 'euc-kr', 'latin1', 'latin2', 'latin9'],
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map((page) => `windows-125${page}`),
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16].map((part) => `iso-8859-${part}`),
];

/** Names that iconv-lite accepts although they are not text encodings. */
const NO_TEXT = new Set(['base64', 'hex', 'binary', 'internal', 'utf7', 'utf7imap', 'cesu8']);

/**
 * The encoding of a file that begins with `head`: by its byte-order mark, else as declared, else UTF-16 if every other byte
 * is zero, else UTF-8 (which is then enforced while reading). Throws a `UserError` for an unknown encoding, and if the
 * declared encoding and the byte-order mark contradict each other.
 */
export async function chooseEncoding(file: InputFile, head: Buffer, declared: string | undefined): Promise<Encoding> {
  const mark = MARKS.find(({ bytes }) => bytes.every((byte, index) => head[index] === byte));
  const wanted = declared === undefined ? undefined : await normalise(file, declared);
  if (mark) {
    const agrees = wanted === undefined || wanted === mark.name || (wanted === 'UTF-16' && isUtf16(mark.name));
    if (wanted === MIXED && mark.name === 'UTF-8') return { name: MIXED, bom: mark.bytes.length, declared: true };
    if (agrees) return { name: mark.name, bom: mark.bytes.length, declared: wanted !== undefined };
    const [set, hint] = file.isArgument
      ? [`\`--encoding ${declared}\` is given`, 'remove `--encoding`']
      : [`the mapping sets \`encoding: ${declared}\``, 'remove `encoding` from this source'];
    throw new UserError(`${file.label} begins with the byte-order mark of ${mark.name}, but ${set}`, { hint });
  }
  if (wanted !== undefined && wanted !== 'UTF-16') return { name: wanted, bom: 0, declared: true };
  const guess = guessUtf16(head);
  if (wanted !== undefined) return { name: guess ?? 'UTF-16LE', bom: 0, declared: true };
  return { name: guess ?? 'UTF-8', bom: 0, declared: false };
}

/** What sets an encoding for this file. */
export function settingOf({ isArgument }: InputFile, encoding: string): string {
  return isArgument ? `\`--encoding ${encoding}\`` : `\`encoding: ${encoding}\``;
}

/** A reason to doubt a declared code page. Nearly any bytes are valid in one, so the user has to check. */
export function doubtOf({ name, declared }: Encoding, head: Buffer): string | undefined {
  if (!declared || name === MIXED || /^utf/i.test(name) || head.every((byte) => byte < 0x80)) return undefined;
  const end = head.findLastIndex((byte) => byte < 0x80) + 1;
  if (isUtf8(head.subarray(0, end)) && head.subarray(0, end).some((byte) => byte >= 0x80)) {
    return `the mapping sets \`encoding: ${name}\`, but the file is valid UTF-8: check a name with accents`;
  }
  if (/^(?:iso-?8859|latin)/.test(name) && /[\x80-\x9f]/.test(head.toString('latin1'))) {
    return `the file contains bytes that are control characters in ${name}: it is probably windows-1252`;
  }
  return undefined;
}

async function normalise(file: InputFile, declared: string): Promise<string> {
  const plain = declared.toLowerCase().replace(/[^a-z0-9]/g, '');
  const unicode = UNICODE.get(plain);
  if (unicode ?? plain === MIXED) return unicode ?? MIXED;
  const { default: iconv } = await import('iconv-lite');
  if (!NO_TEXT.has(plain) && iconv.encodingExists(declared)) return declared.toLowerCase();
  throw new UserError(`${file.label}: unknown encoding \`${declared}\``, {
    hint: didYouMean(declared, COMMON) ?? 'for example `utf-8`, `utf-16le`, `windows-1252` or `iso-8859-15`',
  });
}

/** Western text in UTF-16 has a zero in nearly every pair of bytes, always at the same position. */
function guessUtf16(head: Buffer): string | undefined {
  const length = Math.min(head.length - (head.length % 2), 4096);
  const zeros = [0, 0];
  for (let index = 0; index < length; index += 1) if (head[index] === 0) zeros[index % 2]! += 1;
  const [even = 0, odd = 0] = zeros;
  const many = length / 2 / 3;
  if (odd > many && even < odd / 10) return 'UTF-16LE';
  if (even > many && odd < even / 10) return 'UTF-16BE';
  return undefined;
}
