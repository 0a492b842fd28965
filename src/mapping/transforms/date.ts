import { z } from 'zod';
import { Problem, quoted } from '../../problem.ts';
import { valueText, type Result, type RowContext } from '../values/result.ts';
import { checked, locale, object, oneOf, text, timezone } from '../schema-parts.ts';
import type { Defaults } from '../spec.ts';
import {
  formatError,
  compileFormat,
  hasFourDigitYear,
  readIso,
  readSerial,
  warnIfFar,
  type ReadDate,
} from './date-format.ts';
import { onText, transform, type Apply, type TransformContext } from './transform.ts';
import { zoneOffset, zoneReader, type ZoneOffset, type ZoneReader } from './zone.ts';
import { issueOf } from '../../report/words/words.ts';

interface DateOptions {
  readonly formats: string | readonly string[];
  readonly timezone?: string | undefined;
  readonly locale?: string | undefined;
  readonly as?: 'instant' | 'date' | undefined;
}
type DateArgument = string | readonly string[] | DateOptions;

const format = checked(text, (source) => (isWord(source) ? undefined : formatError(source)));
const formats = z.union([format, z.array(format).min(1)]);

export const date = transform<DateArgument>({
  name: 'date',
  doc: 'Parses a date with the first format that matches the whole text. The result is an instant (`2024-10-27T11:00:00.000Z`), or with `as: date` a day. Formats are Unicode tokens (`dd/MM/yyyy HH:mm`) or `iso`, `unix` (seconds), `unix_ms`, `excel` (days since 1900). `yy` is the year from 80 years back to 19 years ahead of today. Fails with `bad_date` if no format matches, the day does not exist, or a daylight saving change skips the time.',
  words: (argument, defaults) => dateWords(options(argument), defaults),
  usage: [
    '{ date: FORMAT }',
    '{ date: [FORMAT, FORMAT] }',
    '{ date: { formats: …, timezone: ZONE, locale: TAG, as: date } }',
  ],
  examples: [
    {
      apply: '{ date: { formats: dd/MM/yyyy HH:mm, timezone: Europe/Rome } }',
      from: '27/10/2024 12:00',
      to: '2024-10-27T11:00:00.000Z',
    },
    { apply: '{ date: { formats: M/d/yyyy, as: date } }', from: '3/15/2024', to: '2024-03-15' },
    {
      apply: '{ date: { formats: iso, as: date, timezone: Europe/Rome } }',
      from: '2024-01-31T23:30:00Z',
      to: '2024-02-01',
    },
    { apply: '{ date: iso }', from: '2017-10-10T08:38:20.000+0000', to: '2017-10-10T08:38:20.000Z' },
    { apply: '{ date: unix }', from: 1730026800, to: '2024-10-27T11:00:00.000Z' },
    { apply: '{ date: { formats: excel, as: date } }', from: 45592, to: '2024-10-27' },
  ],
  argument: () =>
    z.union([
      format,
      z.array(format).min(1),
      object({
        formats,
        timezone: timezone.optional(),
        locale: locale.optional(),
        as: oneOf(['instant', 'date']).optional(),
      }),
    ]),
  check: (argument, defaults) => checkZone(options(argument!), defaults),
  compile: (argument, context) => compileDate(options(argument!), context),
});

type DateReader = (text: string, row?: RowContext) => ReadDate | undefined;

interface DateForm {
  /** `reads dates written …` */
  readonly words: string;
  /** Of what it reads, only a time zone makes an instant. With `iso`, some texts may have an offset and others not: that is checked per record. */
  readonly isLocal: boolean;
  readonly hasShortYear?: boolean;
  /** `offset`: that of the time zone at an instant. */
  readonly reader: (offset: ZoneOffset) => DateReader;
}

/** Formats that are words. */
const WORDS: Readonly<Record<string, DateForm>> = {
  iso: { words: 'in ISO 8601', isLocal: false, reader: () => readIso },
  unix: { words: 'in seconds since 1970', isLocal: false, reader: (offset) => (text) => readUnix(text, 1000, offset) },
  unix_ms: {
    words: 'in milliseconds since 1970',
    isLocal: false,
    reader: (offset) => (text, row) => readMilliseconds(text, offset, row),
  },
  excel: { words: 'as the numbers of days in a spreadsheet', isLocal: true, reader: () => readSerial },
};

function isWord(source: string): boolean {
  return Object.hasOwn(WORDS, source);
}

/** `locale` is for the names of months and weekdays. */
function formatOf(source: string, locale = 'en'): DateForm {
  if (isWord(source)) return WORDS[source]!;
  const { hasOffset, hasShortYear, read } = compileFormat(source, locale);
  return { words: `as ${valueText(source)}`, isLocal: !hasOffset, hasShortYear, reader: () => read };
}

function options(argument: DateArgument): DateOptions & { readonly formats: readonly string[] } {
  const full = typeof argument === 'object' && 'formats' in argument ? argument : { formats: argument };
  return { ...full, formats: [full.formats].flat() };
}

function dateWords({ formats, timezone, as }: ReturnType<typeof options>, defaults: Defaults): string {
  const written = formats.map((source) => formatOf(source).words).join(' or ');
  const zone = timezone ?? defaults.timezone;
  const hasZone = zone !== undefined && formats.some((source) => !source.startsWith('unix'));
  return `reads dates written ${written}${as === 'date' ? ', without the time' : hasZone ? `, in the time zone ${zone}` : ''}`;
}

