/** The `defaults` of a mapping, from evidence in all exports: what nobody can know but the user. */
import { countryCode } from '../../../mapping/transforms/countries.ts';
import { counted } from '../../../report/words/numbers.ts';
import type { QuestionChoice } from '../../../report/print/ask.ts';
import type { Column } from '../columns.ts';
import { isReadable, isUnix } from '../dates.ts';
import { NONE } from '../evidence.ts';
import type { KnownTables } from '../relations/joins.ts';
import type { RegionGuess } from './region.ts';
import { timeOf } from '../matrix/roles.ts';
import type { Samples } from '../tables.ts';
import type { AnswerChoice, Answers } from './answers.ts';
import { flow, isOpen, plainComment, type Line } from './yaml.ts';

/** A line of `defaults`, and what else it may be. */
interface Default {
  readonly line: Line;
  readonly candidates: readonly QuestionChoice[];
  /** The question, where the candidates have the figures of the comment. */
  readonly asks?: string;
  /** Why a text is no value of it, and the value that a text means. */
  readonly mistake: (text: string) => string | undefined;
  readonly read?: (text: string) => unknown;
  /** What happens without it; undefined if it cannot be left out. */
  readonly without?: string;
  /** What it is where the user has named another country. */
  readonly ofCountry?: (country: string) => Default;
}

export function defaultsOf(
  { tables, drafts }: Pick<KnownTables, 'tables' | 'drafts'>,
  missing: Samples['missing'],
  region: RegionGuess,
): Default[] {
  const columns = tables.flatMap((table) => table.columns);
  const times = drafts.flatMap(({ roles, kind }) => roles.get(timeOf(kind))?.column ?? []);
  const local = columns.filter((column) => hasNoOffset(column, times.includes(column)));
  const mistake = (text: string): string | undefined =>
    countryCode(text) === undefined ? 'the name of a country, or its two letters, such as IT' : undefined;
  const read = (text: string): unknown => countryCode(text) ?? text;
  const without = `leave it out: these phone numbers are then left out too, and a run needs \`--max-omitted ${region.national}\``;
  const zoneIn = (country: string | undefined): Default => zoneOf(columns, local.length > 0, country);
  return [
    { ...region, mistake, read, without },
    { ...zoneIn(region.country), ofCountry: zoneIn },
    ...missingOf(missing),
  ];
}

/** The lines of `defaults`, with the user's answers in place of marks. */
export async function askDefaults(defaults: readonly Default[], answers: Answers): Promise<Line[]> {
  const lines: Line[] = [];
  for (const each of defaults) {
    const country = lines.find(({ key, off }) => key === 'region' && !off)?.value as string | undefined;
    const {
      line,
      candidates,
      asks,
      mistake,
      read = (text: string) => text,
      without,
    } = (country !== undefined && each.ofCountry?.(country)) || each;
    const { key, off } = line;
    const value = flow(line.value);
    const isListed = candidates.some((one) => one.value === line.value);
    const as = { value, label: `as proposed: ${value}`, then: () => ({ ...line, comment: plainComment(line) }) };
    const out = {
      value: 'out',
      label: without ?? '',
      then: () => ({ key, value: line.value, off: true, comment: 'left out' }),
    };
    const choices: AnswerChoice<Line>[] = [
      ...(off || isListed ? [] : [as]),
      ...candidates.map((one) => ({ ...one, then: () => ({ key, value: one.value }) })),
      {
        value: value === NONE ? 'IT' : value,
        label: 'other: type it',
        mistake,
        then: (text) => ({ key, value: read(text) }),
      },
      ...(without === undefined ? [] : [out]),
    ];
    const proposal = off && without !== undefined && candidates.length === 0 ? choices.length - 1 : 0;
    const text = `all files\n${key}: ${candidates.length > 0 && asks ? asks : plainComment(line)}`;
    lines.push((isOpen(line) && (await answers.to({ name: key, text, choices, proposal }))) || line);
  }
  return lines;
}

/** The texts that mean no value, as the user has decided. */
export function missingIn(defaults: readonly Line[]): readonly string[] {
  const line = defaults.find(({ key, off }) => key === 'missing_values' && !off);
  return (line?.value as string[] | undefined)?.filter(Boolean) ?? [];
}

