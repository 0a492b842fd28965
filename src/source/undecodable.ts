/** Bytes that are no text in the encoding of a file. */
import { isUtf8 } from 'node:buffer';
import { UserError } from '../errors.ts';
import { counted } from '../numbers.ts';
import { readBytes } from './bytes.ts';
import { settingOf, type Encoding } from './encoding.ts';
import type { InputFile } from './files.ts';
import { SettingError } from './source.ts';

interface UndecodableFile extends InputFile {
  readonly encoding: Encoding;
}

/** Where a chunk stops being text: the number of line breaks before that place, and the bytes there. */
export interface UndecodableText {
  readonly breaks: number;
  readonly bytes: Buffer;
}

/** The error for text that is not in the encoding of its file, at an offset: names the line, the bytes and what to do. */
export async function undecodable(file: UndecodableFile, offset: number, failure: UndecodableText): Promise<UserError> {
  const { name, declared } = file.encoding;
  const line = (await breaksBefore(file, offset)) + failure.breaks + 1;
  const { default: iconv } = await import('iconv-lite');
  const word = iconv.decode(failure.bytes, WESTERN);
  const [where, key] = file.isArgument ? ['with --encoding', '--encoding'] : ['in the mapping', 'encoding'];
  const bytes = name === 'UTF-8' ? ` (bytes ${hexOf(failure.bytes)})` : '';
  const message = `${file.shown}:${line} is not ${name} text${bytes}${declared ? `, which is the encoding set ${where}` : ''}`;
  if (name !== 'UTF-8') {
    return new UserError(message, {
      hint: declared
        ? `remove \`${key}\` to have it detected, or set the encoding in which the file was saved`
        : 'the file is damaged here: export it again',
    });
  }
  const reads = word === '' || word.includes('\ufffd') ? '' : ` (then a word there reads "${word}")`;
  const lines = await linesByEncoding(file);
  if (lines.utf8 > 0) {
    return new UserError(
      `${file.shown}:${line} is in another encoding than the rest of the file: ${counted(lines.other, 'line')} not in UTF-8 (bytes ${hexOf(failure.bytes)}), ${counted(lines.utf8, 'line')} with accents in UTF-8`,
      {
        hint: `save these lines as UTF-8 too: in ${WESTERN} a word there reads "${word}"; or export the file again. Any one \`encoding\` would change the names in the others`,
      },
    );
  }
  return new SettingError('encoding', message, {
    hint: `set its encoding, for example ${settingOf(file, WESTERN)}${reads}, or save the file as UTF-8`,
  });
}

/** Most likely, if a text is not UTF-8. */
const WESTERN = 'windows-1252';

/** The bytes of a word that are no ASCII, and at most the one that follows: `e8 20`. */
function hexOf(word: Buffer): string {
  const first = word.findIndex((byte) => byte >= 0x80);
  return [...word.subarray(first, first + 3)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
}

/** How many lines have accents in UTF-8, and how many are not UTF-8. Reads the file again, which only an error makes necessary. */
async function linesByEncoding(file: UndecodableFile): Promise<{ readonly utf8: number; readonly other: number }> {
  const counts = { utf8: 0, other: 0 };
  let rest: Buffer = Buffer.alloc(0);
  const count = (line: Buffer): void => {
    if (!isUtf8(line)) counts.other += 1;
    else if (line.some((byte) => byte >= 0x80)) counts.utf8 += 1;
  };
  for await (const chunk of readBytes(file)) {
    const bytes = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      count(bytes.subarray(start, end));
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  count(rest);
  return counts;
}

/** Line breaks in the first `length` bytes of a file. Reads the file again, which only an error makes necessary. */
async function breaksBefore(file: UndecodableFile, length: number): Promise<number> {
  const { name } = file.encoding;
  const width = name.startsWith('UTF-16') ? 2 : name.startsWith('utf-32') ? 4 : 1;
  const place = name === 'UTF-16BE' ? 1 : 0;
  let breaks = 0;
  let position = 0;
  let afterReturn = false;
  for await (const chunk of readBytes(file)) {
    for (let index = 0; index < chunk.length; index += 1, position += 1) {
      if (position % width !== place) continue;
      const isFeed = chunk[index] === 0x0a;
      // A carriage return counts only when no line feed follows it, and the line feed may be beyond `length`.
      if (afterReturn && !isFeed) breaks += 1;
      if (position >= length) return breaks;
      if (isFeed) breaks += 1;
      afterReturn = chunk[index] === 0x0d;
    }
  }
  return afterReturn ? breaks + 1 : breaks;
}
