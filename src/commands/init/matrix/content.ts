/** How probable a role is by the values of a column alone: from 0, which is a veto, to 1. The same for every language. */
import {
  bothOf,
  cellsOf,
  countOf,
  countsOf,
  fillOf,
  isComplete,
  isFew,
  isUnique,
  objectOf,
  once,
  plainColumns,
  type Column,
  type Table,
} from '../columns.ts';
import { currencyMarksInName } from '../../../kinds/currencies.ts';
import { endings } from './ends.ts';
import { datesIn, isUnix, unixFormat, YEAR, type DateFacts } from '../dates.ts';
import { multipleInName } from '../multiples.ts';
import { derivedOf } from '../relations/derived.ts';
import { fold, isJob, meaningOf, type Concept } from '../words.ts';

/** An id by its form alone: a UUID, a code, a short number. For columns of which nothing else shows it. */
export const isId = ({ is }: Column): boolean => is.uuid > 0.8 || is.code > 0.8 || is.digits > 0.9;
const isText = ({ is, date, separators, values }: Column): boolean =>
  is.words > 0.8 && !date && !separators && is.email < 0.3 && is.url < 0.3 && is.uuid < 0.2 && !isOfAccounts(values);
const isRare = ({ distinct, filled }: Column): number => (filled === 0 ? 0 : distinct / filled);

/** Those of people: with one address in many records, it is that of somebody else, such as their owner. */
export function addresses({ is, distinct, filled }: Column): number {
  if (is.email <= 0.5) return 0;
  return 0.85 * is.email * (filled > 6 && distinct <= filled / 3 ? 0.1 : 1);
}

/** Addresses of one domain each are those of other firms, and of no staff. */
export function isOfFirms({ values, distinct }: Column): boolean {
  return distinct > 2 && new Set(values.map((value) => value.toLowerCase().replace(/^.*@/, ''))).size > distinct / 2;
}

export function personal(column: Column): number {
  const { is } = column;
  // `mglf8dr4fb` is no name.
  if (!isText(column) || is.flag > 0.5 || is.hash > 0.5 || is.code > 0.5) return 0;
  if (is.person < 0.6 && isLabel(column)) return 0;
  // Customers may have several rows, but the staff has few names.
  const fewer = isFew(column) ? Math.max(0.4, isRare(column)) : 1;
  return is.person > 0.6 ? 0.5 * is.person * fewer : is.prose > 0.3 ? 0 : 0.12;
}

/** `List Name`: one of two or three lists, groups or teams in many records. */
function isLabel(column: Column): boolean {
  return column.filled > 12 && column.distinct <= 3 && !isCalledPart(column);
}

function addressBeside({ table }: Column): Column | undefined {
  return table.columns.filter((each) => addresses(each) > 0.3).sort((a, b) => b.filled - a.filled)[0];
}

/** The share of records whose address has a word of this name before its `@`: `theo.perrin@…` is of Théo Perrin, and of no firm. */
export const ofAddress = once((column: Column): number => {
  const email = addressBeside(column);
  const pairs = email && isText(column) ? bothOf(column, email) : [];
  return pairs.length < 3 ? 0 : pairs.filter(([name, address]) => isIn(name, address)).length / pairs.length;
});

/** The share of the addresses of several records that have several values here; undefined where hardly any address is of several. */
export const differingByAddress = once((column: Column): number | undefined => {
  const { table, sql } = column;
  const email = addressBeside(column);
  if (!email || isUnique(email) || email === column) return undefined;
  const all = `from (select count(distinct ${sql}) n from ${table.sql} where ${sql} is not null and ${email.sql} is not null group by ${email.sql} having count(*) > 1)`;
  const repeated = countOf(table, all);
  return repeated > 2 ? countOf(table, `${all} where n > 1`) / repeated : undefined;
});

/** Whether an address has a word of a name before its `@`. */
function isIn(name: string, address: string): boolean {
  const local = fold(address.replace(/@.*$/s, ''));
  return fold(name)
    .split(' ')
    .some((word) => word.length > 2 && local.includes(word));
}