function missingOf(missing: Samples['missing']): Default[] {
  if (missing.size === 0) return [];
  const found = [...missing].map(([text, count]) => `${flow(text)} in ${counted(count, 'cell')}`);
  const comment = `check: read as empty: ${found.join(', ')}`;
  return [
    {
      line: { key: 'missing_values', value: ['', ...missing.keys()], comment },
      candidates: [],
      mistake: (text) => (text === '' ? 'texts that mean no value, separated by commas' : undefined),
      // As the proposal is written, too: `['', '-']`.
      read: (text) => [
        '',
        ...text
          .replace(/^\[(.*)\]$/, '$1')
          .split(',')
          .map((each) => each.trim().replace(/^'(.*)'$/, '$1'))
          .filter(Boolean),
      ],
      without: 'leave it out: these texts are kept as values',
    },
  ];
}

/** `isNeeded`: some times have no offset. `country`: that of phone numbers or addresses, if it is clear. */
function zoneOf(columns: readonly Column[], isNeeded: boolean, country: string | undefined): Default {
  const key = 'timezone';
  const mistake = (text: string): string | undefined =>
    isZone(text) ? undefined : 'a time zone is written as Europe/Rome or UTC';
  if (!isNeeded)
    return { line: { key, value: 'UTC', comment: 'not needed: no date lacks an offset' }, candidates: [], mistake };
  const zone = country === undefined ? undefined : onlyZone(country);
  // APIs write the offset of UTC for every zone.
  const own = zone === undefined ? [] : ['+00:00', ...offsetsOf(zone)];
  const other = columns
    .flatMap(({ date, values }) => (date?.hasTime ? values : []))
    .map((value) => /\d\d:\d\d(?::\d\d(?:\.\d+)?)?([+-]\d\d):?(\d\d)$/.exec(value)?.slice(1).join(':'))
    .find((offset) => offset !== undefined && !own.includes(offset));
  const isClear = zone !== undefined && other === undefined;
  const conflict = zone === undefined ? '' : `; the country is ${country}, but dates have the offset ${other}`;
  const comment = isClear
    ? `check: the time zone of dates without an offset; ${country} has only one time zone`
    : `set this: the time zone of dates without an offset, such as Europe/Rome${conflict}`;
  const value = isClear ? zone : 'UTC';
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const labels = new Map([...(zone === undefined ? [] : [zone]), 'UTC'].map((each) => [each, each]));
  if (!labels.has(here)) labels.set(here, `${here}: the time zone of this computer`);
  labels.delete(value);
  const candidates = [...labels].map(([name, label]) => ({ value: name, label }));
  return { line: { key, value, comment }, candidates, mistake };
}

function isZone(text: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Undefined if the country has zones with different times. */
function onlyZone(country: string): string | undefined {
  // Node 20 has the property, later versions the method.
  const locale = new Intl.Locale(`und-${country}`) as { timeZones?: string[]; getTimeZones?(): string[] };
  const [first, ...others] = locale.getTimeZones?.() ?? locale.timeZones ?? [];
  if (first === undefined) return undefined;
  const times = offsetsOf(first).join();
  return others.every((zone) => offsetsOf(zone).join() === times) ? first : undefined;
}

/** In January and July, as `+01:00`. */
function offsetsOf(timeZone: string): string[] {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  return [0, 6].map((month) => {
    const name = format.formatToParts(new Date(Date.UTC(2024, month, 1))).find(({ type }) => type === 'timeZoneName');
    return name?.value.replace('GMT', '') || '+00:00';
  });
}

/** Whether the zone decides what a column's values mean: a day alone is one everywhere, unless it is the time of the record. */
function hasNoOffset({ date, values, list, isWrapper }: Column, isTime: boolean): boolean {
  if (date === undefined || isUnix(date) || list !== undefined || isWrapper) return false;
  if (!isTime && (!date.hasTime || !isReadable(date, values))) return false;
  return values.some((value) => !/(?:Z|UTC|[+-]\d\d:?\d\d)$/.test(value) || /^\d+-\d+-\d+$/.test(value));
}
