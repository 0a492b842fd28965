/** Whose values name records of which other table: directly, or by a part of the value. */
import { ofText } from '../../../report/words/numbers.ts';
import type { TransformSpec } from '../../../mapping/spec.ts';
import {
  countOf,
  isIn,
  isUnique,
  literal,
  objectOf,
  pathOf,
  plainValues,
  type Column,
  type Table,
} from '../columns.ts';
import { isId, isRising, isRowNumber } from '../matrix/content.ts';
import { headerScore } from '../matrix/roles.ts';
import { asOne, numberedIn } from './numbered.ts';
import type { Samples } from '../tables.ts';
import { commonEnds, fold, meaningOf, namesNoun, type Meaning } from '../words.ts';

/** The parts of a value that may name a record. */
interface Extractor {
  /** What values look like that have such a part. */
  readonly like: RegExp;
  readonly take: (value: string) => readonly string[];
  /** The transforms that take the part, or the first one. */
  readonly apply: readonly TransformSpec[];
  /** Compared in lower case, by the last digits of phone numbers, without leading zeros, or as names. */
  readonly fold?: Fold;
  /** The transforms of the other side, where they are others. */
  readonly key?: readonly TransformSpec[];
  /** A value may name several records. */
  readonly several?: true;
  /** Few values need to have such a part. */
  readonly some?: true;
  /** What is before the id, such as `Contact/`; `isType`: others have another one. */
  readonly prefix?: { readonly text: string; readonly isType: boolean };
}

type Fold = 1 | 2 | 3 | 4;

/** The last digits of a phone number, which are the same however it is written. */
function digitsOf(value: string): string {
  return value.replace(/\D/g, '').slice(-9);
}

/** The same in a mapping: whatever the country of numbers without its code. */
const DIGITS: readonly TransformSpec[] = [{ replace: { pattern: '\\D', with: '' } }, { extract: '.{1,9}$' }];

/** `00123` and `123`: a spreadsheet has made numbers of the ids in one of the files. */
function plainOf(value: string): string {
  return value.replace(/^0+(?=\d)/, '');
}

/** `PERRIN, Théo` and `Perrin Théo`. */
function plainName(value: string): string {
  return value.replace(',', '').toLowerCase();
}

/** The same in a mapping. */
const NAME: readonly TransformSpec[] = [{ replace: { pattern: ',', with: '' } }, 'lowercase'];

const ADDRESS = /([^\s<>"]+@[^\s<>"]+)/;

/** An element of a list, with or without quotes. */
const QUOTED = /"[^"]+"|[^",]+/g;

export const WHOLE: Extractor = { like: /./, take: (value) => [value], apply: [] };
const EXTRACTORS: readonly Extractor[] = [
  WHOLE,
  { like: /@.*\./, take: (value) => [value.toLowerCase()], apply: ['lowercase'], fold: 1 },
  // `Anna Rossi <anna@rossi.example>`, in some values or all.
  {
    like: /<[^<>@]+@[^<>]+>/,
    take: (value) => [(ADDRESS.exec(value)?.[1] ?? '').toLowerCase()],
    apply: [{ extract: ADDRESS.source }, 'lowercase'],
    fold: 1,
    some: true,
  },
  // Also without any prefix, as in Spain: only columns of phone numbers are compared so.
  { like: /^\+?[\d\s().\-/]{8,22}$/, take: (value) => [digitsOf(value)], apply: DIGITS, fold: 2 },
  {
    like: /^\d+$/,
    take: (value) => [plainOf(value)],
    apply: [{ replace: { pattern: '^0+(\\d)', with: '$1' } }],
    fold: 3,
  },
  // `ROSSI, Anna`, `Rossi Anna` and `Anna Rossi`: last names or first names may have several words.
  ...[/^(.+)$/, /^([^,]+), *([^,]+)$/, /^([^\s,]+) ([^,]+)$/, /^([^,]+) ([^\s,]+)$/].map((order, at) => ({
    like: /^\p{L}[\p{L}'’.-]*,? [\p{L} '’.-]+$/u,
    take: (value: string) => [plainName(at === 0 ? value : value.replace(order, '$2 $1'))],
    apply: at === 0 ? NAME : [{ replace: { pattern: order.source, with: '$2 $1' } }, 'lowercase' as const],
    fold: 4 as const,
    key: NAME,
  })),
  ...[
    /^@(.+)$/,
    /^(.+?) \(/,
    /^([^\s:]{2,})(?: +[-–—:|]|:) /,
    /\(([^()]+)\)\s*$/,
    /<([^<>]+)>/,
    /^(?:https?:\/)?\/.*\/([^/]+)\/?$/,
  ].map((like) => ({
    like,
    take: (value: string) => [like.exec(value)?.[1] ?? ''],
    apply: [{ extract: like.source }],
  })),
  // Quoted, as a list in a cell: `Roof, house 1` is one name.
  {
    like: /"[^"]+"/,
    take: (value) => [...value.matchAll(QUOTED)].map(([part]) => part.replaceAll('"', '').trim()),
    apply: [{ extract: QUOTED.source }, { replace: { pattern: '"', with: '' } }],
    several: true,
    some: true,
  },
  ...[' ::: ', ';', '|', ','].map((separator) => ({
    like: new RegExp(separator.trim().replace('|', '\\|')),
    take: (value: string) => value.split(separator).map((part) => part.trim()),
    apply: [{ split: separator }, { at: 0 }],
    several: true as const,
    some: true as const,
  })),
];