/** `Extension - Arthur Fairfax` beside `arthur.fairfax@…`: the pattern of the part that is the person, and of how many. */
export function personIn(name: Column, email: Column): { pattern: string; count: number } | undefined {
  const pairs = bothOf(name, email);
  for (const mark of [' - ', ' – ', ' | ', ' / ', ': ']) {
    const own = pairs.filter(([text]) => text.includes(mark));
    if (own.length < Math.max(3, pairs.length * 0.8)) continue;
    const escaped = mark.replace('|', '\\|');
    const [first, last] = [`^(.+?)${escaped}`, `.*${escaped}(.+)$`].map((pattern) => {
      const isTheirs = ([text, address]: [string, string]): boolean =>
        isIn(new RegExp(pattern).exec(text)?.[1] ?? '', address);
      return { pattern, count: own.filter(isTheirs).length };
    });
    const [more, less] = first!.count > last!.count ? [first!, last!] : [last!, first!];
    if (more.count > own.length * 0.6 && less.count < own.length * 0.3) return more;
  }
  return undefined;
}

export function partOfName(column: Column): number {
  const { is, length } = column;
  if (!isText(column) || is.flag > 0.5 || length > 30 || isLabel(column)) return 0;
  // `García López` is a last name where the header says so.
  if (is.spaced > 0.6 && !isCalledPart(column)) return 0;
  return is.oneName > 0.7 ? 0.3 * Math.min(1, isRare(column) + 0.4) : 0.1;
}

/** `Apellidos`, `Last Name`, `name.last`: not `Last Contact`. */
function isCalledPart({ name, meaning: { concepts } }: Column): boolean {
  const isPart = concepts.has('first') || concepts.has('last');
  const isAlone = meaningOf(name.replace(/^.*\./s, '')).words.length === 1;
  return concepts.has('surname') || (isPart && (concepts.has('name') || isAlone));
}

export function member(column: Column): number {
  const { is, date, distinct, filled, separators } = column;
  if (date || is.flag > 0.9 || is.prose > 0.2 || is.url > 0.3 || is.money > 0.3 || (separators && is.decimal > 0.2))
    return 0;
  const repeats = distinct <= 2 ? filled > distinct : distinct <= filled * 0.8;
  const few = repeats ? 1 - 0.4 * isRare(column) : 0.5;
  return few * (is.person > 0.6 ? 0.35 : is.email > 0.6 ? 0.3 : is.words > 0.8 ? 0.12 : 0.1);
}

/** Never later than any other date of its record, complete, and in the past. */
export function createdAt(column: Column): number {
  const { date } = column;
  if (!date) return 0;
  const complete = fillOf(column) > 0.97 ? 1 : fillOf(column) > 0.7 ? 0.5 : 0.2;
  const own = datesIn(column.values, date);
  if (own.filter((each) => each > Date.now()).length > own.length * 0.05) return 0.03;
  if (isBirth(own, [Date.now() - 10 * YEAR])) return 0.03;
  const others = column.table.columns.filter(
    (each) => each !== column && each.date && !each.isWrapper && fillOf(each) > 0.2,
  );
  let isEarlier = false;
  for (const other of others.slice(0, 12)) {
    const pairs = bothOf(column, other);
    const datesOf = (at: 0 | 1, facts: DateFacts): number[] =>
      datesIn(
        pairs.map((pair) => pair[at]),
        facts,
      );
    const [mine, theirs] = [datesOf(0, date), datesOf(1, other.date!)];
    if (areSame(mine, theirs) || isBirth(theirs, mine)) continue;
    const day = date.hasTime && other.date!.hasTime ? 0 : 86_400_000;
    const later = mine.filter((each, at) => each > theirs[at]! + day).length;
    const isFuller = fillOf(other) >= fillOf(column) / 2;
    if (later > pairs.length * 0.95 && isFuller) return 0.05 * complete;
    if (later > pairs.length * 0.05 && isFuller) return 0.15 * complete;
    if (isBirth(mine, theirs)) return 0.03;
    if (mine.filter((each, at) => each < theirs[at]!).length > pairs.length * 0.2) isEarlier = true;
  }
  // Of the same times, as they are shown and as they are stored.
  const isStored = isUnix(date) || date.formats.includes('iso');
  return (0.3 + (date.hasTime ? 0.1 : 0) + (isStored ? 0.05 : 0) + (isEarlier ? 0.15 : 0)) * complete;
}

/** The same times, as they are shown in another zone or without their seconds. */
function areSame(times: readonly number[], others: readonly number[]): boolean {
  const apart = times.map((each, at) => Math.round((each - others[at]!) / 900_000));
  return apart.every((each) => Math.abs(each) <= 14 * 4) && new Set(apart).size <= 2;
}

