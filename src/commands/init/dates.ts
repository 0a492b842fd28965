import type { Meaning } from './words.ts';
import {
  compileFormat,
  readIso,
  readSerial,
  SERIAL_OF_1970,
  type DateFormat,
} from '../../mapping/transforms/date-format.ts';

/** How the dates of a column are read. */
export interface DateFacts {
  /** As the `date` transform takes them, best first. */
  readonly formats: readonly string[];
  /** Whether every format says that its times are UTC. */
  readonly utc: boolean;
  /** Whether any value has a time. */
  readonly hasTime: boolean;
  /** A value that means another date if day and month are swapped; set if no value decides the order. */
  readonly ambiguous?: { readonly example: string; readonly other: string };
  /** A value that is read as the number of a day. */
  readonly serial?: string | undefined;
  /** Number of values that match none of the formats. */
  readonly unread: number;
}

const TIMES = [
  '',
  ' HH:mm',
  ' HH:mm:ss',
  ' HH:mm:ss.u',
  ' HH:mm:ss XX',
  " HH:mm:ss 'UTC'",
  " HH:mm:ss.u 'UTC'",
  ' h:mm a',
  ' h:mm:ss a',
  ' h:mma',
  ' h:mm a XX',
  ' HH:mm XX',
  ', h:mm a',
  ', HH:mm',
  // As spreadsheets write them: 9:05. Chosen only where the values need it.
  ' H:mm',
  ' H:mm:ss',
  ', H:mm',
  ' H.mm',
];
const DAY_FIRST = ['d/M/yyyy', 'd.M.yyyy', 'd-M-yyyy', 'd/M/yy', 'd.M.yy', 'd-M-yy'];
const DAYS = [
  'yyyy-MM-dd',
  'yyyy/MM/dd',
  // Without zeros: 2024/3/5. A format with zeros is preferred where it reads as many.
  ...['yyyy-M-d', 'yyyy/M/d', 'yyyy.M.d', 'yyyy.M.d.', 'yyyy. M. d', 'yyyy. M. d.', 'yyyy年M月d日', 'yyyy년 M월 d일'],
  ...['d. M. yyyy', 'd. M. yyyy.', 'd.M.yyyy.', 'd.M.yy.'],
  ...DAY_FIRST,
  ...DAY_FIRST.map((format) => format.replace(/d(.)M/, 'M$1d')),
  ...['d MMM, yyyy', 'd MMM yyyy', 'd MMMM yyyy', 'MMM d, yyyy', 'MMMM d, yyyy', 'd-MMM-yyyy'],
  ...['d/MMM/yyyy', 'd/MMM/yy', 'd-MMM-yy', 'd MMM yy'],
];

const READERS: ReadonlyMap<string, DateFormat['read']> = new Map([
  ...DAYS.flatMap((day) => TIMES.map((time) => `${day}${time}`)).map((format) => [format, readerOf(format)] as const),
  ...(['iso', 'yyyyMMdd', 'excel'] as const).map((format) => [format, readerOf(format)] as const),
]);

/** Pre-filter, so that a hundred formats are tried only on columns that look like dates. */
const DATE_LIKE =
  /^(?:\d{1,4}[-/.年년] ?\d{1,2}[-/.月월] ?\d{1,4}|\d{1,2}[-/ ][A-Za-z]{3,9}\.?,?[-/ ]\d{2,4}|[A-Za-z]{3,9} \d{1,2}, \d{4})/;

/** Days of 1927 to 2064 as spreadsheets count them, and days without marks between their parts. */
const NUMBERED = /^(?:[1-5]\d{4}(?:[.,]\d+)?|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))$/;

/**
 * The date formats of a column, with its header as words, or undefined if most of its values are not dates. `dayFirst` is used if the values do
 * not decide the order of day and month.
 */