/** What values begin with before a number, if they all begin with a few texts: `Lead-12`, `gid://crm/Deal/5`. */
function prefixesIn(values: readonly string[]): Extractor[] {
  const prefixes = new Set(values.map((value) => /^(.*\p{L}.*[^\p{L}\d]|\p{L}+)\d+$/u.exec(value)?.[1]));
  if (prefixes.has(undefined) || prefixes.size > MAX_PREFIXES) return [];
  return [...prefixes].map((prefix = '') => ({
    like: new RegExp(`^${literal(prefix)}`),
    take: (value) => (value.startsWith(prefix) ? [value.slice(prefix.length)] : []),
    apply: [{ extract: `^${literal(prefix)}(.+)$` }],
    some: true,
    prefix: { text: prefix, isType: prefixes.size > 1 },
  }));
}

const MAX_PREFIXES = 5;

export interface Reference {
  readonly from: Column;
  readonly to: Column;
  readonly by: Extractor;
  /** Values found in the other table, and all values, one per record or, of several in a cell, more. */
  readonly found: number;
  readonly of: number;
  readonly share: number;
  /** Both columns have the ids of this third table, which tell no record of the other one apart: people of one company. */
  readonly third?: Table;
  /** Of the tables whose ids all values are, this is the shortest one, and the values are spread over its ids. */
  readonly isSpread?: boolean;
  /** A text before the id says which records are meant. */
  readonly isTyped?: boolean;
}

/** Below this share, an overlap is not worth showing. */
const MIN_SHARE = 0.1;
/** Longer values are texts: no ids, e-mail addresses or names. */
const MAX_KEY = 120;
/** Of a value with a key in it. */
const MAX_VALUE = 250;

/** `500 of 500 match contacts.Email`. */
export function referenceText({ found, of, to }: Reference): string {
  return `${ofText(found, of)} match \`${to.table.source}${to.table.list === undefined ? '' : `#${to.table.list}`}.${to.name}\``;
}

/** All pairs of columns of different tables with common values, as far as the second one could name its record. */
export function findReferences({ db, tables: all }: Samples): Reference[] {
  // Values of other records have their columns there.
  const tables = all.filter(({ attributes, list }) => attributes === undefined || list !== undefined);
  const numbered = numberedIn(tables);
  const keys = [...tables.flatMap((table) => [...table.columns.filter(isKey), ...namesOf(table)]), ...numbered.to];
  keys.forEach(({ sql, table, is }, key) => {
    const all = `from ${table.sql} where ${sql} is not null`;
    db.exec(`insert into keys select distinct ${sql}, ${key}, 0 ${all}`);
    const folded = (fold: Fold, by: (value: string) => string): void => {
      const values = JSON.stringify(plainValues(keys[key]!).map(by));
      db.run(`insert into keys select distinct value, ${key}, ${fold} from json_each(?)`, values);
    };
    if (is.phone > 0.6 && is.grouped + is.international > 0.5) folded(2, digitsOf);
    if (is.whole > 0.9) folded(3, plainOf);
    if (is.email > 0.5) folded(1, (value) => value.toLowerCase());
    if (is.person > 0.5) folded(4, plainName);
  });
  db.exec('create index samples.keys_by_value on keys (value)');
  const able = tables.flatMap((table) => [...table.columns.filter(mayRefer), ...namesOf(table)]);
  return throughThirds([...able, ...numbered.from].flatMap((from) => referencesOf(from, keys)));
}

