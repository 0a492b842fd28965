/** How the dates of a column are written: formats as the `date` transform takes them. */
import { compileFormat, readIso, readSerial, type ReadDate } from '../../mapping/transforms/date-format.ts';
import type { Meaning } from './headers.ts';
import { DATES, LEVELS } from '../know/roles.ts';

export interface DateFacts {
  /** Best first: `iso`, `d/M/yyyy HH:mm`, `unix`. */
  readonly formats: readonly string[];
  /** Of the names of months; English if undefined. */
  readonly locale?: string | undefined;
  /** Whether any value has a time. */
  readonly hasTime: boolean;
  /** Some value has neither an offset nor says that it is UTC. */
  readonly isLocal: boolean;
  /** A value that means another date if day and month are swapped, and the format that reads it so; no value decides. */
  readonly ambiguous?: { readonly example: string; readonly other: string } | undefined;
  /** Share of the values that match none of the formats. */
  readonly unread: number;
}

/** Whether values write the day or the month first: how many show it. */
export interface DayOrder {
  readonly day: number;
  readonly month: number;
}

const NUMBERS = /^(\d{1,2})[/.-](\d{1,2})[/.-]\d{2,4}\b/;

export function dayOrderOf(values: readonly string[]): DayOrder {
  const pairs = values.flatMap((value) => {
    const [, first, second] = NUMBERS.exec(value) ?? [];
    return first === undefined ? [] : [[Number(first), Number(second)] as const];
  });
  const count = (test: (first: number, second: number) => boolean): number =>
    pairs.filter((pair) => test(...pair)).length;
  return {
    day: count((first, second) => first > 12 && second <= 12),
    month: count((first, second) => second > 12 && first <= 12),
  };
}

const TIME =
  /(?<gap>,? |T)(?<h>\d{1,2}):(?<m>\d\d)(?<s>:\d\d)?(?<u>[.,]\d{1,9})?(?<a> ?[AaPp]\.?[Mm]\.?)?(?<z> ?(?:Z|[+-]\d\d(?::?\d\d)?)| UTC)?$/;
const DAY = /^\D{0,12}\d{1,4}\D{1,20}\d{1,4}\D{0,3}$|^\D{0,3}\d{1,4}\D{1,3}\d{1,2}\D{1,3}\d{1,4}\D?$/;

/** By the name of a month without its dot: the locales that call it so, and the token. */
const MONTHS = new Map<string, Map<string, string>>();

function monthsNamed(text: string): ReadonlyMap<string, string> | undefined {
  if (MONTHS.size === 0)
    for (const locale of DATES.locales.split(' '))
      for (const [token, month] of [['MMMM', 'long'] as const, ['MMM', 'short'] as const]) {
        const format = new Intl.DateTimeFormat(locale, { month, day: 'numeric', timeZone: 'UTC' });
        for (let at = 0; at < 12; at += 1) {
          const part = format.formatToParts(new Date(Date.UTC(2024, at, 1))).find(({ type }) => type === 'month');
          const name = part!.value.toLowerCase().replace('.', '');
          MONTHS.set(name, (MONTHS.get(name) ?? new Map<string, string>()).set(locale, token));
        }
      }
  return /^\d/.test(text) ? undefined : MONTHS.get(text.toLowerCase());
}

