/**
 * Date formats of Unicode tokens, compiled to a regular expression and a reader. A text matches as a whole or not at all.
 */
import { createRequire } from 'node:module';
import type * as luxon from 'luxon';
import { compileFixed, utc } from './date-fixed.ts';

/** What a text says: the local time as if it stood in UTC, and the offset where it names one. Both in milliseconds. */
export interface ReadDate {
  readonly local: number;
  readonly offset: number | undefined;
}

export interface DateFormat {
  readonly source: string;
  /** Whether every text it matches names its offset. */
  readonly hasOffset: boolean;
  /** Undefined: no match, or a day or time that does not exist. */
  readonly read: (text: string) => ReadDate | undefined;
}

type Part = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'milli';

interface Reading {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  milli: number;
  afternoon: boolean | undefined;
  offset: number | undefined;
}

interface Token {
  readonly regex: string;
  readonly part?: Part | 'half' | 'offset';
  readonly read?: (text: string, into: Reading) => void;
}

const numeric = (part: Part, regex: string): Token => ({
  regex,
  part,
  read: (text, into) => void (into[part] = Number(text)),
});

const OFFSET: Token = {
  regex: '[Zz]|[+-]\\d{1,2}(?::?\\d{2})?',
  part: 'offset',
  read: (text, into) => void (into.offset = readOffset(text)),
};

const TOKENS: Readonly<Record<string, Token>> = {
  yyyy: numeric('year', '\\d{4}'),
  y: numeric('year', '\\d{1,4}'),
  yy: {
    regex: '\\d{2}',
    part: 'year',
    read: (text, into) => void (into.year = Number(text) + (Number(text) > 60 ? 1900 : 2000)),
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
  Z: OFFSET,
  ZZ: OFFSET,
  ZZZ: OFFSET,
  X: OFFSET,
  XX: OFFSET,
  XXX: OFFSET,
};
const NAMED = ['MMM', 'MMMM', 'LLL', 'LLLL', 'E', 'EEE', 'EEEE', 'ccc', 'cccc'];

/** Letters that people bring from other notations, with the token that means the same here. */
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
  if (tokens.includes('z')) return 'write the name of the zone in single quotes, and set `timezone` beside the format';
  const known = tokens.every((token) => TOKENS[token] ?? FOREIGN[token] ?? NAMED.includes(token));
  if (!known) return "text that is no token stands in single quotes, as in `yyyy-MM-dd'T'HH:mm`";
  const pieces = formatPieces(format).map(({ token, literal }) => {
    if (token !== undefined) return FOREIGN[token] ?? token;
    return /[A-Za-z']/.test(literal!) ? `'${literal!.replaceAll("'", "''")}'` : literal!;
  });
  return `write \`${pieces.join('')}\``;
}

/** A format in pieces: tokens and literal text. */
export function formatPieces(format: string): { token?: string; literal?: string }[] {
  const pieces: { token?: string; literal?: string }[] = [];
  for (const [match, quoted, letters] of format.matchAll(/'((?:[^']|'')*)'|(([A-Za-z])\3*)|[^A-Za-z']+|'/g)) {
    if (quoted !== undefined) pieces.push({ literal: quoted === '' ? "'" : quoted.replaceAll("''", "'") });
    else if (letters !== undefined) pieces.push({ token: letters });
    else pieces.push({ literal: match });
  }
  return pieces;
}