/**
 * A column that both tables have, and whose values are ids of a third one, names that: it does not name the record of the other
 * table whose number happens to be the same, but those beside the same id.
 */
function throughThirds(references: readonly Reference[]): Reference[] {
  const thirdsOf = (column: Column): Column[] =>
    references.flatMap(({ from, to, by, share }) =>
      from === column && by === WHOLE && share > 0.9 && isUnique(to) ? [to] : [],
    );
  return references.flatMap((each): Reference[] => {
    const { from, to, by } = each;
    const same = by === WHOLE && to.is.digits > 0.9 && to.table.columns.find((column) => isCalledAlike(from, column));
    if (!same || same === to || isUnique(same)) return [each];
    const thirds = thirdsOf(same).filter(({ table }) => table !== from.table && table !== to.table);
    // Small numbers are among those of many tables: the shortest one is meant.
    const [third] = thirdsOf(from)
      .flatMap((column) => (thirds.includes(column) ? [column.table] : []))
      .sort((a, b) => a.rows - b.rows);
    if (!third) return [each];
    // Too many have the same type or member of the staff.
    if (same.distinct < same.filled / 4) return [];
    const all = `select ${same.sql} from ${to.table.sql}`;
    const found = countOf(from.table, `from ${from.table.sql} where ${from.sql} in (${all})`);
    return [{ ...each, to: same, found, share: found / each.of, third }];
  });
}

/** Values that mostly tell records apart: ids, e-mail addresses, names. */
function isKey({ filled, distinct, length, date, separators, is, meaning }: Column): boolean {
  if (filled === 0 || date || length > MAX_KEY || is.flag > 0.8 || (distinct === 1 && filled > 1)) return false;
  return is.email > 0.5 || isCompanyId(meaning) || (distinct >= filled / 2 && !(separators && is.decimal > 0.1));
}

/** By the ids of their companies, a person and a deal find each other. */
export function isCompanyId({ concepts }: Meaning): boolean {
  return concepts.has('company') && concepts.has('id');
}

/** First and last name as one column; where one of them is certain, a column that is only called a name is the other. */
export function namesOf({ columns }: Table): Column[] {
  const [above] = new Set(columns.map(objectOf));
  // An object around each record, `{ user: { first, name } }`, says nothing of its columns.
  const isWrapped = above !== '' && columns.every((column) => objectOf(column) === above);
  const scoreIn = (role: 'first' | 'last' | 'full', column: Column): number =>
    headerScore(role, isWrapped ? { ...column, meaning: meaningOf(column.name.slice(above!.length)) } : column, 'lead');
  const best = (role: 'first' | 'last' | 'full', least: number, other?: Column): Column | undefined =>
    columns
      .filter((column) => column !== other && column.is.words > 0.8 && column.is.spaced < 0.3)
      .filter((column) => scoreIn(role, column) > least)
      .sort((a, b) => b.filled - a.filled)[0];
  const [sureFirst, sureLast] = [best('first', 0.8), best('last', 0.8)];
  const first = sureFirst ?? (sureLast && best('full', 0.7, sureLast));
  const last = sureLast ?? (sureFirst && best('full', 0.7, sureFirst));
  if (!first || !last) return [];
  return [asOne([first, last], last, { person: 1 })];
}

function mayRefer({ filled, date, length, separators, is }: Column): boolean {
  return (
    filled > 0 && !date && is.html < 0.1 && length <= MAX_VALUE && !(separators && is.decimal > 0.5) && is.flag < 0.9
  );
}