/** The format of one value, and the locales that it may be in; undefined if it is no date. */
function formatOf(value: string, isDayFirst: boolean): { format: string; locales?: readonly string[] } | undefined {
  const time = TIME.exec(value)?.groups;
  const text = time ? value.slice(0, TIME.exec(value)!.index) : value;
  if (!DAY.test(text)) return undefined;
  const pieces = text.match(/\d+|\p{L}+|[^\d\p{L}]+/gu)!;
  const names = pieces.flatMap((piece) => monthsNamed(piece) ?? []);
  const numbers = pieces.filter((piece) => /^\d/.test(piece));
  if (numbers.length + names.length !== 3 || names.length > 1) return undefined;
  const isYearFirst = numbers[0]!.length === 4;
  const order = names.length > 0 ? (isYearFirst ? 'yd' : 'dy') : isYearFirst ? 'yMd' : isDayFirst ? 'dMy' : 'Mdy';
  let at = 0;
  const day = pieces.map((piece) => {
    const named = monthsNamed(piece);
    if (named) return [...named.values()][0]!;
    if (!/^\d/.test(piece)) return /[A-Za-z]/.test(piece) ? `'${piece}'` : piece;
    const part = order[at++]!;
    return part === 'y' ? (piece.length === 4 ? 'yyyy' : 'yy') : part;
  });
  const format = day.join('') + timeFormat(time);
  return { format, ...(names[0] && { locales: [...names[0].keys()] }) };
}

function timeFormat(time: Record<string, string> | undefined): string {
  if (!time) return '';
  const { gap, s, u, a, z } = time;
  const hour = a ? 'h' : 'H';
  const zone = z === undefined ? '' : z === ' UTC' ? " 'UTC'" : z.startsWith(' ') ? ' XX' : 'XX';
  const half = a === undefined ? '' : a.startsWith(' ') ? ' a' : 'a';
  return `${gap === 'T' ? "'T'" : gap!}${hour}:mm${s ? ':ss' : ''}${u ? `${u[0]}u` : ''}${half}${zone}`;
}

type ReadText = (text: string) => ReadDate | undefined;
const READERS = new Map<string, ReadText | undefined>([
  ['iso', readIso],
  ['excel', readSerial],
]);

function readerOf(format: string, locale = 'en'): ReadText | undefined {
  const key = READERS.has(format) ? format : `${locale} ${format}`;
  if (!READERS.has(key)) {
    try {
      READERS.set(key, compileFormat(format, locale).read);
    } catch {
      READERS.set(key, undefined);
    }
  }
  return READERS.get(key);
}

/** `order`: how other dates of the export write the day, where this column does not show it. */
export function dateFacts(meaning: Meaning, values: readonly string[], order: DayOrder): DateFacts | undefined {
  const distinct = [...new Set(values)];
  const unix = isTimed(meaning) || meaning.concepts.size === 0 ? unixFormat(distinct, isTimed(meaning)) : undefined;
  if (unix) return { formats: [unix], hasTime: true, isLocal: false, unread: 0 };
  const own = dayOrderOf(distinct);
  const hint = own.day + own.month > 0 ? own : order;
  const isDayFirst = hint.day >= hint.month;
  const written = new Map<string, { count: number; locales?: readonly string[] }>();
  for (const value of distinct) {
    const found = readIso(value) ? { format: 'iso' } : formatOf(value, isDayFirst || /^\d+\.\d/.test(value));
    if (found) written.set(found.format, { ...found, count: (written.get(found.format)?.count ?? 0) + 1 });
  }
  const dates = [...written.values()].reduce((sum, { count }) => sum + count, 0);
  if (isTimed(meaning) || dates > distinct.length * LEVELS.some) addNumbered(distinct, written);
  const [named] = [...written.values()].flatMap(({ locales }) => locales ?? []);
  const sorted = [...written].sort(([, a], [, b]) => b.count - a.count).map(([format]) => format);
  const formats = sorted.slice(0, DATES.formats);
  const isRead = (value: string): boolean => formats.some((format) => readerOf(format, named)?.(value) !== undefined);
  const unread = values.filter((value) => !isRead(value)).length / Math.max(1, values.length);
  if (formats.length === 0 || unread > 1 - LEVELS.half) return undefined;
  const isShown = own.day + own.month + order.day + order.month > 0;
  const isZoned = (value: string): boolean =>
    /(?:Z|UTC|\d[+-]\d\d(?::?\d\d)?)$/.test(value) && !/^\d+-\d+-\d+$/.test(value);
  return {
    ...{ formats, unread, isLocal: !values.every(isZoned) },
    ...(named !== undefined && named !== 'en' && { locale: named }),
    hasTime: distinct.some((value) => (/\d:\d\d/.test(value) && !MIDNIGHT.test(value)) || /^\d{5}[.,]\d/.test(value)),
    ambiguous: isShown ? undefined : ambiguityIn(distinct, formats, isDayFirst),
  };
}

