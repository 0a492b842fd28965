/** Checks and compiles date formats of Unicode tokens. The whole text must match. */
import { issueOf } from '../../report/words/words.ts';
import { valueText, type RowContext } from '../values/result.ts';
import {
  escapeLiteral,
  formatPieces,
  NAMED,
  namedToken,
  NOTHING_READ,
  readOffset,
  TOKENS,
  type DateParts,
} from './date-tokens.ts';

/** The local time as if it were UTC, and the offset if the text has one; both in milliseconds. */
export interface ReadDate {
  readonly local: number;
  readonly offset: number | undefined;
  /** The text has no time: it means the day, which need not begin at midnight. */
  readonly isDay: boolean;
}

interface DateFormat {
  readonly hasOffset: boolean;
  readonly hasShortYear: boolean;
  /** Undefined if the text does not match, or the day or time does not exist. */
  readonly read: (text: string) => ReadDate | undefined;
}

/** Compiles a valid format (see `formatError`). `locale` is for the names of months and weekdays. */
export function compileFormat(format: string, locale: string): DateFormat {
  const pieces = formatPieces(format).map(({ token, literal }) =>
    token === undefined ? escapeLiteral(literal!) : (TOKENS[token] ?? namedToken(token, locale)),
  );
  const tokens = pieces.filter((piece) => typeof piece !== 'string');
  const regex = pieces.map((piece) => (typeof piece === 'string' ? piece : `(${piece.regex})`)).join('');
  const whole = new RegExp(`^${regex}$`, 'iu');
  const isDay = tokens.every(({ part }) => part !== 'hour');
  const read = (text: string): ReadDate | undefined => {
    const match = whole.exec(text);
    if (!match) return undefined;
    const into = { ...NOTHING_READ };
    for (let index = 0; index < tokens.length; index += 1) tokens[index]!.read?.(match[index + 1]!, into);
    if (into.afternoon !== undefined) {
      if (into.hour < 1 || into.hour > 12) return undefined;
      into.hour = (into.hour % 12) + (into.afternoon ? 12 : 0);
    }
    return readDate(into, isDay);
  };
  return {
    hasOffset: tokens.some(({ part }) => part === 'offset'),
    hasShortYear: tokens.includes(TOKENS['yy']!),
    read,
  };
}

/** Undefined for a day, time of day or offset that does not exist. */
function readDate(parts: DateParts, isDay: boolean): ReadDate | undefined {
  const { offset } = parts;
  const local = utc(parts);
  return local === undefined || Number.isNaN(offset) ? undefined : { local, offset, isDay };
}

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

/** An ISO 8601 calendar date, with or without time and offset. */
export function readIso(text: string): ReadDate | undefined {
  const match = ISO.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', offset] = match;
  const into: DateParts = { ...NOTHING_READ, year: Number(year), month: Number(month), day: Number(day) };
  into.hour = Number(hour);
  into.minute = Number(minute);
  into.second = Number(second);
  into.milli = Number(fraction.padEnd(3, '0').slice(0, 3));
  if (offset !== undefined) into.offset = readOffset(offset);
  return readDate(into, match[4] === undefined);
}

/** The number of a day in a spreadsheet, with the time as its fraction: `45592.5`. Those before March 1900 differ between programs. */
export function readSerial(text: string): ReadDate | undefined {
  if (!/^\d{2,5}(?:[.,]\d+)?$/.test(text)) return undefined;
  const days = Number(text.replace(',', '.'));
  const local = Math.round((days - SERIAL_OF_1970) * 86_400_000);
  return days < 61 ? undefined : { local, offset: undefined, isDay: Number.isInteger(days) };
}

const SERIAL_OF_1970 = 25_569;