function referencesOf(from: Column, keys: readonly Column[]): Reference[] {
  const { sql, table, values } = from;
  const found = new Map<Column, Reference>();
  const typed: Reference[] = [];
  for (const by of [...EXTRACTORS, ...prefixesIn(values)]) {
    const alike = values.filter((value) => by.like.test(value)).length;
    // A part of the value is only looked at where most values have it.
    if (by !== WHOLE && (alike < values.length * (by.some ? 0.02 : 0.5) || alike === 0)) continue;
    if (by.several && [...found.values()].some((each) => each.share > 0.98)) continue;
    const parts = values.flatMap((value) => by.take(value)).filter(Boolean);
    const [cells, of, given] =
      by === WHOLE
        ? [`select ${sql} value from ${table.sql} where ${sql} is not null`, from.filled, []]
        : ['select value from json_each(?)', by.prefix ? values.length : parts.length, [JSON.stringify(parts)]];
    const counts = table.db.all<{ key: number; n: number }>(
      `select key, count(*) n from (${cells}) cells join keys on keys.value = cells.value and folded = ${by.fold ?? 0} group by 1`,
      ...given,
    );
    for (const { key, n } of counts) {
      const to = keys[key]!;
      const known = found.get(to);
      const isOwn = to.table === table || isIn(to.table, table) || (isIn(table, to.table) && pathOf(from) === to.name);
      const reference = { from, to, by, found: n, of, share: n / of };
      if (isOwn) continue;
      if (by.prefix?.isType && n === parts.length && isUnique(to)) typed.push({ ...reference, isTyped: true });
      if (!by.prefix?.isType && n / of > (known?.share ?? 0)) found.set(to, reference);
    }
  }
  for (const each of settled(typed)) found.set(each.to, each);
  const all = [...found.values()].filter((each) => each.share >= MIN_SHARE);
  const whole = all.filter(({ to, found: n, of }) => n === of && isUnique(to)).map(({ to }) => to.table.rows);
  // `lead_id` is of the table `leads`, whatever others have such numbers.
  const called = all.find(({ to, share }) => share > 0.9 && isUnique(to) && isCalledAfter(from, to.table));
  const meant = called ? all.filter(({ to }) => to.is.digits < 0.9 || isCalledAfter(from, to.table)) : all;
  return meant.map((each) => ({ ...each, isSpread: each.to.table.rows === Math.min(...whole) && isSpread(each) }));
}

/**
 * Which records each of several texts before an id means, of tables that have all of its ids: those that it names, then those with
 * the most like name, and for the last text the only table that is left: `Auftrag:5` of `auftraege.csv`.
 */
function settled(typed: readonly Reference[]): Reference[] {
  const chosen: Reference[] = [];
  const textOf = ({ by }: Reference): string => by.prefix!.text;
  const isFree = (each: Reference): boolean =>
    chosen.every(({ to, ...other }) => to.table !== each.to.table && textOf({ to, ...other }) !== textOf(each));
  const score = (each: Reference): number =>
    isNamed(textOf(each), each.to.table) ? 100 : commonStem(textOf(each), each.to.table.list ?? each.to.table.source);
  for (const each of [...typed].sort((a, b) => score(b) - score(a)))
    if (score(each) >= MIN_STEM && isFree(each)) chosen.push(each);
  const left = typed.filter((each) => isFree(each) && !each.to.table.nouns.includes('user'));
  const isOnly = (each: Reference): boolean => left.every((other) => other === each || textOf(other) !== textOf(each));
  // Few small numbers are ids of any table.
  return [...chosen, ...left.filter((each) => isOnly(each) && chosen.length > 0 && each.found >= MIN_LEFT)];
}

const MIN_STEM = 4;
const MIN_LEFT = 8;

/** Letters that the words of two names begin with, whatever their umlauts are written like. */
function commonStem(a: string, b: string): number {
  const wordsOf = (text: string): string[][] =>
    fold(text)
      .replace(/([aou])e/g, '$1')
      .split(' ')
      .map((word) => [...word]);
  return Math.max(...wordsOf(a).flatMap((one) => wordsOf(b).map((other) => commonEnds([one, other]).start)));
}