/** As spreadsheets and APIs write a day. */
const MIDNIGHT = /[T ]0?0:00(?::00(?:\.0+)?)?(?:Z| UTC)?$/;

function ambiguityIn(
  values: readonly string[],
  formats: readonly string[],
  isDayFirst: boolean,
): DateFacts['ambiguous'] {
  const [from, to] = isDayFirst ? [/^d([/-])M/, 'M$1d'] : [/^M([/-])d/, 'd$1M'];
  const format = formats.find((each) => from.test(each));
  const other = format?.replace(from, to);
  const example = values.find((value) => {
    const [mine, theirs] = [format, other].map((each) => each && readerOf(each)?.(value)?.local);
    return mine !== undefined && mine !== theirs;
  });
  return other === undefined || example === undefined ? undefined : { example, other };
}

/** Days as numbers: `20240105`, and those of a spreadsheet, which also stand among written dates. */
function addNumbered(values: readonly string[], written: Map<string, { count: number }>): void {
  const days = values.filter((value) => /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/.test(value));
  const serials = values.filter((value) => /^[2-5]\d{4}(?:[.,]\d*[1-9])?$/.test(value));
  const isRound = serials.length > 3 && serials.every((value) => value.endsWith('0'));
  if (days.length > values.length * LEVELS.half) written.set('yyyyMMdd', { count: days.length });
  else if (serials.length > 0 && !isRound) written.set('excel', { count: serials.length });
}

/** Whether a header names a time, so that its numbers may be one: ids have as many digits. */
function isTimed({ concepts }: Meaning): boolean {
  const has = (words: string): boolean => words.split(' ').some((each) => (concepts as ReadonlySet<string>).has(each));
  return has(DATES.timed) && !has(DATES.untimed);
}

/** Seconds or milliseconds since 1970, from 1998 to 2033; without a header that says so, spread over weeks at least. */
function unixFormat(values: readonly string[], isCalledSo: boolean): 'unix' | 'unix_ms' | undefined {
  if (values.length === 0) return undefined;
  const isAll = (pattern: RegExp): boolean => values.every((value) => pattern.test(value));
  if (isAll(/^(?:9|1\d)\d{11}$/)) return 'unix_ms';
  if (!isAll(/^(?:9|1\d)\d{8}$/)) return undefined;
  const numbers = values.map(Number);
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const isSpread = values.length > DATES.formats && last - first > DATES.spread && last < Date.now() / 1000;
  return isCalledSo || isSpread ? 'unix' : undefined;
}

/** The dates in milliseconds; NaN for a text that is none. */
export function datesIn(texts: readonly (string | undefined)[], { formats, locale }: DateFacts): number[] {
  const unix = { unix: 1000, unix_ms: 1 }[formats[0]!];
  if (unix !== undefined) return texts.map((text) => Number(text ?? NaN) * unix);
  const readers = formats.flatMap((format) => readerOf(format, locale) ?? []);
  const first = (text: string): number | undefined => {
    for (const read of readers) {
      const local = read(text)?.local;
      if (local !== undefined) return local;
    }
    return undefined;
  };
  return texts.map((text) => (text === undefined ? undefined : first(text)) ?? Number.NaN);
}

/** A date written out, to show how a format reads it: `01/06/2026` as `1 June 2026`. */
export function dateText(text: string, ...formats: readonly string[]): string {
  const [local] = datesIn([text], { formats } as DateFacts);
  if (Number.isNaN(local)) return text;
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(local);
}