function checkZone({ formats, timezone, as }: ReturnType<typeof options>, defaults: Defaults): Problem[] {
  if (as === 'date' || (timezone ?? defaults.timezone) !== undefined) return [];
  const without = formats.find((source) => formatOf(source).isLocal);
  if (without === undefined) return [];
  const message = `\`${without}\` has no offset and no time zone is set`;
  const hint = 'set `defaults.timezone` to an IANA name such as Europe/Rome, or use `as: date` if only the day matters';
  return [new Problem({ code: 'no_timezone', message, hint })];
}

function compileDate(
  { formats, timezone, locale, as }: ReturnType<typeof options>,
  { defaults }: TransformContext,
): Apply {
  const zone = timezone ?? defaults.timezone;
  const inZone = zone === undefined ? undefined : zoneReader(zone);
  const offsetAt = zone === undefined ? undefined : zoneOffset(zone);
  const given = formats.map((source) => formatOf(source, locale ?? defaults.locale));
  const readers = given.map(({ reader }) => reader(offsetAt ?? (() => 0)));
  const known = quoted(formats);
  return onText((text, row) => {
    for (const [index, reader] of readers.entries()) {
      const read = reader(text, row);
      if (read === undefined) continue;
      const result = as === 'date' ? dayOf(read, text, offsetAt) : instantOf(read, text, inZone, row);
      if (typeof result === 'string') {
        warnIfReadDifferently(text, read, readers.slice(index + 1), row);
        if (given[index]!.hasShortYear) warnIfLate(text, read, row);
        warnIfFar(text, result, row);
      }
      return result;
    }
    return issueOf('bad_date', valueText(text), known).with({ hint: hintFor(text) });
  });
}

function readUnix(text: string, toMilliseconds: number, offsetAt: ZoneOffset): ReadDate | undefined {
  if (!/^-?\d{1,15}(?:\.\d+)?$/.test(text)) return undefined;
  const instant = Math.floor(Number(text) * toMilliseconds + 0.001);
  if (!hasFourDigitYear(instant)) return undefined;
  const offset = offsetAt(instant);
  return { local: instant + offset, offset, isDay: false };
}

/** Milliseconds that are all in the first weeks of 1970 are seconds of later years. */
const LAST_DOUBTFUL = 40 * 24 * 60 * 60 * 1000;

function readMilliseconds(text: string, offsetAt: ZoneOffset, row: RowContext | undefined): ReadDate | undefined {
  const read = readUnix(text, 1, offsetAt);
  const value = Number(text);
  if (read && value > 0 && value < LAST_DOUBTFUL) {
    row?.report(issueOf('seconds_as_ms', valueText(text), new Date(value).toISOString()));
  }
  return read;
}

/** The day of an instant depends on the zone; without one, and for a local time, it is the day as written. */
function dayOf({ local, offset }: ReadDate, text: string, offsetAt: ZoneOffset | undefined): Result {
  if (offset === undefined || offsetAt === undefined) return iso(local, text, 10);
  const instant = local - offset;
  return iso(instant + offsetAt(instant), text, 10);
}

function instantOf(read: ReadDate, text: string, zone: ZoneReader | undefined, row: RowContext): Result {
  if (read.offset !== undefined) return iso(read.local - read.offset, text);
  if (!zone) return issueOf('bad_date/no_offset', valueText(text));
  const { instant, twice } = read.isDay ? beginningOf(read.local, zone) : zone(read.local);
  if (instant === undefined) return issueOf('bad_date/skipped', valueText(text));
  if (twice) row.report(issueOf('ambiguous_time', valueText(text)));
  return iso(instant, text);
}

/** Where the clocks go forward at midnight, the day begins at 00:30 or 01:00; where they go back to it, at the first midnight. */
function beginningOf(midnight: number, zone: ZoneReader): ReturnType<ZoneReader> {
  const times = [0, 30, 60].map((minutes) => zone(midnight + minutes * 60_000));
  return { ...(times.find(({ instant }) => instant !== undefined) ?? times[0]!), twice: false };
}

/** The first `length` characters of an instant, which was read from `text`. */
function iso(instant: number, text: string, length?: number): Result {
  if (!hasFourDigitYear(instant)) return issueOf('bad_date/out_of_range', valueText(text));
  return new Date(instant).toISOString().slice(0, length);
}

/** `38` means 1938 in a birth date and 2038 in a due date. A year among the next 19 is a warning. */
function warnIfLate(text: string, { local }: ReadDate, row: RowContext): void {
  const year = new Date(local).getUTCFullYear();
  if (year > new Date().getUTCFullYear() + 1) row.report(issueOf('short_year_ahead', valueText(text), year));
}

/** `01/06/2026` can match two formats: the first is used, with a warning if one of the `others` gives another day. */
function warnIfReadDifferently(text: string, read: ReadDate, others: readonly DateReader[], row: RowContext): void {
  const isOther = (other: ReadDate | undefined): boolean =>
    other !== undefined && (other.local !== read.local || other.offset !== read.offset);
  if (others.some((reader) => isOther(reader(text)))) row.report(issueOf('ambiguous_date', valueText(text)));
}

function hintFor(text: string): string | undefined {
  if (/^\d{5}$/.test(text)) return 'for the number of a day in a spreadsheet, use the format `excel`';
  if (/^\d{10}$/.test(text)) return 'for seconds since 1970, use the format `unix`';
  if (/^\d{13}$/.test(text)) return 'for milliseconds since 1970, use the format `unix_ms`';
  if (readIso(text)) return 'use the format `iso`';
  return undefined;
}