export function dateFacts(header: Meaning, values: readonly string[], dayFirst: boolean): DateFacts | undefined {
  const isTime = isTimed(header) || areDays(header, values);
  const unix = isTime || (header.concepts.size === 0 && areSeconds(values)) ? unixFormat(values) : undefined;
  if (unix) return { formats: [unix], utc: false, hasTime: true, unread: 0 };
  const distinct = [...new Set(values)].slice(0, 500);
  const written = distinct.filter((value) => DATE_LIKE.test(value)).length;
  const mayBeNumbered = (isTime || written > distinct.length * 0.2) && !areSums(distinct);
  const likely = distinct.filter((value) => DATE_LIKE.test(value) || (mayBeNumbered && NUMBERED.test(value)));
  if (likely.length === 0 || likely.length < distinct.length * 0.6) return undefined;
  const formats: string[] = [];
  let left = distinct;
  let ambiguous: DateFacts['ambiguous'];
  while (left.length > 0 && formats.length < 4) {
    const counts = new Map(
      [...READERS].map(([format, read]) => {
        // Beside dates, a number is the day of a spreadsheet only in their years.
        const others = format === 'excel' ? datesIn(distinct, { formats }).filter(Number.isFinite) : [];
        const [first, last] = [Math.min(...others) - YEAR, Math.max(...others) + YEAR];
        const isNear = (local: number): boolean =>
          others.length === 0 ? !Number.isNaN(local) : local > first && local < last;
        return [format, left.filter((value) => isNear(read(value)?.local ?? Number.NaN)).length];
      }),
    );
    const most = Math.max(...counts.values());
    if (most === 0) break;
    const best = [...counts.keys()].filter((format) => counts.get(format) === most);
    // Of the formats with day and month as numbers.
    const either = best.filter((format) => /^[dM]+[/.-][dM]+[/.-]/.test(format));
    const isFirst = (format: string): boolean => format.startsWith('d') === (dayFirst || format.includes('.'));
    const chosen = either.find(isFirst) ?? best[0]!;
    const read = READERS.get(chosen)!;
    // With dots, the day is first everywhere.
    const other = either.find((format) => format.startsWith('d') !== chosen.startsWith('d') && !format.includes('.'));
    const example = other && left.find((value) => read(value)?.local !== READERS.get(other)!(value)?.local);
    if (other && example !== undefined) ambiguous ??= { example, other };
    formats.push(chosen);
    left = left.filter((value) => read(value) === undefined);
  }
  if (formats.length === 0) return undefined;
  return {
    formats,
    utc: formats.every((format) => format.endsWith("'UTC'")),
    hasTime: distinct.some((value) => (/\d:\d\d/.test(value) && !MIDNIGHT.test(value)) || /^\d{5}[.,]\d/.test(value)),
    ...(ambiguous && { ambiguous }),
    ...(formats.includes('excel') && { serial: distinct.find((value) => readSerial(value)) }),
    unread: values.filter((value) => left.includes(value)).length,
  };
}

/** In milliseconds. */
export const YEAR = 31_557_600_000;

/** As spreadsheets and APIs write a day. */
const MIDNIGHT = /[T ]0?0:00(?::00(?:\.0+)?)?(?:Z| UTC)?$/;

/** Whether the formats read almost all of the values: otherwise they are no proposal. */
export function isReadable({ unread }: DateFacts, values: readonly string[]): boolean {
  return unread <= values.length * 0.1;
}

/** Whether a header names a time, so that its numbers may be one: ids have as many digits. */
function isTimed({ concepts }: Meaning): boolean {
  return TIMED.some((each) => concepts.has(each)) && !UNTIMED.some((each) => concepts.has(each));
}

const TIMED = ['date', 'created', 'modified', 'closed', 'due'] as const;
const UNTIMED = ['id', 'number', 'amount', 'weighted', 'cost', 'count', 'author', 'user', 'owner', 'address'] as const;

/** The first of some numbers under an unknown header, where all may be days of this century as a spreadsheet counts them. */
export function serialIn({ concepts }: Meaning, values: readonly string[]): string | undefined {
  const last = Date.now() / 86_400_000 + SERIAL_OF_1970 + 1000;
  const isDay = (value: string): boolean => /^[34]\d{4}(?:[.,]\d+)?$/.test(value) && parseInt(value, 10) < last;
  return concepts.size === 0 && new Set(values).size > 2 && values.every(isDay) ? values[0] : undefined;
}

