/** The tokens of date formats: the text that each one matches, and its meaning. */

const NUMBERS = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0, milli: 0 };
type DatePart = keyof typeof NUMBERS;

/** The parts read from a text, before they are checked. */
export type DateParts = Record<DatePart, number> & { afternoon: boolean | undefined; offset: number | undefined };

export const NOTHING_READ: DateParts = { ...NUMBERS, afternoon: undefined, offset: undefined };

interface DateToken {
  readonly regex: string;
  readonly part?: DatePart | 'half' | 'offset';
  readonly read?: (text: string, into: DateParts) => void;
}

const numeric = (part: DatePart, regex: string): DateToken => ({
  regex,
  part,
  read: (text, into) => void (into[part] = Number(text)),
});

const OFFSET: DateToken = {
  regex: '[Zz]|[+-]\\d{1,2}(?::?\\d{2})?',
  part: 'offset',
  read: (text, into) => void (into.offset = readOffset(text)),
};

export const TOKENS: Readonly<Record<string, DateToken>> = {
  yyyy: numeric('year', '\\d{4}'),
  y: numeric('year', '\\d{1,4}'),
  yy: {
    regex: '\\d{2}',
    part: 'year',
    read: (text, into) => void (into.year = yearOf(Number(text), new Date().getUTCFullYear())),
  },
  M: numeric('month', '\\d{1,2}'),
  MM: numeric('month', '\\d{2}'),
  d: numeric('day', '\\d{1,2}'),
  dd: numeric('day', '\\d{2}'),
  H: numeric('hour', '\\d{1,2}'),
  HH: numeric('hour', '\\d{2}'),
  h: numeric('hour', '\\d{1,2}'),
  hh: numeric('hour', '\\d{2}'),
  m: numeric('minute', '\\d{1,2}'),
  mm: numeric('minute', '\\d{2}'),
  s: numeric('second', '\\d{1,2}'),
  ss: numeric('second', '\\d{2}'),
  S: numeric('milli', '\\d{1,3}'),
  SSS: numeric('milli', '\\d{3}'),
  u: {
    regex: '\\d{1,9}',
    part: 'milli',
    read: (text, into) => void (into.milli = Number(text.padEnd(3, '0').slice(0, 3))),
  },
  a: {
    regex: '[AaPp]\\.?[Mm]\\.?',
    part: 'half',
    read: (text, into) => void (into.afternoon = text[0] === 'p' || text[0] === 'P'),
  },
  ...Object.fromEntries(['Z', 'ZZ', 'ZZZ', 'X', 'XX', 'XXX'].map((token) => [token, OFFSET])),
};
export const NAMED = ['MMM', 'MMMM', 'LLL', 'LLLL', 'E', 'EEE', 'EEEE', 'ccc', 'cccc'];

/** Two-digit years are at most this many years ahead, so at most 80 back: birth dates are past, a due date is soon. */
const YEARS_AHEAD = 19;

/** The year with these last two digits, from 80 years back to 19 ahead. */
function yearOf(lastDigits: number, today: number): number {
  const last = today + YEARS_AHEAD;
  return last - ((((last - lastDigits) % 100) + 100) % 100);
}

export function formatPieces(format: string): { token?: string; literal?: string }[] {
  const pieces: { token?: string; literal?: string }[] = [];
  for (const [match, quoted, letters] of format.matchAll(/'((?:[^']|'')*)'|(([A-Za-z])\3*)|[^A-Za-z']+|'/g)) {
    if (quoted !== undefined) pieces.push({ literal: quoted === '' ? "'" : quoted.replaceAll("''", "'") });
    else if (letters !== undefined) pieces.push({ token: letters });
    else pieces.push({ literal: match });
  }
  return pieces;
}

/** Offsets from UTC lie between these. */
const WEST = -12 * 60;
const EAST = 14 * 60;

/** In milliseconds; NaN for an offset that does not exist. */
export function readOffset(text: string): number {
  if (text === 'Z' || text === 'z') return 0;
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(text)!;
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  return Number(minutes) > 59 || offset < WEST || offset > EAST ? Number.NaN : offset * 60_000;
}

/** Names of months and weekdays, both standalone and as part of a date, which some languages inflect. */
export function namedToken(token: string, locale: string): DateToken {
  const part = /^[ML]/.test(token) ? 'month' : 'weekday';
  const length = token.length === 4 ? 'long' : 'short';
  const numbers = new Map<string, number>();
  for (const within of [{}, { day: 'numeric' }] as const) {
    const format = new Intl.DateTimeFormat(locale, { [part]: length, ...within, calendar: 'gregory', timeZone: 'UTC' });
    for (let index = 0; index < (part === 'month' ? 12 : 7); index += 1) {
      const date = part === 'month' ? Date.UTC(2024, index) : Date.UTC(2024, 0, index + 1);
      // In Japanese, a part is the number alone: `1` of `1月`.
      const name = 'day' in within ? partOf(format, date, part) : format.format(date);
      if (name !== undefined) numbers.set(folded(name), index + 1);
    }
  }
  const regex = alternatives(numbers.keys());
  if (part === 'weekday') return { regex };
  return { regex, part, read: (text, into) => void (into.month = numbers.get(folded(text)) ?? 0) };
}

function partOf(format: Intl.DateTimeFormat, date: number, part: 'month' | 'weekday'): string | undefined {
  return format.formatToParts(date).find(({ type }) => type === part)?.value;
}

function folded(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function alternatives(names: Iterable<string>): string {
  const sorted = [...new Set([...names].map(folded))].sort((a, b) => b.length - a.length);
  return `(?:${sorted.map(escapeLiteral).join('|')})\\.?`;
}

/** Any white space matches any other: some exports have a no-break space before `PM`. */
export function escapeLiteral(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/\s+/gu, '\\s+');
}
