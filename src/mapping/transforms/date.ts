import { z } from 'zod';
import { Problem, quoted } from '../../problem.ts';
import { type Result, valueText } from '../values/result.ts';
import { checked, locale, object, oneOf, text, timezone } from '../schema-parts.ts';
import type { RowContext } from '../values/row-context.ts';
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
import { onText, transform, type TransformContext } from './transform.ts';
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

/** Formats that are words. */
const WORDS: Readonly<Record<string, string>> = {
  iso: 'in ISO 8601',
  unix: 'in seconds since 1970',
  unix_ms: 'in milliseconds since 1970',
  excel: 'as the numbers of days in a spreadsheet',
};

type DateReader = (text: string, row?: RowContext) => ReadDate | undefined;

function isWord(source: string): boolean {
  return Object.hasOwn(WORDS, source);
}

function options(argument: DateArgument): DateOptions & { readonly formats: readonly string[] } {
  const full = typeof argument === 'object' && 'formats' in argument ? argument : { formats: argument };
  return { ...full, formats: [full.formats].flat() };
}

function dateWords({ formats, timezone, as }: ReturnType<typeof options>, defaults: Defaults): string {
  const written = formats.map((source) => (isWord(source) ? WORDS[source]! : `as ${valueText(source)}`)).join(' or ');
  const zone = timezone ?? defaults.timezone;
  const hasZone = zone !== undefined && formats.some((source) => !source.startsWith('unix'));
  return `reads dates written ${written}${as === 'date' ? ', without the time' : hasZone ? `, in the time zone ${zone}` : ''}`;
}

/** With `iso`, some texts may have an offset and others not: that is checked per record. */
function checkZone({ formats, timezone, as }: ReturnType<typeof options>, defaults: Defaults): Problem[] {
  if (as === 'date' || (timezone ?? defaults.timezone) !== undefined) return [];
  const isLocal = (source: string): boolean =>
    isWord(source) ? source === 'excel' : !compileFormat(source, 'en').hasOffset;
  const without = formats.find(isLocal);
  if (without === undefined) return [];
  const message = `\`${without}\` has no offset and no time zone is set`;
  const hint = 'set `defaults.timezone` to an IANA name such as Europe/Rome, or use `as: date` if only the day matters';
  return [new Problem({ code: 'no_timezone', message, hint })];
}

function compileDate({ formats, timezone, locale, as }: ReturnType<typeof options>, { defaults }: TransformContext) {
  const zone = timezone ?? defaults.timezone;
  const inZone = zone === undefined ? undefined : zoneReader(zone);
  const readers = formats.map((source) => compileReader(source, locale ?? defaults.locale ?? 'en', zone));
  const offsetAt = zone === undefined ? undefined : zoneOffset(zone);
  const finish =
    as === 'date'
      ? (read: ReadDate, text: string) => dayOf(read, text, offsetAt)
      : (read: ReadDate, text: string, row: RowContext) => instantOf(read, text, inZone, row);
  const known = quoted(formats);
  const hasShortYear = formats.map((source) => !isWord(source) && compileFormat(source, 'en').hasShortYear);
  return onText((text, row) => {
    for (let index = 0; index < readers.length; index += 1) {
      const read = readers[index]!(text, row);
      if (read === undefined) continue;
      const result = finish(read, text, row);
      if (typeof result === 'string') {
        warnIfReadDifferently(text, read, readers, index, row);
        if (hasShortYear[index]) warnIfLate(text, read, row);
        warnIfFar(text, result, row);
      }
      return result;
    }
    return issueOf('bad_date', valueText(text), known).with({ hint: hintFor(text) });
  });
}

function compileReader(source: string, locale: string, zone: string | undefined): DateReader {
  if (source === 'iso') return readIso;
  if (source === 'excel') return readSerial;
  const offset = zone === undefined ? () => 0 : zoneOffset(zone);
  if (source === 'unix') return (text) => readUnix(text, 1000, offset);
  if (source === 'unix_ms') return (text, row) => readMilliseconds(text, offset, row);
  return compileFormat(source, locale).read;
}

function readUnix(text: string, compilation: number, offsetAt: ZoneOffset): ReadDate | undefined {
  if (!/^-?\d{1,15}(?:\.\d+)?$/.test(text)) return undefined;
  const instant = Math.floor(Number(text) * compilation + 0.001);
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

/** `01/06/2026` can match two formats: the first is used, with a warning that the second gives another day. */
function warnIfReadDifferently(
  text: string,
  read: ReadDate,
  readers: readonly DateReader[],
  index: number,
  row: RowContext,
): void {
  for (let next = index + 1; next < readers.length; next += 1) {
    const other = readers[next]!(text);
    if (other === undefined || (other.local === read.local && other.offset === read.offset)) continue;
    row.report(issueOf('ambiguous_date', valueText(text)));
    return;
  }
}

function hintFor(text: string): string | undefined {
  if (/^\d{5}$/.test(text)) return 'for the number of a day in a spreadsheet, use the format `excel`';
  if (/^\d{10}$/.test(text)) return 'for seconds since 1970, use the format `unix`';
  if (/^\d{13}$/.test(text)) return 'for milliseconds since 1970, use the format `unix_ms`';
  if (readIso(text)) return 'use the format `iso`';
  return undefined;
}