/** Days over many years, and all before the others, which go on for years after them: those of births. */
function isBirth(days: readonly number[], others: readonly number[]): boolean {
  const [first, last] = [Math.min(...days), Math.max(...days)];
  const isLater = Math.min(...others) > last && Math.max(...others) > last + 5 * YEAR;
  return days.length > 6 && last > first + 5 * YEAR && isLater;
}

/** Amounts have decimals or a currency; a product with the probability, a gross amount and percentages are something else. */
export function sumOfMoney(column: Column): number {
  const { is, separators, distinct, filled, length } = column;
  if (!separators || is.percent > 0.5 || is.flag > 0.95 || is.international > 0.3 || is.email > 0) return 0;
  const isKey = isUnique(column) && isComplete(column) && is.whole > 0.95 && is.decimal < 0.05 && isRising(column);
  const isMultiple = column.meaning.concepts.has('amount') && multipleInName(column.name) !== undefined;
  if (isKey || (is.hundred > 0.95 && !isMultiple)) return 0.06;
  if (unixFormat(column.values) !== undefined || isOfFile(column) || isPlace(column)) return 0;
  // As numbers of telephones and of records do, and no sums.
  if (column.values.some((value) => /^0\d/.test(value))) return 0;
  if (isFew(column) && isQuestion(column)) return 0;
  const relation = derivedOf(column.table).get(column);
  const less = (relation === 'weighted' ? 0.15 : relation ? 0.6 : 1) * (is.number > 0.8 ? 1 : is.number);
  if (is.money > 0.5 || currencyMarksInName(column.name).length > 0) return 0.7 * less;
  if (is.decimal > 0.3) return 0.55 * less;
  if (distinct <= Math.min(4, filled / 4) || (length < 3 && !isMultiple)) return 0.1 * less;
  // Sums are round, codes are not.
  const round = column.values.filter((value) => value.endsWith('0')).length;
  return (round > column.values.length * 0.8 ? 0.4 : 0.3) * less;
}

/** Whether most of its amounts are none: planned and final ones stand side by side. */
export const isMostlyZero = once(
  ({ values }: Column): boolean =>
    values.filter((value) => /^\D*0+(?:[.,]0+)?\D*$/.test(value)).length > values.length / 2,
);

/** The size of a picture, the length of a recording: a number in an object that describes a file. */
function isOfFile({ name, table }: Column): boolean {
  const above = name.split('.').flatMap((_, at, parts) => (at > 0 ? [`${parts.slice(0, at).join('.')}.`] : []));
  return table.columns.some((each) => each.is.file > 0.8 && above.includes(objectOf(each)));
}

/** Of a form: what somebody may spend is one of a few answers. */
function isQuestion({ name }: Column): boolean {
  return /[?？؟]\s*$/.test(name);
}

/** Degrees: more decimals than any amount has. */
function isPlace({ values }: Column): boolean {
  const far = values.filter((value) => /^-?\d{1,3}\.\d{3,}[1-9]\d*$/.test(value) && Math.abs(Number(value)) <= 180);
  return far.length > values.length * 0.8;
}

/** As numbers of records rise: each by little, or all by the same. Sums that happen to be sorted rise by more. */
export function isRising({ values }: Column): boolean {
  const numbers = values.map(Number);
  const steps = numbers.slice(1).map((each, at) => each - numbers[at]!);
  if (steps.length < 3 || !steps.every((step) => step > 0)) return false;
  return numbers.at(-1)! - numbers[0]! < numbers.length * MAX_STEP || new Set(steps).size === 1;
}

const MAX_STEP = 50;

/** Whether it counts the rows from 0 or 1, in their order. */
export function isRowNumber({ values }: Column): boolean {
  const first = Number(values[0]);
  return values.length > 3 && [0, 1].includes(first) && values.every((value, at) => Number(value) === first + at);
}

export function stages(column: Column): number {
  const { is, date, separators, length } = column;
  if (date || is.email > 0.2 || is.flag > 0.9 || is.money > 0.3 || is.currency > 0.8 || length > 60 || is.prose > 0.3)
    return 0;
  if (separators && (is.decimal > 0.2 || column.distinct > 40)) return 0;
  if (!isFew(column) && column.filled > 6) return column.distinct <= column.filled * 0.7 ? 0.08 : 0;
  if (is.words <= 0.8) return column.meaning.concepts.has('id') ? 0.17 : 0.12;
  return (0.22 + (endings(column).ends > 0 ? 0.2 : 0)) * (is.person > 0.8 ? 0.3 : 1);
}