/** As references are spread over the ids of a table, and counts, ages or percentages are not. */
function isSpread({ from, to, found, of }: Reference): boolean {
  const spanOf = ({ values }: Column): number => Math.max(...values.map(Number)) - Math.min(...values.map(Number));
  const able = Math.min(from.filled, to.distinct);
  const isMany = from.distinct >= 8 && from.distinct > able * 0.4;
  return found === of && isMany && isUnique(to) && !isRising(from) && spanOf(from) > spanOf(to) * 0.7;
}

/** Whether at least this share of the values is found, and on purpose. */
export function isSure(reference: Reference, least = 0): boolean {
  return reference.share >= least && !isByChance(reference);
}

/** Small numbers are among other small numbers by chance: only a name tells what they refer to. */
function isByChance({ from, to, found, of, by, third, isTyped, isSpread: isMeant }: Reference): boolean {
  if ((to.is.digits < 0.9 && by.fold !== 3) || third || isTyped) return false;
  if (by.prefix && isNamed(by.prefix.text, to.table)) return false;
  const numbers = to.values.map(Number);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  // Where most numbers between the first and the last are no ids, values that are all ids are so on purpose.
  const isSparse = to.distinct < (high - low) / 2 && found === of && from.distinct >= 8;
  // Codes that do not count from one, as 21 to 24, and are nearly all used.
  const isCode = found === of && low > 2 * to.distinct && from.distinct >= Math.max(2, to.distinct * 0.7);
  const isParent = found === of && from.distinct >= 8 && from.meaning.concepts.has('parent');
  // The number of a record is not that of another one which is called so, too.
  const isAlike = isCalledAlike(from, to) && (found === of || by.fold === 3 || !isUnique(from));
  // Where no word says what the numbers are.
  if (isMeant && from.meaning.concepts.size === 0) return false;
  return (low < 1000 || by.fold === 3) && !isSparse && !isCode && !isParent && !namesTable(from, to.table) && !isAlike;
}

/** `VNR` and `VNR`, but not `id` and `id`, nor the numbers of the rows of both. */
export function isCalledAlike(from: Column, to: Column): boolean {
  const isTelling = from.meaning.words.some((word) => !word.has('id') && !word.has('number'));
  return isTelling && fold(from.name) === fold(to.name) && !(isRowNumber(from) && isRowNumber(to));
}

/** Whether a header names what the other table has: `Contact ID` of contacts, `group_id` of groups, `Zakazka` of `zakazky`. */
export function namesTable({ meaning, name }: Pick<Column, 'meaning' | 'name'>, table: Table): boolean {
  const { concepts } = meaning;
  if (table.nouns.some((noun) => namesNoun(noun, concepts) || (noun === 'user' && concepts.has('author')))) return true;
  return isCalledAfter({ name }, table);
}

function isCalledAfter({ name }: Pick<Column, 'name'>, table: Table): boolean {
  const stem = (word: string): string => word.replace(/^id(?=.{4})|(?:ids?|s)$/g, '');
  const words = fold(name).split(' ').map(stem);
  const isAlike = (a: string, b: string): boolean => {
    const most = Math.max(a.length, b.length);
    return (
      a === b || (most < Math.min(a.length, b.length) + 3 && most > 5 && a.slice(0, most - 2) === b.slice(0, most - 2))
    );
  };
  return fold(table.list ?? table.source)
    .split(' ')
    .some((word) => word.length > 3 && words.some((each) => isAlike(each, stem(word))));
}

function isNamed(text: string, table: Table): boolean {
  return namesTable({ name: text, meaning: meaningOf(text) }, table);
}

/** Whether a table says whom the texts of another one are about. */
export function linksTexts(table: Table, references: readonly Reference[]): boolean {
  // Not by a record of which both are: that has a table of its own.
  const isForeign = (column: Column): boolean =>
    references.some((each) => each.from === column && isSure(each, 0.7) && each.to.table !== table);
  return references.some(
    ({ from, to, share }) =>
      from.table === table &&
      to.table.nouns.includes('comment') &&
      share > 0.5 &&
      isId(to) &&
      isUnique(to) &&
      !isForeign(to),
  );
}
