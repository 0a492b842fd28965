/** Helpers shared by the texts for people. */
import { EVENT_TYPES } from '../kinds/index.ts';
import type { EventType, Place } from '../model.ts';
import { table } from '../terminal/layout.ts';
import { oneLine } from '../terminal/visible.ts';
import { inSentence } from '../vocabulary/sentence.ts';
import { meaningOf } from '../vocabulary/words.ts';
import type { Finding } from './findings.ts';
import type { PriorityCounts } from './summary.ts';
import { OUTCOME_NAMES, type EventCounts } from '../vocabulary/terms.ts';
import { counted, numberText } from '../terminal/numbers.ts';

export { shortPath } from '../input/files.ts';

/** The accounting identity as table headings: every row adds up. */
const COLUMNS: readonly (readonly [keyof EventCounts, string])[] = [
  ['total', 'total'],
  ...OUTCOME_NAMES.map((name, at) => [name, `${at === 0 ? '=' : '+'} ${name}`] as const),
];

/**
 * The counts of events by type. On a narrow terminal, columns that are always zero are left out; if the table is still
 * too wide, it is transposed, so that each column adds up.
 */
export function countsTable(
  summary: { readonly by_type: Readonly<Record<EventType, EventCounts>>; readonly events: EventCounts },
  columns = 100,
): string {
  const types = EVENT_TYPES.flatMap((type): { name: string; counts: EventCounts }[] => {
    const counts = summary.by_type[type];
    return counts ? [{ name: type, counts }] : [];
  });
  const shown = COLUMNS.filter(
    ([name]) => columns >= 100 || name === 'total' || name === 'acknowledged' || summary.events[name] > 0,
  );
  const lines = types.length === 1 ? types : [...types, { name: 'all', counts: summary.events }];
  const wide = table(
    [
      ['', ...shown.map(([, head]) => head)],
      ...lines.map(({ name, counts }) => [name, ...shown.map(([column]) => numberText(counts[column]))]),
    ],
    columns >= 100 ? '  ' : ' ',
  );
  if (wide.indexOf('\n') <= columns) return wide;
  const [, ...parts] = shown;
  const words = lines.map(({ name }) => name.split('/'));
  return table([
    ['', ...words.map(([entity, action]) => (action === undefined ? '' : entity!))],
    ['', ...words.map(([entity, action]) => action ?? entity!)],
    ...parts.map(([column, head]) => [
      head.replace('=', ' '),
      ...lines.map(({ counts }) => numberText(counts[column])),
    ]),
    ['= total', ...lines.map(({ counts }) => numberText(counts.total))],
  ]);
}

const MOST_PRIORITY_ROWS = 10;

/** A table of the priorities and when each is done; empty if there is only one. */
export function prioritiesTable(priorities: readonly PriorityCounts[], now: Date): string {
  if (priorities.length < 2) return '';
  const more = priorities.length - MOST_PRIORITY_ROWS;
  return [
    table([
      ['priority', 'events', 'acknowledged', 'done'],
      ...priorities
        .slice(0, MOST_PRIORITY_ROWS)
        .map((each) => [
          String(each.priority),
          numberText(each.events),
          numberText(each.acknowledged),
          priorityDone(each, now),
        ]),
    ]),
    ...(more > 0 ? [`and ${numberText(more)} with lower priority`] : []),
  ].join('\n');
}

/** `about Tue 14:20` while it lies ahead. */
function priorityDone({ done_at: at }: PriorityCounts, now: Date): string {
  if (at === null) return '–';
  const time = new Date(at);
  return time > now ? `about ${clockText(time, now)}` : clockText(time, now);
}

/** `1 h 40 min`, `2 d 3 h`, `45 s`. */
export function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.ceil(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A local time relative to `now`: `21:40`, `Tue 03:12`, `24 Nov 03:12`. */
export function clockText(time: Date, now: Date): string {
  const days = (time.getTime() - now.getTime()) / 86_400_000;
  const isToday = time.toDateString() === now.toDateString();
  const day: Intl.DateTimeFormatOptions =
    days > 6 || days < -1 ? { day: 'numeric', month: 'short' } : { weekday: 'short' };
  const format = new Intl.DateTimeFormat('en-GB', {
    ...(isToday ? {} : day),
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return format.format(time).replace(',', '');
}

/** What happened `count` times, and further lines about it. */
export interface CountedText {
  readonly count: number;
  readonly text: string;
  readonly details?: readonly string[];
}

const MAX_COUNTED = 12;

/** The first of these with their counts. `noun`: what they are, for the line about those that are not shown. */
export function countedList(rows: readonly CountedText[], noun: string): string {
  const width = Math.max(...rows.map(({ count }) => numberText(count).length));
  const indent = ' '.repeat(width + 4);
  const shown = rows.slice(0, MAX_COUNTED).map(({ count, text, details = [] }) => {
    return [
      `  ${numberText(count).padStart(width)}  ${oneLine(text)}`,
      ...details.map((line) => indent + oneLine(line)),
    ].join('\n');
  });
  const more = rows.length - shown.length;
  return [...shown, ...(more > 0 ? [`${indent}and ${counted(more, `more ${noun}`)}`] : [])].join('\n');
}

/**
 * Findings with their counts, each with its first places, message and hint. Like `errors.csv`, the text may contain field values.
 * `isSaid`: its message stands on the screen already.
 */
export function findingsText(findings: readonly (Finding & { readonly isSaid?: boolean })[]): string {
  const rows = findings.map((finding) => {
    const name =
      finding.severity === 'omission' ? `${typesOf(finding)} ${finding.field}: ${finding.code}` : finding.code;
    return { count: finding.count, text: `${name}${shareText(finding)}`, details: exampleLines(finding) };
  });
  return countedList(rows, 'code');
}

/** Of fewer, and of a smaller share, the count says enough. */
const LEAST_SHARED = 10;
const LEAST_PERCENT = 10;

/** ` (12 %)`, of a finding that concerns many of its events. */
export function shareText({ count, share }: Finding): string {
  const percent = Math.floor((share ?? 0) * 100);
  return count < LEAST_SHARED || percent < LEAST_PERCENT ? '' : ` (${percent} %)`;
}

/** `deal/created`; `record` for whole records and the input. */
export function typesOf({ types }: Finding): string {
  return Object.keys(types)
    .map((type) => type || 'record')
    .join(', ');
}

/** `contacts.csv:17`, or the number of the record if there is no line number. */
export function placeText({ file, line, record }: Omit<Place, 'source'>): string {
  return line > 0 ? `${file}:${line}` : `${file} record ${record}`;
}

const MOST_PLACES = 3;

function exampleLines({
  examples: [first, ...others],
  severity,
  code,
  isSaid = false,
}: Finding & { readonly isSaid?: boolean }): string[] {
  if (!first) return [];
  const { fix } = meaningOf(code, 'map');
  const hint = severity === 'omission' ? inSentence(fix) || null : first.hint;
  const same = [first, ...others].filter(({ file, message }) => file !== '' && message === first.message);
  const where = same.length > 0 ? `${same.slice(0, MOST_PLACES).map(placeText).join(', ')}: ` : '';
  return [...(isSaid ? [] : [`${where}${first.message}`]), ...(hint === null ? [] : [`hint: ${hint}`])];
}