/** What is wrong with a format, with advice after a line break, or undefined. */
export function formatMistake(format: string): string | undefined {
  const tokens = formatPieces(format).flatMap(({ token }) => token ?? []);
  const unknown = tokens.find((token) => !TOKENS[token] && !NAMED.includes(token));
  if (unknown !== undefined)
    return `unknown token \`${unknown}\` in the date format \`${format}\`\n${adviceFor(format, tokens)}`;
  const parts = new Set(tokens.map((token) => TOKENS[token]?.part ?? (/^[ML]/.test(token) ? 'month' : 'weekday')));
  const twelve = tokens.some((token) => token.startsWith('h'));
  const problem = (text: string, advice: string): string => `the date format \`${format}\` ${text}\n${advice}`;
  if (!parts.has('month') && parts.has('minute') && !parts.has('hour'))
    return problem('has minutes where the month should be', 'months are `MM`, minutes are `mm`');
  if (!parts.has('year')) return problem('has no year', 'years are `yyyy`');
  if (!parts.has('month')) return problem('has no month', 'months are `MM`, or `MMM` as a name');
  if (!parts.has('day')) return problem('has no day', 'days are `dd`');
  if (twelve && !parts.has('half'))
    return problem('has a 12-hour clock without am and pm', 'hours from 0 to 23 are `HH`; am and pm are `a`');
  if (!twelve && parts.has('half')) return problem('has am and pm with a 24-hour clock', 'hours from 1 to 12 are `hh`');
  return undefined;
}

/** Compiles a format that `formatMistake` has nothing against. `locale` is for the names of months and weekdays. */
export function compileFormat(format: string, locale: string): DateFormat {
  let regex = '';
  const readers: ((text: string, into: Reading) => void)[] = [];
  let hasOffset = false;
  const pieces = formatPieces(format);
  for (const { token, literal } of pieces) {
    if (token === undefined) {
      regex += escape(literal!);
      continue;
    }
    const known = TOKENS[token] ?? named(token, locale);
    regex += `(${known.regex})`;
    readers.push(known.read ?? (() => undefined));
    hasOffset ||= known.part === 'offset';
  }
  const whole = new RegExp(`^${regex}$`, 'iu');
  const fixed = compileFixed(pieces);
  const read = (text: string): ReadDate | undefined => {
    const local = fixed?.(text);
    return local === undefined ? readWith(whole, readers, text) : { local, offset: undefined };
  };
  return { source: format, hasOffset, read };
}

function readWith(
  whole: RegExp,
  readers: readonly ((text: string, into: Reading) => void)[],
  text: string,
): ReadDate | undefined {
  const match = whole.exec(text);
  if (!match) return undefined;
  const into: Reading = {
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
  const local = utc(into.year, into.month, into.day, into.hour, into.minute, into.second, into.milli);
  if (local === undefined || Number.isNaN(into.offset)) return undefined;
  return { local, offset: into.offset };
}

function readOffset(text: string): number {
  if (text === 'Z' || text === 'z') return 0;
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(text)!;
  if (Number(hours) > 14 || Number(minutes) > 59) return Number.NaN;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** Names of months and weekdays, as the locale writes them alone and within a date. */
function named(token: string, locale: string): Token {
  const length = token.length === 4 ? 'long' : 'short';
  const options = { locale };
  // Few formats have names: the library is loaded for those.
  const { Info } = createRequire(import.meta.url)('luxon') as typeof luxon;
  if (!/^[ML]/.test(token)) {
    const days = [...Info.weekdays(length, options), ...Info.weekdaysFormat(length, options)];
    return { regex: alternatives(days) };
  }
  const numbers = new Map<string, number>();
  for (const list of [Info.months(length, options), Info.monthsFormat(length, options)]) {
    for (const [index, month] of list.entries()) numbers.set(folded(month), index + 1);
  }
  return {
    regex: alternatives(numbers.keys()),
    part: 'month',
    read: (text, into) => void (into.month = numbers.get(folded(text)) ?? 0),
  };
}

function folded(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function alternatives(names: Iterable<string>): string {
  const sorted = [...new Set([...names].map(folded))].sort((a, b) => b.length - a.length);
  return `(?:${sorted.map(escape).join('|')})\\.?`;
}

/** Any white space stands for any other: exports put no-break spaces before `PM`. */
function escape(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/\s+/gu, '\\s+');
}

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

/** ISO 8601 calendar dates, with or without time and offset. */
export function readIso(text: string): ReadDate | undefined {
  const match = ISO.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', offset] = match;
  const milli = Number(fraction.padEnd(3, '0').slice(0, 3));
  const local = utc(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second), milli);
  const shift = offset === undefined ? undefined : readOffset(offset);
  return local === undefined || Number.isNaN(shift) ? undefined : { local, offset: shift };
}
