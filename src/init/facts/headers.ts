/** What headers, names of files and words of values mean, by the lists of `words`. */
import { COMPOUND_ENDS, EMPTY, ENDS, FIRMS, FOLDED, JOBS, NOUNS, PHRASES_OF, UNSPACED, WORDS } from '../know/words.ts';

export type Concept = keyof (typeof WORDS)['en'];

/** What the words of a header mean, word by word (a word that is not known has no meaning), and all together. */
export interface Meaning {
  readonly words: readonly ReadonlySet<Concept>[];
  readonly concepts: ReadonlySet<Concept>;
}

/** A header as words in lower case, without accents and punctuation: `ClosedLost-Reason` is `closed lost reason`. */
export function fold(name: string): string {
  const apart = name
    // `IDs` and `URLs` are one word.
    .replace(/\p{Lu}{2,}s(?!\p{Ll})/gu, (word) => ` ${word.toLowerCase()} `)
    .replace(/([\p{Ll}\d])(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1$3 $2$4');
  const plain = FOLDED.reduce((text, [from, to]) => text.replace(from, to), apart.normalize('NFKD').toLowerCase());
  const words = plain.normalize('NFC').trim();
  return PHRASES_OF.reduce((text, [from, to]) => text.replace(from, to), words);
}

const CONCEPTS = new Map<string, Set<Concept>>();
const INNER = new Set<string>();
for (const [language, lists] of Object.entries(WORDS))
  for (const [concept, words] of Object.entries(lists) as [Concept, string][])
    for (const word of words.split(' ').map(fold)) {
      CONCEPTS.set(word, (CONCEPTS.get(word) ?? new Set()).add(concept));
      if (UNSPACED.some((each) => each === language)) INNER.add(word);
    }
const PHRASES = [...CONCEPTS.keys()].filter((word) => word.includes(' ')).sort((a, b) => b.length - a.length);
const WORD = new RegExp(`(?<!\\S)(?:${PHRASES.join('|')})(?!\\S)|\\S+`, 'gu');
const SILENT = new Set(EMPTY.split(' '));
const TAILS = COMPOUND_ENDS.split(' ');
const NONE: ReadonlySet<Concept> = new Set();

/** The words and known phrases of a folded header. */
function wordsIn(folded: string): string[] {
  return folded.match(WORD) ?? [];
}

const MEANINGS = new Map<string, Meaning>();

export function meaningOf(header: string): Meaning {
  const known = MEANINGS.get(header);
  if (known) return known;
  // What follows an `@` says how the value is written: `ownerid@FormattedValue`.
  const all = wordsIn(fold(header.replace(/(?<=.)@.*/su, '').replace(/#(?!\d)|№|\bn[°º]/giu, ' number ')));
  const telling = all.filter((word) => !SILENT.has(word));
  const words = (telling.length > 0 ? telling : all).flatMap(partsOf);
  const meaning = { words, concepts: new Set(words.flatMap((each) => [...each])) };
  MEANINGS.set(header, meaning);
  return meaning;
}

/** What one word means, or the known words that it is made of: `erstellungsdatum`, `ownerid`. */
function partsOf(word: string): ReadonlySet<Concept>[] {
  const plain = word.replace(/\d+$/, '');
  const whole = [word, plain, word.replace(/^ال/u, ''), singularOf(plain)].find((each) => CONCEPTS.has(each));
  if (whole !== undefined) return [CONCEPTS.get(whole)!];
  if (/[^\p{Script=Latin}\p{Script=Cyrillic}\d]/u.test(word)) {
    const inner = [...INNER].filter((each) => word.includes(each));
    const found = inner.filter((each) => !inner.some((longer) => longer !== each && longer.includes(each)));
    return found.length > 0 ? found.map((each) => CONCEPTS.get(each)!) : [NONE];
  }
  return compound(plain) ?? [NONE, ...TAILS.flatMap((each) => (word.endsWith(each) ? [CONCEPTS.get(each)!] : []))];
}

/** Letters of a part of a compound, and parts that are shorter. */
const PART = 4;
const SHORT_PARTS = ['id', 'nr', 'by', 'on', 'at', 'type'];

function compound(word: string): ReadonlySet<Concept>[] | undefined {
  for (let at = PART - 1; at <= word.length - 2; at += 1) {
    const [start, rest] = [word.slice(0, at), word.slice(at)];
    const head = CONCEPTS.get(start) ?? CONCEPTS.get(start.replace(/(?:s|en|n)$/, ''));
    const tail = CONCEPTS.get(rest);
    const isLong = start.length >= PART && rest.length >= PART;
    if (head && tail && (isLong || SHORT_PARTS.includes(rest))) return [head, tail];
  }
  return undefined;
}

/** `stages`, `statuses`: the name of a file or list is the plural of what is in it. */
function singularOf(word: string): string {
  return word.length <= PART ? word : word.replace(/ies$/, 'y').replace(/(?:(?<=[sxz]|ch|sh)es|s)$/, '');
}

const ENDINGS = new Map(
  (['won', 'lost', 'open'] as const).flatMap((end) =>
    ENDS[end].split(' ').map((word) => [fold(word).replaceAll(' ', ''), end] as const),
  ),
);
export type DealEnd = keyof typeof ENDS;

/** What a status says of its deal: the first word that says something. */
export function endingOf(value: string): DealEnd | undefined {
  const words = fold(value).split(' ');
  const found = [...words, words.join('')].flatMap((word) => ENDINGS.get(word) ?? []);
  return found.find((end) => end !== 'open') ?? found[0];
}

const oneOf = (words: string): string =>
  words
    .split(' ')
    .map((word) => word.replace(/[.()/]/g, '\\$&').replaceAll('*', '\\p{L}*'))
    .join('|');
const JOB = new RegExp(`^(?:${oneOf(JOBS)})$`, 'u');
const FIRM = new RegExp(`(?:^|[\\s,])(?:${oneOf(FIRMS)})\\.?(?:$|[\\s,])`, 'iu');

export function isJob(value: string): boolean {
  return fold(value)
    .split(' ')
    .some((word) => JOB.test(word));
}

export function isFirm(value: string): boolean {
  return FIRM.test(value);
}

export type Noun = keyof typeof NOUNS;

/** The last noun in a name counts: `deal_products`; of a word with several meanings, all. */
export function nounsOf(name: string): readonly Noun[] {
  const tokens = wordsIn(fold(name)).reverse();
  // A table of types has none of the records.
  if (tokens.length > 1 && CONCEPTS.get(singularOf(tokens[0]!))?.has('type')) return ['other'];
  for (const concepts of tokens.flatMap((token) => partsOf(token).reverse())) {
    const nouns = (Object.keys(NOUNS) as Noun[]).filter((noun) => NOUNS[noun].some((each) => concepts.has(each)));
    if (nouns.length > 0) return nouns;
  }
  // `modcomments`, `contactdetails`: the known word at the end or the beginning.
  const inner = (like: (token: string, word: string) => boolean): string | undefined =>
    [...CONCEPTS.keys()].find(
      (word) => word.length > PART && tokens.some((token) => token !== word && like(token, word)),
    );
  const found = inner((token, word) => token.endsWith(word)) ?? inner((token, word) => token.startsWith(word));
  return found === undefined ? [] : nounsOf(found);
}
