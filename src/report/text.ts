import { EVENT_TYPES } from '../model.ts';
import type { EventCounts, Summary } from './summary.ts';

const COLUMNS = ['total', 'acknowledged', 'duplicates', 'invalid', 'rejected', 'blocked', 'pending'] as const;

/** Rows of equal columns: the first to the left, the others to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Where every event stands, by type; each line adds up to its total. */
export function countsTable(summary: Pick<Summary, 'by_type' | 'events'>): string {
  const line = (name: string, counts: EventCounts): string[] => [name, ...COLUMNS.map((each) => String(counts[each]))];
  const types = EVENT_TYPES.flatMap((type) => {
    const counts = summary.by_type[type];
    return counts ? [line(type, counts)] : [];
  });
  return table([['', ...COLUMNS], ...types, line('all', summary.events)]);
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

/** Codes and their counts, the most frequent first. */
export function codesTable(counts: Readonly<Record<string, number>>): string {
  const rows = Object.entries(counts).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  return table(rows.map(([code, count]) => [`  ${code}`, String(count)]));
}

export const ENDINGS: Readonly<Record<string, string>> = {
  done: 'Done: everything chosen is acknowledged.',
  rejected: 'Finished, but the service rejected some events.',
  blocked: 'Finished, but some events wait for a parent that was not accepted.',
  invalid: 'Finished, but some events are invalid.',
  unreadable: 'Finished, but some records could not be read.',
  changed:
    'Finished; some records have changed since they were acknowledged (`if_changed` decides what becomes of them).',
  too_many_invalid: 'Nothing was sent: more events are invalid than --max-errors allows.',
};

const DRY_ENDINGS: Readonly<Record<string, string>> = {
  done: 'No problems found. Nothing was sent.',
  invalid: 'Problems found: some events are invalid. Nothing was sent.',
  blocked: 'Problems found: some events have no parent. Nothing was sent.',
  unreadable: 'Problems found: some records could not be read. Nothing was sent.',
  rejected: 'The service rejected some of these events earlier. Nothing was sent.',
  changed: 'Some records have changed since they were acknowledged. Nothing was sent.',
};

/** What a run says at its end: how it ended, the accounts, the errors by code, and where to look. */
export function endText(summary: Summary): string {
  const { events, records, this_run: run } = summary;
  const ending = (summary.dry_run ? DRY_ENDINGS : ENDINGS)[summary.exit.reason];
  const parts = [
    ...(ending ? [ending] : []),
    countsTable(summary),
    `records: ${records.read} read = ${records.mapped} mapped + ${records.skipped} skipped + ${records.unreadable} unreadable`,
  ];
  if (events.gone > 0) parts.push(`${events.gone} events acknowledged earlier are no longer in the input`);
  if (Object.keys(summary.errors_by_code).length > 0) parts.push(`errors\n${codesTable(summary.errors_by_code)}`);
  if (Object.keys(summary.warnings_by_code).length > 0) parts.push(`warnings\n${codesTable(summary.warnings_by_code)}`);
  if (!summary.dry_run) {
    parts.push(
      `this run: ${run.requests} requests, ${run.events_sent} events sent, ${run.retries} retries, ` +
        `${run.rate_limited} times rate-limited, ${durationText(run.seconds)}`,
    );
  }
  if (events.invalid + events.rejected + events.blocked + records.unreadable > 0) {
    parts.push(`what is wrong with each, and how to mend it: ${summary.files.errors}`);
  }
  return parts.join('\n\n');
}
