/** Compiles date formats of Unicode tokens. The whole text must match. */
import { escapeLiteral, formatPieces, namedToken, readOffset, TOKENS, type DateParts } from './date-tokens.ts';

/** The local time as if it were UTC, and the offset if the text has one; both in milliseconds. */
export interface ReadDate {
  readonly local: number;
  readonly offset: number | undefined;
}

export interface DateFormat {
  readonly source: string;
  /** Whether every matching text has an offset. */
  readonly hasOffset: boolean;
  /** Undefined if the text does not match, or the day or time does not exist. */
  readonly read: (text: string) => ReadDate | undefined;
}

/** Compiles a valid format (see `formatError`). `locale` is for the names of months and weekdays. */
export function compileFormat(format: string, locale: string): DateFormat {
  let regex = '';
  const readers: ((text: string, into: DateParts) => void)[] = [];
  let hasOffset = false;
  for (const { token, literal } of formatPieces(format)) {
    if (token === undefined) {
      regex += escapeLiteral(literal!);
      continue;
    }
    const known = TOKENS[token] ?? namedToken(token, locale);
    regex += `(${known.regex})`;
    readers.push(known.read ?? (() => undefined));
    hasOffset ||= known.part === 'offset';
  }
  const whole = new RegExp(`^${regex}$`, 'iu');
  return { source: format, hasOffset, read: (text) => readWith(whole, readers, text) };
}

function readWith(
  whole: RegExp,
  readers: readonly ((text: string, into: DateParts) => void)[],
  text: string,
): ReadDate | undefined {
  const match = whole.exec(text);
  if (!match) return undefined;
  const into: DateParts = {
    year: 0,
    month: 0,
    day: 0,
    hour: 0,
    minute: 0,
    second: 0,
    milli: 0,
    afternoon: undefined,
    offset: undefined,
  };
  for (let index = 0; index < readers.length; index += 1) readers[index]!(match[index + 1]!, into);
  if (into.afternoon !== undefined) {
    if (into.hour < 1 || into.hour > 12) return undefined;
    into.hour = (into.hour % 12) + (into.afternoon ? 12 : 0);
  }
  const local = utc(into);
  if (local === undefined || Number.isNaN(into.offset)) return undefined;
  return { local, offset: into.offset };
}

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

/** An ISO 8601 calendar date, with or without time and offset. */
export function readIso(text: string): ReadDate | undefined {
  const match = ISO.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', offset] = match;
  const local = utc({
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    milli: Number(fraction.padEnd(3, '0').slice(0, 3)),
  });
  const shift = offset === undefined ? undefined : readOffset(offset);
  return local === undefined || Number.isNaN(shift) ? undefined : { local, offset: shift };
}

const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Milliseconds since 1970, or undefined for a day or a time of day that does not exist. */
function utc({
  year,
  month,
  day,
  hour,
  minute,
  second,
  milli,
}: Omit<DateParts, 'afternoon' | 'offset'>): number | undefined {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && leap ? 29 : MONTH_LENGTHS[month - 1];
  if (days === undefined || day < 1 || day > days || year < 1 || hour > 23 || minute > 59 || second > 59)
    return undefined;
  const time = Date.UTC(year, month - 1, day, hour, minute, second, milli);
  // Date.UTC reads years below 100 as 19xx.
  return year > 99 ? time : new Date(time).setUTCFullYear(year);
}