export function titles(column: Column): number {
  const { is, length } = column;
  if (!isText(column) || is.flag > 0.5 || length < 3 || length > 200 || isMeasure(column)) return 0;
  const less = (is.person > 0.7 ? 0.3 : 1) * (is.prose > 0.6 ? 0.6 : 1) * (is.html > 0.2 ? 0.3 : 1);
  return (is.spaced > 0.5 ? 0.35 : 0.15) * (0.3 + 0.7 * isRare(column)) * less;
}

/** Numbers with a unit: `32평`, `120 m2`. */
function isMeasure({ values }: Column): boolean {
  return values.every((value) => /^\d+(?:[.,]\d+)? ?\p{L}{1,3}[\d²³]?$/u.test(value));
}

/** Jobs, or titles of persons, by their values: they are short, and many have the word of one. */
export function isJobs(column: Column): boolean {
  const values = [...countsOf(column).keys()];
  return column.length < 40 && values.filter(isJob).length >= values.length * 0.3;
}

/** Days that come one after the other in each record, as far as it came: `Enquiry`, `Quote`, `Ordered`, `Paid`. */
export function milestones(table: Table): Column[] {
  const dates = plainColumns(table).filter(({ date }) => date);
  const isAfter = (column: Column, next: Column): boolean => {
    const rows = cellsOf([column, next]).filter(([, cell]) => cell !== null);
    const days = ([column, next] as const).map((each, at) =>
      datesIn(
        rows.map((row) => row[at] ?? ''),
        each.date!,
      ),
    );
    return rows.filter((_, at) => days[0]![at]! <= days[1]![at]!).length > rows.length * 0.9;
  };
  const runs = dates.map((_, from) => {
    const rest = dates.slice(from);
    const end = rest.findIndex(
      (each, at) => at > 0 && !(each.filled < rest[at - 1]!.filled && isAfter(rest[at - 1]!, each)),
    );
    return rest.slice(0, end < 0 ? rest.length : end);
  });
  const longest = runs.sort((a, b) => b.length - a.length)[0] ?? [];
  return longest.length >= 3 ? longest : [];
}

export function texts(column: Column): number {
  const { is, length } = column;
  if (isIndex(column)) return 0;
  if (is.words < 0.6 || column.date || is.email > 0.5 || is.url > 0.5 || is.code > 0.8) return 0;
  const prose = Math.max(is.prose, is.html > 0.3 ? 0.9 : 0);
  // Who has many calls writes the same sentence again.
  const least = prose > 0.6 ? 0.6 : 0.4;
  const score = prose > 0.2 ? 0.25 + 0.5 * prose : length > 12 && is.spaced > 0.5 ? 0.2 : 0.08;
  return score * (least + (1 - least) * isRare(column));
}

/** What is searched: it repeats the name and the address of its record. */
const isIndex = once((column: Column): boolean => {
  if (column.length < 20) return false;
  const isRepeated = (other: Column): boolean => {
    const pairs = other !== column && other.is.email > 0.8 ? bothOf(column, other) : [];
    return (
      pairs.length > 3 && pairs.filter(([text, own]) => fold(text).includes(fold(own))).length > pairs.length * 0.8
    );
  };
  return plainColumns(column.table).some(isRepeated);
});

/** Whether a column has texts that somebody has written: in several words, all of them if there are only a few. */
export function isWritten(column: Column): boolean {
  const { is, distinct, filled } = column;
  return distinct > 1 && texts(column) > 0 && is.spaced > (distinct > Math.min(3, filled / 2) ? 0.3 : 0.8);
}

/** What may stand for a text: the words that say what an activity was. */
export function standIns(table: Table): Column[] {
  const isOne = ({ is, meaning }: Column): boolean =>
    is.words > 0.8 && is.code < 0.5 && STAND_INS.some((concept) => meaning.concepts.has(concept));
  return table.list === undefined ? plainColumns(table).filter((each) => isOne(each) && fillOf(each) > 0.8) : [];
}

const STAND_INS = ['type', 'title', 'outcome', 'name'] as const;