/** Seconds or milliseconds since 1970, from 1998 to 2033. */
export function unixFormat(values: readonly string[]): 'unix' | 'unix_ms' | undefined {
  if (values.length === 0) return undefined;
  if (values.every((value) => /^(?:9|1\d)\d{8}$/.test(value))) return 'unix';
  return values.every((value) => /^(?:9|1\d)\d{11}$/.test(value)) ? 'unix_ms' : undefined;
}

/** Seconds of the last years, spread over weeks at least: ids follow one another. */
function areSeconds(values: readonly string[]): boolean {
  const numbers = values.map(Number);
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  return new Set(values).size > 7 && first > 1.45e9 && last < Date.now() / 1000 && last - first > 2e6;
}

/** Numbers that leave the calendar, are all round, or have zeros behind their point: an `expected` amount is no day. */
function areSums(values: readonly string[]): boolean {
  const numbers = values.filter((value) => /^\d+(?:[.,]\d+)?$/.test(value));
  const [far, round] = [/^0*[6-9]\d{4}(?:[.,]|$)/, /0(?:[.,]0+)?$/].map(
    (like) => numbers.filter((value) => like.test(value)).length,
  );
  return numbers.some((value) => /[.,]0+$/.test(value)) || far! > 0 || (round! > 5 && round === numbers.length);
}

/** Whether numbers are days, `20240105`: those of anything else would soon leave the calendar. */
function areDays({ concepts }: Meaning, values: readonly string[]): boolean {
  const isDay = (value: string): boolean => /^\d{8}$/.test(value) && NUMBERED.test(value);
  return !UNTIMED.some((each) => concepts.has(each)) && new Set(values).size > 3 && values.every(isDay);
}

/** In seconds or milliseconds since 1970. */
export function isUnix({ formats }: Pick<DateFacts, 'formats'>): boolean {
  return formats.some((format) => format.startsWith('unix'));
}

/** How a value is read whose day and month may be swapped, or whose year has two digits; undefined if there is no doubt. */
export function doubtOf({ formats, ambiguous, serial }: DateFacts): string | undefined {
  if (serial !== undefined && !ambiguous)
    return `check: numbers are the days of a spreadsheet: ${serial} is read as ${dateText(serial, 'excel')}`;
  if (!ambiguous) {
    if (!formats.some((format) => /(?<!y)yy(?!y)/.test(format))) return undefined;
    const today = new Date().getUTCFullYear();
    return `check: years have two digits and are read as ${today - 80} to ${today + 19}`;
  }
  const { example, other } = ambiguous;
  return `set this: ${example} is read as ${dateText(example, ...formats)}; with ${other} it would be ${dateText(example, other)}`;
}

/** A date written out, to show how a format reads it: `01/06/2026` as `1 June 2026`. */
export function dateText(text: string, ...formats: readonly string[]): string {
  const read = formats.map((format) => readerOf(format)(text)).find((each) => each !== undefined);
  if (!read) return text;
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(read.local);
}

/** The dates in milliseconds; NaN for a text that is none. */
export function datesIn(texts: readonly string[], { formats }: Pick<DateFacts, 'formats'>): number[] {
  if (isUnix({ formats })) return texts.map((text) => Number(text) * (formats[0] === 'unix' ? 1000 : 1));
  const readers = formats.map((format) => READERS.get(format)!);
  return texts.map(
    (text) => readers.map((read) => read(text)?.local).find((local) => local !== undefined) ?? Number.NaN,
  );
}

function readerOf(format: string): DateFormat['read'] {
  return format === 'iso' ? readIso : format === 'excel' ? readSerial : compileFormat(format, 'en').read;
}

/** Whether dates have the day first, decided by the first date that is valid in one order only. */
export function isDayFirst(values: readonly string[]): boolean {
  for (const value of values) {
    const [, first, second] = /^(\d{1,2})[/.-](\d{1,2})[/.-]\d{2,4}\b/.exec(value) ?? [];
    if (Number(first) > 12 !== Number(second) > 12) return Number(first) > 12;
  }
  return true;
}
