/** In which encodings a text that is not UTF-8 may be, by the letters that its words would have: nearly any bytes are valid in each. */
import { WESTERN } from './encoding.ts';

/** As somebody decides between them: a word, and how each reads it. */
interface Candidate {
  readonly encoding: string;
  readonly word: string;
}

/** The usual ones come first: of two that read the words equally well, the earlier one. */
const ENCODINGS = [
  ...[WESTERN, 'windows-1250', 'windows-1251', 'windows-1254', 'macintosh', 'shift_jis', 'gb18030', 'euc-kr', 'big5'],
  ...[
    'euc-jp',
    'windows-1253',
    'windows-1255',
    'windows-1256',
    'windows-1257',
    'windows-1258',
    'koi8-r',
    'cp850',
    'cp437',
    'cp852',
    'cp866',
  ],
];
/** What chardet calls them; it knows the letters of a language by their frequency. */
const AS_HERE: Readonly<Record<string, string>> = {
  'ISO-8859-1': WESTERN,
  'ISO-8859-2': 'windows-1250',
  'ISO-8859-6': 'windows-1256',
  'ISO-8859-7': 'windows-1253',
  'ISO-8859-8': 'windows-1255',
  'ISO-8859-9': 'windows-1254',
};
/** More words show no more. */
const MOST_WORDS = 200;
const MOST = 4;
/** Worse ones are no candidates. */
const LEAST = 0.2;
const FAR = 0.6;

/** Letters by how many people write them: in a wrong encoding rare ones stand for the usual ones. */
const USUAL =
  /[äöüßéèêëáàâíìîóòôúùûçñãåøæ\p{sc=Cyrl}\p{sc=Grek}\p{sc=Hebr}\p{sc=Arab}\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/iu;
const KNOWN = /[ąęłńśźżćčřšžěůőűăâîșşţğıďťāēīū]/iu;
const RARE = /[ðþýŸƒªºˆ˜ŒœĺŕņķļģĶĮţ]/i;
const SCRIPTS = [
  /\p{sc=Latn}/u,
  /\p{sc=Cyrl}/u,
  /\p{sc=Grek}/u,
  /\p{sc=Hebr}/u,
  /\p{sc=Arab}/u,
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}ー々]/u,
  /\p{sc=Hang}/u,
];

interface PageReading {
  readonly encoding: string;
  readonly read: readonly string[];
  readonly score: number;
}

/** The words in each encoding, the likeliest one first. */
async function readings(words: readonly Buffer[], encodings: readonly string[]): Promise<readonly PageReading[]> {
  const [{ default: iconv }, { analyse }] = await Promise.all([import('iconv-lite'), import('chardet')]);
  const found = analyse(Buffer.concat(words.flatMap((word) => [word, Buffer.from(' ')])));
  const hints = new Map(
    found.map(({ name, confidence }) => [AS_HERE[name] ?? name.toLowerCase(), confidence / 100] as const).reverse(),
  );
  return encodings
    .map((encoding): PageReading => {
      const read = words.map((word) => iconv.decode(word, encoding));
      const sum = read.reduce((total, word, at) => total + scoreOf(word) + koreanBonus(word, words[at]!), 0);
      return { encoding, read, score: sum / Math.max(1, words.length) + (hints.get(encoding) ?? 0) };
    })
    .sort((one, other) => other.score - one.score);
}

/** The likeliest encoding first, each with a word in it; `windows-1252` alone if there are no words. `words`: with other bytes than ASCII. */
export async function candidatesFor(words: readonly Buffer[]): Promise<readonly Candidate[]> {
  const given = words.slice(0, MOST_WORDS);
  const all = await readings(given, ENCODINGS);
  const [first] = all as [PageReading];
  const best = all.filter(({ score }) => score > LEAST && score > first.score - FAR);
  // Nobody can choose between two that read the same.
  const told = (best.length > 0 ? best : all.filter(({ encoding }) => encoding === WESTERN)).filter(
    (each, at, list) => list.findIndex((other) => other.read.join() === each.read.join()) === at,
  );
  const few = told.slice(0, MOST);
  const different = given.map((_, index) => few.filter(({ read }) => read[index] !== few[0]!.read[index]).length);
  const at = different.indexOf(Math.max(...different));
  return few.map(({ encoding, read }) => ({ encoding, word: read[at] ?? '' }));
}

/** Fewer words may be names of anything. */
const LEAST_DOUBTFUL = 3;

/** A reason to doubt a code page that is set: a word in it, and in the one that reads the words of the text far better. */
export async function otherReading(set: string, text: Buffer): Promise<string | undefined> {
  const found = new Set(Array.from(text.toString('latin1').matchAll(FOREIGN_WORD), ([word]) => word));
  const words = [...found].slice(0, MOST_WORDS).map((word) => Buffer.from(word, 'latin1'));
  if (words.length < LEAST_DOUBTFUL) return undefined;
  const all = await readings(words, [...new Set([...ENCODINGS, set])]);
  const [best] = all as [PageReading];
  const own = all.find(({ encoding }) => encoding === set)!;
  const at = words.findIndex((_, index) => best.read[index] !== own.read[index]);
  if (at < 0 || best.score - own.score <= FAR / 2) return undefined;
  return `a word reads "${own.read[at]}" in ${set}, which is set, and "${best.read[at]}" in ${best.encoding}`;
}

/** A word with a byte that is not ASCII, each byte as a character. */
export const FOREIGN_WORD = /[^\s,;"|]*[\x80-\xff][^\s,;"|]*/g;

/** Quotes around a word, an apostrophe in it, a dash alone, the sign of a price: in a wrong encoding they are letters elsewhere. */
const MARKS = /(?<=^\(?)[„“‘‚«»]+|[“”’»«]+(?=[.:!?)]*$)|(?<=\p{L})’(?=\p{L})|^[–—•…€]+$|€(?=\d)|(?<=\d)€/gu;

/** From 1, if all letters are such as words have, down: no letters, letters of several scripts, capitals behind small letters. */
function scoreOf(word: string): number {
  const plain = word.replace(MARKS, '');
  const foreign = [...plain].filter((character) => character > '\x7f');
  if (foreign.length === 0) return plain === word ? 0 : 1;
  const scripts = SCRIPTS.filter((script) => script.test(word)).length;
  const sum = foreign.reduce((total, character) => total + valueOf(character), 0) / foreign.length;
  const capitals = (word.match(/\p{Ll}\p{Lu}|\p{L}\p{Lu}(?=\p{Ll})/gu) ?? []).length;
  // Within a word, Italian has none of these.
  const within = (word.match(/[ìòù](?=\p{Ll})/gu) ?? []).length;
  return sum - (scripts > 1 ? 1 : 0) - capitals - within / 2;
}

/** Words of frequent Hangul (the characters of KS X 1001) come of no text in another encoding. */
function koreanBonus(word: string, bytes: Buffer): number {
  return /^\p{sc=Hang}+$/u.test(word) ? (bytes.every((byte) => byte >= 0xa1) ? 0.6 : -0.3) : 0;
}

function valueOf(character: string): number {
  if (/[\ufffd\p{Co}\p{Cc}\p{Cn}]/u.test(character)) return -8;
  if (/[\uff61-\uff9f]/.test(character) || !/[\p{L}\p{M}々ー]/u.test(character)) return -1;
  if (RARE.test(character)) return 0.5;
  return USUAL.test(character) ? 1 : KNOWN.test(character) ? 0.95 : 0.8;
}
