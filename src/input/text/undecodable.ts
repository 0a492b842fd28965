/** Bytes that are no text in the encoding of a file. */
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { UserError } from '../../errors.ts';
import { enumerated, counted } from '../../report/words/numbers.ts';
import { readBytes } from '../files.ts';
import { SettingError } from '../source.ts';
import { candidatesFor, FOREIGN_WORD } from './candidates.ts';
import { isUtf16, MIXED, settingOf, WESTERN, type TextFile } from './encoding.ts';

/** The error for a file that is not text in its encoding: names the line, the bytes and the remedy. Reads the file once more. */
export async function undecodable(file: TextFile): Promise<UserError> {
  const { name, declared } = file.encoding;
  const [where, key] = file.isArgument ? ['with --encoding', '--encoding'] : ['in the mapping', 'encoding'];
  const whose = declared ? `, which is the encoding set ${where}` : '';
  const { default: iconv } = await import('iconv-lite');
  if (name !== 'UTF-8') {
    const what = name === MIXED ? `neither UTF-8 nor ${WESTERN}` : `not ${name}`;
    const page = name === MIXED ? WESTERN : name;
    const isText = (line: Buffer): boolean =>
      (name === MIXED && isUtf8(line)) || !iconv.decode(line, page).includes('\ufffd');
    const line = isUtf16(name) ? await firstWrong(file, name) : (await linesOf(file, isText)).firstOther;
    return new UserError(`${file.label}:${line} is ${what} text${whose}`, {
      hint: declared
        ? `remove \`${key}\` to have it detected, or set the encoding in which the file was saved`
        : 'the file is damaged here: export it again',
    });
  }
  const lines = await linesOf(file, isUtf8);
  const place = `${file.label}:${lines.firstOther}`;
  const bytes = `bytes ${hexOf(lines.word)}`;
  if (lines.accented > 0) {
    const word = iconv.decode(lines.word, WESTERN);
    return new SettingError(
      'encoding',
      `${place} is in another encoding than the rest of the file: ${counted(lines.other, 'line')} not in UTF-8 (${bytes}), ${counted(lines.accented, 'line')} with accents in UTF-8`,
      {
        hint: `set ${settingOf(file, MIXED)}, which reads these lines as ${WESTERN} (then a word there reads "${word}"); or export the file again. Any other \`encoding\` would change the names in the others`,
        choices: [MIXED],
      },
    );
  }
  const candidates = await candidatesFor([...lines.words].map((each) => Buffer.from(each, 'latin1')));
  const [{ encoding, word }, ...others] = candidates as [(typeof candidates)[0], ...typeof candidates];
  const reads = word === '' ? '' : ` (then a word there reads "${word}")`;
  const or = others.map((other) => `\`${other.encoding}\` ("${other.word}")`);
  return new SettingError('encoding', `${place} is not UTF-8 text (${bytes})${whose}`, {
    hint: `set its encoding, for example ${settingOf(file, encoding)}${reads}${or.length > 0 ? `, or ${enumerated(or, 'or')}` : ''}, or save the file as UTF-8`,
    choices: candidates.map((each) => each.encoding),
  });
}

/** The bytes of a word that are no ASCII, and at most the one that follows: `e8 20`. */
function hexOf(word: Buffer): string {
  const first = word.findIndex((byte) => byte >= 0x80);
  return [...word.subarray(first, first + 3)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
}

interface LinesByEncoding {
  /** How many lines are text and have accents. */
  accented: number;
  /** How many lines are none, the number of the first one, and the word in it by which its encoding can be recognised. */
  other: number;
  firstOther: number;
  word: Buffer;
  /** Different words of these lines that are not ASCII, each byte as a character. */
  readonly words: Set<string>;
}

/** More words show no more. */
const MOST_WORDS = 500;

async function linesOf(file: TextFile, isText: (line: Buffer) => boolean): Promise<LinesByEncoding> {
  const found: LinesByEncoding = { accented: 0, other: 0, firstOther: 0, word: Buffer.alloc(0), words: new Set() };
  let number = 0;
  const take = (line: Buffer): void => {
    number += 1;
    if (isText(line)) {
      found.accented += Number(line.some((byte) => byte >= 0x80));
      return;
    }
    if (found.words.size < MOST_WORDS) {
      for (const [each] of line.toString('latin1').matchAll(FOREIGN_WORD)) found.words.add(each);
    }
    if (found.other === 0) Object.assign(found, { firstOther: number, word: wordAround(line) });
    found.other += 1;
  };
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of readBytes(file)) {
    const bytes = Buffer.concat([rest, chunk]);
    let start = 0;
    // Whether a line feed follows a carriage return at the end of a chunk shows only in the next one.
    for (const { index, 0: end } of bytes.toString('latin1').matchAll(/\r\n|\n|\r(?!$)/g)) {
      take(bytes.subarray(start, index));
      start = index + end.length;
    }
    rest = bytes.subarray(start);
  }
  take(rest);
  return found;
}

/** The line of the first character that cannot be decoded. */
async function firstWrong(file: TextFile, encoding: string): Promise<number> {
  const decoder = new TextDecoder(encoding);
  let text = '';
  for await (const chunk of readBytes(file)) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes('\ufffd')) break;
  }
  return text.split('\ufffd', 1)[0]!.split(/\r\n|\r|\n/).length;
}

/** The word with the first invalid byte. */
function wordAround(line: Buffer): Buffer {
  const bad = Buffer.byteLength(line.toString('utf8').split('\ufffd', 1)[0] ?? '');
  const words = [...line.toString('latin1').matchAll(/[^\s,;"|]+/g)];
  const word = words.find((match) => match.index + match[0].length > bad)?.[0] ?? '';
  return Buffer.from(word.slice(0, 24), 'latin1');
}
