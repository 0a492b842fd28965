/** The final text of a run, and helpers shared by other texts. */
import { relative } from 'node:path';
import { EVENT_TYPES } from '../model.ts';
import type { CodeExample } from './error-report.ts';
import { explain } from './explain.ts';
import type { EventCounts, Summary } from './summary.ts';

/** The accounting identity as table headings: every row adds up. */
const COLUMNS = [
  ['total', 'total'],
  ['acknowledged', '= acknowledged'],
  ['duplicates', '+ duplicates'],
  ['invalid', '+ invalid'],
  ['rejected', '+ rejected'],
  ['blocked', '+ blocked'],
  ['pending', '+ pending'],
] as const satisfies readonly (readonly [keyof EventCounts, string])[];

/** A table whose first column is left-aligned, the others right-aligned. */
export function table(rows: readonly (readonly string[])[], gap = '  '): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join(gap))
    .map((line) => line.trimEnd())
    .join('\n');
}

/**
 * The counts of events by type. On a narrow terminal, columns that are always zero are left out; if the table is still
 * too wide, it is transposed, so that each column adds up.
 */
export function countsTable(summary: Pick<Summary, 'by_type' | 'events'>, columns = 100): string {
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
      ...lines.map(({ name, counts }) => [name, ...shown.map(([column]) => String(counts[column]))]),
    ],
    columns >= 100 ? '  ' : ' ',
  );
  if (wide.indexOf('\n') <= columns) return wide;
  const [, ...parts] = shown;
  const words = lines.map(({ name }) => name.split('/'));
  return table([
    ['', ...words.map(([entity, action]) => (action === undefined ? '' : entity!))],
    ['', ...words.map(([entity, action]) => action ?? entity!)],
    ...parts.map(([column, head]) => [head.replace('=', ' '), ...lines.map(({ counts }) => String(counts[column]))]),
    ['= total', ...lines.map(({ counts }) => String(counts.total))],
  ]);
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

/** Wraps a text at spaces; every line starts with `indent`. */
export function wrapped(text: string, columns: number, indent = ''): string {
  const width = Math.max(40, columns) - indent.length;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => indent + each).join('\n');
}

/** `1 event`, `2 events`, `1,234 events`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** A path relative to the working directory if that is shorter. */
export function shortPath(path: string): string {
  const fromHere = relative('', path);
  return fromHere !== '' && fromHere.length < path.length ? fromHere : path;
}

const MAX_CODES = 12;

/**
 * Codes with their counts, most frequent first, with the first places and message of each if known. Like `errors.csv`,
 * the text may contain field values.
 */
export function codesText(
  counts: Readonly<Record<string, number>>,
  examples: ReadonlyMap<string, CodeExample>,
  columns: number,
): string {
  const rows = Object.entries(counts).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0], 'en'));
  const width = Math.max(...rows.map(([, count]) => count.toLocaleString('en').length));
  const indent = ' '.repeat(width + 4);
  const shown = rows.slice(0, MAX_CODES).map(([code, count]) => {
    const example = examples.get(code);
    const head = `  ${count.toLocaleString('en').padStart(width)}  ${code}`;
    return [head, ...(example ? exampleLines(code, example, columns, indent) : [])].join('\n');
  });
  const more = rows.length - shown.length;
  return [...shown, ...(more > 0 ? [`${indent}and ${counted(more, 'more code')}; see errors.csv`] : [])].join('\n');
}

function exampleLines(code: string, { issue, places }: CodeExample, columns: number, indent: string): string[] {
  const at = places.map(({ file, line, record }) => (line > 0 ? `${file}:${line}` : `${file} record ${record}`));
  const where = at.length > 0 ? `${at.join(', ')}: ` : '';
  const { what, fix } = explain(code, issue.severity === 'error' ? issue.kind : undefined);
  const hint = issue.hint ?? `${fix.charAt(0).toLowerCase()}${fix.slice(1).replace(/\.$/, '')}`;
  const message = issue.message === code ? what : issue.message;
  return [
    ...(message === '' ? [] : [wrapped(`${where}${message}`, columns, indent)]),
    ...(hint === '' ? [] : [wrapped(`hint: ${hint}`, columns, indent)]),
  ];
}

