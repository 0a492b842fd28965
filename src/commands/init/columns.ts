/** What the values of a column look like: shares of the values in the sample, the same for every language. */
import { currencyMarks, currencyNamed, isCurrency } from '../../kinds/currencies.ts';
import { isAlternatives, type TransformSpec, type ValueSpec } from '../../mapping/spec.ts';
import type { Database } from '../../store/sqlite.ts';
import { counted } from '../../report/words/numbers.ts';
import { dateFacts, type DateFacts } from './dates.ts';
import { multipleIn, separatorsOf, withoutMultiple, type Separators } from './multiples.ts';
import type { Export } from './open-export.ts';
import type { MainElement, RecordType } from './raw-table.ts';
import { meaningOf, type Meaning, type Noun } from './words.ts';

/** The records of an export, or the elements of a list inside them. */
export interface Table {
  readonly db: Database;
  readonly from: Export;
  /** Its name in `sources`. */
  source: string;
  /** Path of the list; undefined for the records themselves. */
  readonly list: string | undefined;
  /** The table of the records that have the list. */
  readonly parent: Table | undefined;
  readonly columns: Column[];
  readonly rows: number;
  /** Whether all records were read. */
  readonly whole: boolean;
  /** What its records are called: by the name of the file or list, later by what they turned out to be. */
  nouns: readonly Noun[];
  /** That it has an amount and a stage, although it becomes no deals. */
  unusedDeal?: string;
  /** Only rows with one of these values are its records: the others have their properties, or are of other types. */
  only?: RecordType;
  /** What the user has decided: what its records are, and how the file is read. */
  readonly settled: Set<'kind' | 'reading'>;
  /** Its records are values of those around them, told apart by a name: where that is, and how many there are. */
  attributes: { readonly by: string; readonly names: number } | undefined;
  /** `false` means no value, so that a flag needs it as its default. */
  readonly falseIsNone: boolean;
  /** Its name in SQL. */
  readonly sql: string;
  /** Its records are groups of columns of a row: the headers of each. */
  readonly groups?: readonly (readonly string[])[];
  /** Of exports of one structure: the table of each, which has only its own records; undefined if it lacks the list. */
  members?: readonly (Table | undefined)[];
}

/** A column of a table, or the path of a value in JSON. */
export interface Column {
  readonly table: Table;
  /** Its header or path. Files without a header get names by what their columns are. */
  name: string;
  /** Its name in SQL. */
  readonly sql: string;
  /** In JSON, the list inside the record that the value stands in: the sample has its first element. */
  readonly list: string | undefined;
  /** Its path without the objects that are only around its value. */
  readonly called?: string;
  /** First and last name, of a column that stands for both. */
  readonly pair?: readonly [Column, Column];
  meaning: Meaning;
  /** It says something about the value beside it: `{ value, timestamp, source }`. */
  readonly isWrapper: boolean;
  /** In a list of names and values, so that it is of another name in each record. */
  readonly isInPairs: boolean;
  /** Its name in such a list, or the property that it is. */
  readonly label?: string | undefined;
  /** The value of a property, which another row has, or the first of several columns that has one. */
  readonly origin?: ValueSpec | undefined;
  /** It has the name of the file or sheet that the record is in. */
  readonly isName?: boolean;
  /** The role that its header has in a known CRM, or `none`, by the kind of its records. */
  known?: ReadonlyMap<string, string>;
  /** A column of another table with the same few names, under another header: of those who work with the records. */
  team?: Column;
  readonly filled: number;
  readonly distinct: number;
  readonly length: number;
  /** Other values are records of which this list has more than one element. */
  readonly several: number;
  readonly main?: MainElement | undefined;
  readonly values: readonly string[];
  readonly date: DateFacts | undefined;
  readonly separators: Separators | undefined;
  /** What takes the address or number out of the text around it, `ada@x.example (Work)`, where some values have any. */
  readonly extract: string | undefined;
  /** Shares of the values, from 0 to 1. */
  readonly is: Readonly<Record<Shape, number>>;
}