/** Whether a column has notes about its records: several words, and not the same ones in all. */
export function isNotes(column: Column, kind: string): boolean {
  const { name, is, date, length, filled, distinct, list, meaning, known, values } = column;
  const { concepts } = meaning;
  // Two or three texts again and again are values of a list.
  const isList = distinct <= Math.max(3, filled / 6) && filled > 12;
  if (list !== undefined || date || known?.has(kind) || filled < 3 || distinct < 2 || isList || isIndex(column))
    return false;
  if (isDescription({ name }) || is.words < 0.8 || is.spaced < 0.5 || length < 10 || is.email > 0.3 || is.url > 0.3)
    return false;
  // `Client (short text)`, `Due Date Text`: how a program writes names and times.
  if (is.person > 0.7 || (length < 40 && values.every((value) => /\d:\d\d/.test(value)))) return false;
  if (concepts.has('text')) return !NO_NOTES.some((each) => concepts.has(each));
  return concepts.size === 0 && is.prose > 0.6 && distinct > Math.max(6, filled * 0.6);
}

const DESCRIPTION = /desc|beschreib|περιγραφ|omschrijv|beskriv|\bopis\b|описан|aciklama|وصف/u;

/** What a thing is, not what happened: `Description`, `SicDesc`. */
export function isDescription({ name }: Pick<Column, 'name'>): boolean {
  return DESCRIPTION.test(fold(name));
}

/** A header that has such a word names something else than the notes about a record. */
const NO_NOTES = 'title type status stage source reason author id company address'.split(' ') as Concept[];

/** `N2023/001`, `#17`. */
export function isNumbered({ values }: Column): boolean {
  return values.every((value) => /^\S*\d\S*$/.test(value));
}

/** An id of any form, also `N2023/001`: for keys, and columns compared with them. No address and no telephone number. */
export function isCode(column: Column): boolean {
  const { is } = column;
  return (isId(column) || isNumbered(column)) && is.email + is.url < 0.5 && is.international + is.grouped < 0.5;
}

/** The numbers of bank accounts. */
function isOfAccounts(values: readonly string[]): boolean {
  return values.every((value) => /^[A-Z]{2}\d{2}[A-Z\d]{10,30}$/.test(value.replaceAll(' ', '')));
}

/** `07492411`: hours, minutes and seconds without marks between them. */
function areTimes(column: Column): boolean {
  const isTime = (value: string): boolean => /^(?:[01]\d|2[0-3])[0-5]\d[0-5]\d(?:\d\d)?$/.test(value);
  return column.values.some((value) => value.startsWith('0')) && column.values.every(isTime) && !isRising(column);
}

export function keys(column: Column): number {
  const { is, date, filled, distinct, table, length } = column;
  const isOther =
    isOfAccounts(column.values) ||
    is.url > 0.5 ||
    is.money > 0.3 ||
    is.html > 0.1 ||
    is.international > 0.5 ||
    is.prose > 0.5 ||
    // Times of day.
    column.values.every((value) => /^\d\d?:\d\d(?::\d\d)?(?: ?[ap]m)?$/i.test(value)) ||
    areTimes(column);
  if (isOther || date || length > 130 || column.list !== undefined || filled < table.rows / 2) return 0;
  if (is.decimal > 0.1 && column.separators && !(column.meaning.concepts.has('id') && length > 8)) return 0;
  const damaged = is.damaged > 0;
  if ((distinct < filled * 0.97 || filled < table.rows * 0.9) && !damaged) return 0.04;
  const exact = isUnique(column) && isComplete(column) ? 1 : 0.6;
  if (is.email > 0.6) return 0.2 * exact;
  if (is.hash > 0.9 && is.uuid < 0.5) return 0.25 * exact;
  // `POT7` is a number for people: the key beside it, if there is one, is what other tables have.
  if (is.code > 0.8 && column.values.every((value) => /^[A-Z]{2,5}[-_]?\d{1,8}$/.test(value))) return 0.44 * exact;
  if (is.uuid > 0.9 || is.code > 0.8 || damaged) return 0.5 * exact;
  if (is.whole > 0.9) return 0.45 * exact;
  // `N2023/001`: numbers with anything beside them, but telephone numbers only where the header says that they are none.
  const { concepts } = column.meaning;
  const isNumber = is.email < 0.2 && (is.phone < 0.5 || concepts.has('number') || concepts.has('id'));
  if (isNumber && isNumbered(column)) return 0.44 * exact;
  return (is.words > 0.8 ? 0.12 : 0.25) * exact;
}