export const ENDINGS: Readonly<Record<string, string>> = {
  done: 'Done: all selected events are acknowledged.',
  rejected: 'Finished, but the service rejected some events.',
  blocked: 'Finished, but some events are blocked because their parent was not accepted.',
  invalid: 'Finished, but some events are invalid.',
  unreadable: 'Finished, but some records could not be read.',
  changed: 'Finished. Some records have changed in the export since they were acknowledged; see `if_changed`.',
  too_many_invalid: 'Nothing was sent: there are more invalid events than --max-errors allows.',
};

const DRY_ENDINGS: Readonly<Record<string, string>> = {
  done: 'No problems found. Nothing was sent.',
  invalid: 'Problems found: some events are invalid. Nothing was sent.',
  blocked: 'Problems found: some events have no parent. Nothing was sent.',
  unreadable: 'Problems found: some records could not be read. Nothing was sent.',
  rejected: 'The service rejected some of these events in an earlier run. Nothing was sent.',
  changed: 'Some records have changed in the export since they were acknowledged. Nothing was sent.',
};

/** The result in a single line, for `--quiet`. */
export function briefText(summary: Summary): string {
  const { events, dry_run: dry, exit, files } = summary;
  const ending = (dry ? DRY_ENDINGS : ENDINGS)[exit.reason] ?? exit.reason;
  const failed = events.invalid + events.rejected + events.blocked;
  return `${ending} ${counted(events.total, 'event')}, ${failed.toLocaleString('en')} not accepted; see ${shortPath(files.errors)}`;
}

/** What the final text contains beside the summary. */
export interface EndTextOptions {
  /** The first issue of each code. */
  readonly examples: ReadonlyMap<string, CodeExample>;
  readonly columns: number;
  /** The next steps, with their commands. */
  readonly next: readonly string[];
}

/** The final text of a run: how it ended, the counts, the problems and how to fix them, and the next steps. */
export function endText(summary: Summary, { examples, columns, next }: EndTextOptions): string {
  const { events, records, this_run: run, files } = summary;
  const ending = (summary.dry_run ? DRY_ENDINGS : ENDINGS)[summary.exit.reason];
  const parts = [...(ending ? [ending] : []), countsTable(summary, columns)];
  if (records.unreadable + records.skipped > 0) {
    parts.push(
      `records: ${records.read} read = ${records.mapped} mapped + ${records.skipped} skipped + ${records.unreadable} unreadable`,
    );
  }
  if (events.gone > 0) parts.push(`${counted(events.gone, 'event')} acknowledged earlier and no longer in the input`);
  if (Object.keys(summary.errors_by_code).length > 0) {
    parts.push(`errors\n${codesText(summary.errors_by_code, examples, columns)}`);
  }
  if (Object.keys(summary.warnings_by_code).length > 0) {
    parts.push(`warnings\n${codesText(summary.warnings_by_code, examples, columns)}`);
  }
  if (!summary.dry_run) {
    parts.push(
      `this run: ${counted(run.requests, 'request')}, ${counted(run.events_sent, 'event')} sent, ` +
        `${run.retries} retries, rate-limited ${run.rate_limited} times, ${durationText(run.seconds)}`,
    );
  }
  const failed = events.invalid + events.rejected + events.blocked + records.unreadable > 0;
  const look = [
    ...(files.report === null ? [] : [['report', files.report]]),
    ...(failed ? [['errors', files.errors]] : []),
    ...(failed ? [['rejects', files.errors.replace(/errors\.csv$/, 'rejects')]] : []),
  ];
  if (look.length > 0) parts.push(look.map(([name, path]) => `${name!.padEnd(8)} ${shortPath(path!)}`).join('\n'));
  if (next.length > 0) parts.push(next.join('\n'));
  return parts.join('\n\n');
}