/** What a value can look like. */
const SHAPES = {
  email: /^<?[^\s@,;<>|]+@[^\s@,;<>|]+\.[^\s@<>]+>?(?: ?[;,:|].*)?$/,
  /** With 6 to 16 digits. */
  phone: /^(?=(?:\D*\d){6,16}\D*$)(?:\+|00)?[\d\s().\-/\u00a0]{6,22}(?:\s*(?:x|ext\.?)\s*\d{1,6})?$/i,
  international: /^\(?(?:\+|00)[\d\s().\-/\u00a0]{7,22}(?:\s*(?:x|ext\.?)\s*\d{1,6})?$/i,
  grouped: /^\(?\+?\d+[)\s./-]+\d/,
  /** Letters beside it must be a currency. */
  number:
    /^[-+(]?\s*(?:\p{L}{0,4}[\p{Sc}\\]?\.?)\s*-?\d[\d.,'\u00a0\u202f ]*(?:(?<=[.,])[-–—]{1,2})?\s*(?:\p{L}{0,4}\p{Sc}?\.?)\)?$/u,
  decimal: /[.,]\d{1,2}\D*$|[.,]\d{4,}$/,
  whole: /^-?\d+$/,
  digits: /^\d{1,7}$/,
  percent: /^\d{1,3}(?:[.,]\d+)?\s?%$/,
  hundred: /^(?:100|\d{1,2})(?:[.,]\d+)?\s?%?$/,
  url: /^(?:https?:\/\/|www\.)\S+$|^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|co|example|de|eu|fr|it|es|ru|pl|nl|se|br)(?:\/\S*)?$/i,
  /** A MIME type, or the name or address of a document, a picture or a recording. */
  file: /^(?:image|video|audio|text|application)\/[\w.+-]+$|^[^@]*\.(?:jpe?g|png|gif|webp|svg|heic|pdf|docx?|xlsx?|pptx?|csv|txt|zip|eml|mp[34]|m4a|wav|mov)(?:\?\S*)?$/i,
  uuid: /^\{?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\}?$/i,
  /** `2-Develop` is a step; `customers/NtY1lLNKMKqrFtwJ` is the path of a record. */
  code: /^(?!\d{1,2}[-.)]\p{L}{3})(?=.*\d)(?=.*[a-z])[\w.:@-]{2,60}$|^[\w-]{15,60}$|^(?:[\w().-]+\/)+[\w-]{8,60}$/iu,
  hash: /^[\da-f]{32,64}$/i,
  currency: /^(?:[A-Z]{3}|[a-z]{3}|\p{Sc}|[A-Z]{1,2}\$|zł|Kč|Ft|kr\.?)$/u,
  flag: /^(?:0|1|true|false|yes|no|y|n|t|f|ja|nein|oui|non|si|sí|sim|não|да|нет|нет|tak|nie|nee|nej|nei|igen|nem|ano|ne)$/i,
  html: /<(?:p|br|div|b|ul|strong|span|body)\b[^>]*>/i,
  words: /\p{L}{2}|^\p{L}\.?$|[\p{Script=Han}\p{Script=Hangul}]/u,
  /** The first and last name of a person, or one of them. */
  person:
    /^\p{Lu}[\p{L}'’.-]*,?(?: (?:\p{Lu}|d[aeiou]s?\b|v[ao]n|ten|ter|el|le|la)[\p{L}'’.-]*){1,4}$|^[\p{Script=Han}\p{Script=Hangul}]{2,4}$|^[\p{Script=Arabic}\p{Script=Hebrew}]{2,}(?: [\p{Script=Arabic}\p{Script=Hebrew}]{2,}){1,3}$|^[\p{Script=Katakana}\p{Script=Han}]{1,4}[ 　][\p{Script=Katakana}\p{Script=Han}]{1,4}$/u,
  oneName: /^\p{Lu}[\p{L}'’-]+(?:[ -]\p{Lu}[\p{L}'’-]+)?$|^[\p{Script=Han}\p{Script=Hangul}]{1,3}$/u,
  /** Several words, as in a sentence, perhaps behind its date, or fewer that end like one and not like the name of a firm. */
  prose:
    /^(?:\d[\d./: -]*[-–:] )?(?=.{25,})\S+(?:\s+\p{L}\S*){4,}|^(?:\S+\s+){2,}[\p{Ll}-]{4,}[.!?…]$|[\p{Script=Han}\p{Script=Katakana}\p{Script=Hiragana}]{9,}|\n/su,
  spaced: /\S\s+\S|[\p{Script=Han}\p{Script=Hangul}]{4,}/u,
  /** Truncated by a spreadsheet: `3.93E+11`. */
  damaged: /^[+-]?\d(?:[.,]\d+)?E[+-]\d\d$/,
} as const;
type Shape = keyof typeof SHAPES | 'money';