/** The years that ISO 8601 writes with four digits. */
const FIRST = Date.parse('0001-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

/** `9999-12-31 23:59` west of Greenwich is in the year 10000, which few programs can read. */
export function hasFourDigitYear(instant: number): boolean {
  return instant >= FIRST && instant <= LAST;
}

/** A day further back or ahead is probably a mistake, a day of another calendar, or means that there is none. */
const FIRST_USUAL = 1901;
const YEARS_AHEAD = 50;
/** Until then no clock need be asked. */
const NEVER_FAR = 2070;
/** What programs make of no time at all. */
const EPOCH = /^1970-01-01T00:00:00(?:\.0+)?Z$/;

/** `iso`: the date in ISO 8601, as it was read from `text`. */
export function warnIfFar(text: string, iso: string, row: RowContext): void {
  const year = Number(iso.slice(0, 4));
  if (year >= FIRST_USUAL && year < NEVER_FAR && !EPOCH.test(iso)) return;
  const isFar = year < NEVER_FAR || year > new Date().getUTCFullYear() + YEARS_AHEAD;
  // `date` has said so already, where `occurred_at` is checked.
  if (isFar && !row.issues.some(({ code, field }) => code === 'far_date' && field === row.field))
    row.report(issueOf('far_date', valueText(text), year));
}

const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Milliseconds since 1970, or undefined for a day or a time of day that does not exist. */
function utc({ year, month, day, hour, minute, second, milli }: DateParts): number | undefined {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && leap ? 29 : MONTH_LENGTHS[month - 1];
  if (days === undefined || day < 1 || day > days || year < 1 || hour > 23 || minute > 59 || second > 59)
    return undefined;
  const time = Date.UTC(year, month - 1, day, hour, minute, second, milli);
  // Date.UTC reads years below 100 as 19xx.
  return year > 99 ? time : new Date(time).setUTCFullYear(year);
}

/** Tokens of other notations, with their equivalents. */
const FOREIGN: Readonly<Record<string, string>> = {
  YYYY: 'yyyy',
  YY: 'yy',
  DD: 'dd',
  D: 'd',
  A: 'a',
  SSSSSS: 'u',
  T: "'T'",
};

function adviceFor(format: string, tokens: readonly string[]): string {
  if (tokens.includes('z')) return 'put the name of the zone in single quotes and set `timezone` next to the format';
  const known = tokens.every((token) => TOKENS[token] ?? FOREIGN[token] ?? NAMED.includes(token));
  if (!known) return "put literal text in single quotes, as in `yyyy-MM-dd'T'HH:mm`";
  const pieces = formatPieces(format).map(({ token, literal }) => {
    if (token !== undefined) return FOREIGN[token] ?? token;
    return /[A-Za-z']/.test(literal!) ? `'${literal!.replaceAll("'", "''")}'` : literal!;
  });
  return `use \`${pieces.join('')}\``;
}

/** The error in a format, with a hint after a line break, or undefined. */
export function formatError(format: string): string | undefined {
  const tokens = formatPieces(format).flatMap(({ token }) => token ?? []);
  const unknown = tokens.find((token) => !TOKENS[token] && !NAMED.includes(token));
  if (unknown !== undefined)
    return `unknown token \`${unknown}\` in the date format \`${format}\`\n${adviceFor(format, tokens)}`;
  const parts = new Set(tokens.map((token) => TOKENS[token]?.part ?? (/^[ML]/.test(token) ? 'month' : 'weekday')));
  const twelve = tokens.some((token) => token.startsWith('h'));
  const problem = (text: string, advice: string): string => `the date format \`${format}\` ${text}\n${advice}`;
  if (!parts.has('month') && parts.has('minute') && !parts.has('hour'))
    return problem('has minutes in place of the month', 'use `MM` for months and `mm` for minutes');
  if (!parts.has('year')) return problem('has no year', 'use `yyyy` for the year');
  if (!parts.has('month')) return problem('has no month', 'use `MM` for the month, or `MMM` for its name');
  if (!parts.has('day')) return problem('has no day', 'use `dd` for the day');
  if (twelve && !parts.has('half'))
    return problem('has a 12-hour clock without AM/PM', 'use `HH` for hours from 0 to 23, or add `a` for AM/PM');
  if (!twelve && parts.has('half')) return problem('has AM/PM with a 24-hour clock', 'use `hh` for hours from 1 to 12');
  return undefined;
}
