/** Bytes that are no text in the encoding of a file. */
import { isUtf8 } from 'node:buffer';
import { UserError } from '../../errors.ts';
import { counted } from '../../report/words/numbers.ts';
import { readBytes } from '../bytes.ts';
import { MIXED, settingOf, WESTERN, type TextFile } from './encoding.ts';
import { SettingError } from '../source.ts';

/** The error for a file that is not text in its encoding: names the line, the bytes and the remedy. `line`: if it is known. */
export async function undecodable(file: TextFile, line: number | undefined): Promise<UserError> {
  const { name, declared } = file.encoding;
  const [where, key] = file.isArgument ? ['with --encoding', '--encoding'] : ['in the mapping', 'encoding'];
  const whose = declared ? `, which is the encoding set ${where}` : '';
  if (name !== 'UTF-8') {
    const what = name === MIXED ? `neither UTF-8 nor ${WESTERN}` : `not ${name}`;
    return new UserError(`${file.label}:${line} is ${what} text${whose}`, {
      hint: declared
        ? `remove \`${key}\` to have it detected, or set the encoding in which the file was saved`
        : 'the file is damaged here: export it again',
    });
  }
  const lines = await linesByEncoding(file);
  const place = `${file.label}:${lines.firstOther}`;
  const bytes = `bytes ${hexOf(lines.word)}`;
  const { default: iconv } = await import('iconv-lite');
  if (lines.utf8 > 0) {
    const word = iconv.decode(lines.word, WESTERN);
    return new SettingError(
      'encoding',
      `${place} is in another encoding than the rest of the file: ${counted(lines.other, 'line')} not in UTF-8 (${bytes}), ${counted(lines.utf8, 'line')} with accents in UTF-8`,
      {
        hint: `set ${settingOf(file, MIXED)}, which reads these lines as ${WESTERN} (then a word there reads "${word}"); or export the file again. Any other \`encoding\` would change the names in the others`,
        choices: [MIXED],
      },
    );
  }
  const likely = await likelyEncoding([...lines.words].map((each) => Buffer.from(each, 'latin1')));
  const word = iconv.decode(lines.word, likely);
  const reads = word === '' || word.includes('\ufffd') ? '' : ` (then a word there reads "${word}")`;
  return new SettingError('encoding', `${place} is not UTF-8 text (${bytes})${whose}`, {
    hint: `set its encoding, for example ${settingOf(file, likely)}${reads}, or save the file as UTF-8`,
    choices: [likely],
  });
}

/** The bytes of a word that are no ASCII, and at most the one that follows: `e8 20`. */
function hexOf(word: Buffer): string {
  const first = word.findIndex((byte) => byte >= 0x80);
  return [...word.subarray(first, first + 3)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
}

interface LinesByEncoding {
  /** How many lines have accents in UTF-8. */
  utf8: number;
  /** How many lines are not UTF-8, the number of the first one, and the word in it by which its encoding can be recognised. */
  other: number;
  firstOther: number;
  word: Buffer;
  /** Different words of these lines that are not ASCII, each byte as a character. */
  readonly words: Set<string>;
}

/** More words show no more. */
const MOST_WORDS = 500;

/** Reads the file again, which only an error makes necessary. */
async function linesByEncoding(file: TextFile): Promise<LinesByEncoding> {
  const found: LinesByEncoding = { utf8: 0, other: 0, firstOther: 0, word: Buffer.alloc(0), words: new Set() };
  let number = 0;
  const take = (line: Buffer): void => {
    number += 1;
    if (isUtf8(line)) {
      found.utf8 += Number(line.some((byte) => byte >= 0x80));
      return;
    }
    if (found.words.size < MOST_WORDS) {
      for (const [each] of line.toString('latin1').matchAll(FOREIGN_WORD)) found.words.add(each);
    }
    if (found.other === 0) Object.assign(found, { other: 1, firstOther: number, word: wordAround(line) });
    else found.other += 1;
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

/** A word with a byte that is not ASCII. */
const FOREIGN_WORD = /[^\s,;"|]*[\x80-\xff][^\s,;"|]*/g;

/** The word with the first invalid byte. */
function wordAround(line: Buffer): Buffer {
  const bad = Buffer.byteLength(line.toString('utf8').split('\ufffd', 1)[0] ?? '');
  const words = [...line.toString('latin1').matchAll(/[^\s,;"|]+/g)];
  const word = words.find((match) => match.index + match[0].length > bad)?.[0] ?? '';
  return Buffer.from(word.slice(0, 24), 'latin1');
}

/** What Windows writes has the letters of these too, and further signs. */
const AS_WINDOWS: Readonly<Record<string, string>> = {
  'ISO-8859-1': WESTERN,
  'ISO-8859-2': 'windows-1250',
  'ISO-8859-6': 'windows-1256',
  'ISO-8859-7': 'windows-1253',
  'ISO-8859-8': 'windows-1255',
  'ISO-8859-9': 'windows-1254',
};
/** Fewer different words show nothing. */
const LEAST_WORDS = 8;
/** Of 100; measured with lists of names in 21 languages. */
const LEAST_CONFIDENCE = 18;
/** How much more likely than `WESTERN`, by far the most frequent one, another encoding has to be. */
const LEAST_RATIO = 1.1;

/**
 * The encoding of a text that is not UTF-8, by the letters that its words would have. `words`: different ones, each with other bytes than ASCII. The name is in
 * lower case.
 */
export async function likelyEncoding(words: readonly Buffer[]): Promise<string> {
  if (words.length < LEAST_WORDS) return WESTERN;
  const { analyse } = await import('chardet');
  const found = analyse(Buffer.concat(words.flatMap((word) => [word, Buffer.from(' ')])))
    .filter(({ name }) => !/^(?:ASCII|UTF|ISO-2022|IBM)/.test(name))
    .map(({ name, confidence }) => ({ name: AS_WINDOWS[name] ?? name.toLowerCase(), confidence }));
  const western = found.find(({ name }) => name === WESTERN)?.confidence ?? 0;
  const [best] = found;
  const isSure = best && best.confidence >= LEAST_CONFIDENCE && best.confidence >= western * LEAST_RATIO;
  return isSure ? best.name : WESTERN;
}