/** In a text with a label or a name: `Ada Bell <ada@x.example>`, `+44 20 7946 0000 (Work); +44 7700 900000 (Mobile)`. */
const ADDRESS = '[^\\s<>()",;:|]+@[^\\s<>()",;:|]+';
/** Behind eight digits, a mark before a zero or a plus begins another one: `01603 496032 / 07700 900158`. */
const NUMBER = '[+(]?\\d(?:[ ().\\-/]{0,3}\\d){6,7}(?:[ ().]{0,3}\\d|-[1-9]){0,7}';
/** How no amount and no date begins; the zeros in `327 000 kr` and `D2024-0001` follow other digits. */
const TELEPHONE = /(?:\+|(?<!\d[ \u00a0\u202f.,'’/-])\b0\d|\(0)\d|\(\d{3}\)|\b\d{3}-\d{3}-/;
const SEVERAL_NUMBERS = /^(?:[+(]?(?:\d[ ().-]*){9,15}(?:[,;/|\n] *|(?<=-) *(?=[+0(])|$)){2,}$/;
/** What may be around addresses and numbers: names and labels of a few words. */
const ABOUT_ADDRESS = /^[\p{L}\s;,|"'<>()[\]{}:._-]*$/u;
const ABOUT_NUMBER = /^[\p{L}\s;,|/():."'[\]{}_]*$/u;
const MAX_LABELLED = 160;
const MIN_LABELLED = 0.2;

/** The first values decide what a column looks like; the other figures are of the whole sample. */
const FIRST = 2000;

/** `dayFirst`: how dates are read that do not show it. */
export function columnOf(
  table: Table,
  own: Pick<Column, 'name' | 'sql'> &
    Partial<Pick<Column, 'list' | 'several' | 'main' | 'isWrapper' | 'isInPairs' | 'called' | 'label' | 'origin'>>,
  header: string,
  dayFirst = true,
): Column {
  const { sql } = own;
  const facts = table.db.get<{ filled: number; distinct: number; length: number | null }>(
    `select count(${sql}) filled, count(distinct ${sql}) "distinct", avg(length(${sql})) length from ${table.sql}`,
  )!;
  const values = firstValues(table, sql);
  const isAround = (pattern: string, about: RegExp, most: number) => (value: string) => {
    if (value.length >= MAX_LABELLED) return false;
    const rest = value.replace(new RegExp(pattern, 'g'), '');
    const isAbout = rest !== value && about.test(rest) && /[\p{L}<>]/u.test(rest);
    return isAbout && rest.split(/[^\p{L}]+/u).filter(Boolean).length <= most;
  };
  const [inAddress, inText] = [isAround(ADDRESS, ABOUT_ADDRESS, 12), isAround(NUMBER, ABOUT_NUMBER, 6)];
  const meaning = meaningOf(header);
  const shareOf = (test: (value: string) => boolean): number => values.filter(test).length / Math.max(1, values.length);
  const isOfPhones =
    meaning.concepts.has('phone') ||
    meaning.concepts.has('mobile') ||
    shareOf((value) => SHAPES.phone.test(value) && /^[+(0]/.test(value)) > MOST;
  const areSeveral = (value: string): boolean => isOfPhones && SEVERAL_NUMBERS.test(value);
  const inNumber = (value: string): boolean => (TELEPHONE.test(value) && inText(value)) || areSeveral(value);
  const is = Object.fromEntries(
    Object.entries(SHAPES).map(([shape, pattern]) => [shape, shareOf((value) => pattern.test(value))]),
  ) as Record<Shape, number>;
  const hasNumbers = shareOf(inNumber) > MIN_LABELLED || shareOf(areSeveral) > 0;
  const extract = shareOf(inAddress) > MIN_LABELLED ? ADDRESS : hasNumbers ? NUMBER : undefined;
  if (extract === ADDRESS) is.email = shareOf((value) => SHAPES.email.test(value) || inAddress(value));
  if (extract === NUMBER) {
    is.phone = shareOf((value) => SHAPES.phone.test(value) || inNumber(value));
    is.international = shareOf((value) => /(?:\+|00)\d/.test(value));
  }
  const date = dateFacts(meaning, values, dayFirst);
  // `Won` is a currency, too.
  const isCalledSo = meaning.concepts.has('currency');
  const isMoney = (value: string): boolean =>
    isCurrency(value.toUpperCase()) ||
    currencyMarks(value)[0] === value ||
    (isCalledSo && currencyNamed(value) !== undefined);
  const currency = is.currency > 0.8 || isCalledSo ? shareOf(isMoney) : 0;
  const number = shareOf(isAmount);
  const money =
    number > 0
      ? shareOf((value) => isAmount(value) && (currencyMarks(value).length > 0 || multipleIn(value) !== undefined))
      : 0;
  return {
    ...{ list: undefined, several: 0, isWrapper: false, isInPairs: false, ...own },
    table,
    meaning,
    filled: facts.filled,
    distinct: facts.distinct,
    length: facts.length ?? 0,
    values,
    extract,
    date,
    separators: date === undefined && number > MOST ? separatorsOf(values.filter(isAmount)) : undefined,
    is: { ...is, currency, number, money },
  };
}

/** Of the values of a column of numbers: beside them are texts such as `to be agreed`. */
const MOST = 0.5;

/** `POT7` and `OPP00012` are no amounts of a currency. */
function isAmount(value: string): boolean {
  const plain = withoutMultiple(value);
  const letters = plain.match(/\p{L}{0,3}\p{Sc}|\p{L}+/gu) ?? [];
  return SHAPES.number.test(plain) && !/^0\d/.test(plain) && letters.every((each) => currencyMarks(each).length > 0);
}

export function firstValues({ db, sql: table }: Pick<Table, 'db' | 'sql'>, sql: string): string[] {
  const query = `select ${sql} value from ${table} where ${sql} is not null order by rowid limit ${FIRST}`;
  return db.all<{ value: string }>(query).map(({ value }) => value);
}

/** The values of two columns in the records that have both. */
export function bothOf(one: Column, other: Column): [string, string][] {
  return cellsOf([one, other]).filter((pair): pair is [string, string] => !pair.includes(null));
}

/** The values of some columns, row by row. */
export function cellsOf(columns: readonly Column[]): (string | null)[][] {
  const [first] = columns;
  if (!first) return [];
  const names = columns.map(({ sql }, at) => `${sql} v${at}`).join(', ');
  const rows = first.table.db.all<Record<string, string | null>>(
    `select ${names} from ${first.table.sql} order by rowid limit ${FIRST}`,
  );
  return rows.map((row) => columns.map((_, at) => row[`v${at}`] ?? null));
}

/** A value inside a list is that of its main element where a flag tells which it is, or of the first one. */
export function valueIn(
  { name, list, main, label, origin = name }: Column,
  ...apply: readonly TransformSpec[]
): ValueSpec {
  const several = typeof origin === 'object' && isAlternatives(origin.from) ? origin.from : undefined;
  if (list === undefined) return apply.length > 0 ? { from: several ?? origin, apply } : origin;
  const first = { from: name, apply: [{ at: 0 }] };
  if (!main || main.later === 0 || main.most > MAX_ELEMENTS) return { from: name, apply: [{ at: 0 }, ...apply] };
  const { flag, value, most, places = Array.from({ length: most }, (_, at) => at) } = main;
  const isNamed = label !== undefined;
  const path = isNamed ? name.slice(list.length, -` (${label})`.length) : name.slice(list.length);
  const values = places.map((place): ValueSpec => {
    const at = `${list}[${place}]`;
    const template = `{${at}.${flag}} {${at}${path}}`;
    return { template, apply: [{ extract: `^${literal(value)} ([\\s\\S]+)$` }] };
  });
  return { from: isNamed ? values : [...values, first], ...(apply.length > 0 && { apply }) };
}

/** The address or number without the text around it, and what is done with it. */
export function addressIn(column: Column, ...apply: readonly TransformSpec[]): ValueSpec {
  const { extract } = column;
  return valueIn(column, ...(extract === undefined ? [] : [{ extract }]), ...apply);
}

/** The values, or the addresses and numbers in them. */
export function plainValues({ values, extract }: Column): readonly string[] {
  if (extract === undefined) return values;
  return values.flatMap((value) => new RegExp(extract).exec(value)?.[0] ?? []);
}

/** Of longer lists, the main element is not looked for. */
export const MAX_ELEMENTS = 12;

/** A text as a regular expression. */
export function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** That records have several elements, and which one is used. */
export function severalText({ several, main, list }: Column): string | undefined {
  if (several === 0) return undefined;
  const isFirst = !main || main.most > MAX_ELEMENTS;
  return `${haveSeveral(several)}; the ${isFirst ? 'first one' : `one with \`${list}.${main.flag}\` (${main.value})`} is used`;
}

export function haveSeveral(count: number): string {
  return `${counted(count, 'record')} ${count === 1 ? 'has' : 'have'} several`;
}

/** How many rows a select without its `select` has: `from t0 where …`. */
export function countOf({ db }: Pick<Table, 'db'>, from: string): number {
  return db.get<{ n: number }>(`select count(*) n ${from}`)!.n;
}

/** Records with none of these. */
export function countWithout(table: Table, columns: readonly Column[]): number {
  return countOf(table, `from ${table.sql} where ${columns.map(({ sql }) => `${sql} is null`).join(' and ')}`);
}

/** The path of the object that a value in JSON is in, with its point: `buyer.` of `buyer.id`. */
export function objectOf({ name }: Column): string {
  return name.slice(0, name.lastIndexOf('.') + 1);
}

/** `attributes.type`, `attributes.url`: an object in which an API says of what kind a record is, and where it has it. */
export const isOfApi = once((column: Column): boolean => {
  const above = objectOf(column);
  const isPath = ({ values }: Column): boolean => values.every((value) => /^\/[\w./-]*\w$/.test(value));
  const all = column.table.columns.filter((each) => each.filled > 0 && objectOf(each) === above);
  return above !== '' && all.some(isPath) && all.every((each) => each.distinct === 1 || isPath(each));
});

/** A condition in SQL. */
export function isOneOf({ sql }: Column, values: readonly string[]): string {
  return `${sql} in (${values.map((value) => `'${value.replaceAll("'", "''")}'`).join(', ')})`;
}

/** What is found out about a column or a table once, since many rules ask for it. */
export function once<K extends object, V, More extends readonly unknown[]>(find: (key: K, ...more: More) => V) {
  const found = new WeakMap<K, V>();
  return (key: K, ...more: More): V => {
    if (!found.has(key)) found.set(key, find(key, ...more));
    return found.get(key)!;
  };
}

/** The most frequent values with their counts. */
export const countsOf = once((column: Column): ReadonlyMap<string, number> => countsWhere(column, 'true'));

/** The same of some rows, by a condition in SQL. */
export function countsWhere({ table, sql }: Column, where: string): Map<string, number> {
  const rows = table.db.all<{ value: string; n: number }>(
    `select ${sql} value, count(*) n from ${table.sql} where ${sql} is not null and ${where} group by 1 order by 2 desc, min(rowid) limit 200`,
  );
  return new Map(rows.map(({ value, n }) => [value, n]));
}

/** How often each value occurs, in the order of their first occurrence. */
export function countEach<T>(values: Iterable<T | undefined>): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Whether enough headers have words that are known: in another language, content is all there is. */
export function isNamed({ columns }: Table): boolean {
  return columns.filter(({ meaning }) => meaning.concepts.size > 0).length > columns.length / 3;
}

/** Whether the elements of a list are in the records of a table, or in the elements of one. */
export function isIn({ list, parent }: Table, table: Table): boolean {
  return parent === (table.parent ?? table) && (table.list === undefined || list!.startsWith(`${table.list}.`));
}

/** The table of what has a list: the innermost element, or the record. */
export function holderOf(table: Table, tables: readonly Table[]): Table | undefined {
  const holders = tables.filter((each) => isIn(table, each));
  return holders.sort((a, b) => (b.list ?? '').length - (a.list ?? '').length)[0];
}

/** The columns of the record itself: no lists in it, and nothing that is said about a value. */
export function plainColumns({ columns }: Table): Column[] {
  return columns.filter(({ list, isWrapper }) => list === undefined && !isWrapper);
}

/** The path of a column from the whole record. */
export function pathOf({ name, table: { list } }: Pick<Column, 'name' | 'table'>): string {
  return list === undefined ? name : `${list}.${name}`;
}

export function isUnique({ filled, distinct }: Column): boolean {
  return filled > 0 && distinct === filled;
}

export function isComplete({ filled, table }: Column): boolean {
  return filled > 0 && filled === table.rows;
}

/** As an id: unique, and in every record. */
export function isKey(column: Column): boolean {
  return isUnique(column) && isComplete(column);
}

/** Whether two columns of a table have the names and the ids of the same few, each in several records. */
export function isNameOf(one: Column, other: Column): boolean {
  const both = `select distinct ${one.sql}, ${other.sql} from ${one.table.sql} where ${one.sql} is not null`;
  const pairs = countOf(one.table, `from (${both})`);
  return pairs === one.distinct && pairs === other.distinct && pairs < one.filled / 2;
}

export function fillOf({ filled, table }: Column): number {
  return table.rows === 0 ? 0 : filled / table.rows;
}

/** Few values that repeat: a status, a type, a member of the staff. */
export function isFew({ distinct, filled }: Column): boolean {
  return distinct <= 60 && (distinct <= filled / 2 || (distinct <= 3 && filled > distinct));
}
