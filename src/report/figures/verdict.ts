/** How a run or a dry run ended: its first line on every screen and page, and the sentence in `status`. Pure. */
import { basename } from 'node:path';
import { EXIT } from '../../errors.ts';
import { shortPath } from '../../files/paths.ts';
import type { HaltReason } from '../../halt.ts';
import { ENTITIES, EVENT_TYPES, kindOf } from '../../kinds/index.ts';
import type { WaitingCounts } from '../../plan/counts.ts';
import type { OmittedCounts } from '../../survey/omitted.ts';
import type { Summary } from './summary.ts';
import { excessText } from './to-fix.ts';
import { counted, numberText, countTexts } from '../words/numbers.ts';
import { clockText, durationText } from '../words/times.ts';
import { placeText, type EventCounts } from '../../model.ts';
import { stopText } from '../words/terms.ts';
import type { Mood, Headline } from './figures.ts';

/** Reasons why a run that ended is not done: the counts say them. */
const STATES: readonly string[] = ['rejected', 'blocked', 'invalid', 'unreadable'];

/** Further reasons. */
const FAILURES: Readonly<Record<string, (summary: Summary) => string>> = {
  unmapped: () => 'some records acknowledged earlier can no longer be mapped',
  same_service_id: () => 'the service answered several records with one id, so it keeps one record for them',
  waiting: ({ waiting }) => waitingText(waiting),
  too_many_invalid: (summary) => `${failuresText(summary)}: too many to start (--max-errors)`,
  too_many_omitted: () => 'more values would be left out than --max-omitted allows',
};

/** Why acknowledged records are not as the export says, and what to do. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  changed: 'changes.csv lists each field, and `if_changed: update` sends them',
  emptied:
    'fields that the export no longer has keep their value in the service, because ingestion cannot clear them (changes.csv)',
  comment_changed: 'comments changed after they were sent, and cannot be corrected (changes.csv)',
  not_comparable: 'the service shows values in a form that cannot be compared (changes.csv)',
};

/** Reasons for which a run sends nothing. */
const UNSENT: readonly string[] = ['too_many_invalid', 'too_many_omitted'];

interface VerdictContext {
  /** The mapping file. */
  readonly mapping: string;
  readonly halt?: HaltReason | undefined;
  readonly now: Date;
}

export function verdictOf(summary: Summary, context: VerdictContext): Headline {
  if (context.halt) return stopVerdict(summary, context.halt, context.now);
  const of = ` of ${basename(context.mapping)}`;
  const { exit, events } = summary;
  const why = problemText(summary);
  if (summary.dry_run) {
    const found = STATES.includes(exit.reason)
      ? ''
      : `; ${why ?? (isClean(summary) ? 'no problems found' : 'warnings to check')}`;
    const rows = recordsText(summary.records);
    return { word: 'DRY RUN', text: `${of}: nothing was sent${found}. ${rows}`, mood: moodOf(summary), details: [] };
  }
  if (UNSENT.includes(exit.reason)) {
    return { word: 'NOT STARTED', text: `: nothing was sent; ${why}`, mood: 'failed', details: [] };
  }
  const { seconds, events_sent: sent } = summary.this_run;
  const share =
    sent > 0
      ? acknowledgedText(events, ` in ${durationText(seconds)}`)
      : `${acknowledgedText(events)}; nothing was left to send`;
  const word = why === undefined ? 'DONE' : 'FINISHED';
  const beside = why === undefined ? besideText(summary) : [why];
  return { word, text: `   ${[share, ...beside].join('; ')}`, mood: moodOf(summary), details: [] };
}

function stopVerdict(summary: Summary, halt: HaltReason, now: Date): Headline {
  const { events, dry_run: dry } = summary;
  const far = dry ? 'nothing was sent' : acknowledgedText(events);
  return {
    word: 'STOPPED',
    text: ` at ${clockText(new Date(summary.finished_at), now)}: ${halt.message}   (exit code ${halt.exitCode})`,
    mood: 'failed',
    details: [far, ...(halt.hint ? [halt.hint] : [])],
  };
}

type Acknowledged = Pick<EventCounts, 'acknowledged' | 'total'> & { readonly duplicates?: number };

/** `4 of 5 events acknowledged, 1 is a duplicate`: so that no one misses the duplicates. */
function acknowledgedText({ acknowledged, total, duplicates = 0 }: Acknowledged, took = ''): string {
  const share = `${numberText(acknowledged)} of ${counted(total, 'event')} acknowledged${took}`;
  return duplicates === 0
    ? share
    : `${share}, ${numberText(duplicates)} ${duplicates === 1 ? 'is a duplicate' : 'are duplicates'}`;
}

/** The same in one sentence, for `status`, `--quiet` and messages. */
export function resultText(summary: Summary): string {
  const { reason } = summary.exit;
  const why = problemText(summary);
  if (summary.dry_run) {
    if (why === undefined && reason !== 'done') return `The dry run was stopped: ${stopText(reason)}.`;
    return `Dry run: ${why ?? (isClean(summary) ? 'no problems found' : 'no errors found, but warnings')}. Nothing was sent.`;
  }
  if (UNSENT.includes(reason)) return `Nothing was sent: ${why}.`;
  if (why !== undefined) return `Finished, but ${why}.`;
  if (reason !== 'done') return `Stopped before the end: ${stopText(reason)}. Rerun to resume.`;
  return `${doneText(summary)}.`;
}

/** Why it is not done; undefined if it is, or if it was stopped. */
function problemText(summary: Summary): string | undefined {
  const { reason } = summary.exit;
  if (STATES.includes(reason)) return failuresText(summary);
  const difference = DIFFERENCES[reason];
  return FAILURES[reason]?.(summary) ?? (difference && `${changedText(summary)}; ${difference}`);
}

function doneText(summary: Summary): string {
  const all = summary.events.pending > 0 ? 'all selected events' : 'all events';
  return [`Done: ${all} are acknowledged`, ...besideText(summary)].join('; ');
}

/** Records that are not in the service although the run is done. The same line names them. */
function besideText({ events, omitted }: Summary): string[] {
  const left = countOmitted(omitted);
  return [
    ...(events.pending > 0 ? [`${counted(events.pending, 'event')} not selected`] : []),
    ...(left > 0 ? [`${counted(left, 'value')} left out (left_out.csv)`] : []),
  ];
}

/** `6 events are invalid, 7 are blocked by their parents and 1 record could not be read`: the states add up. */
function failuresText({ dry_run: dry, events, records, errors_by_code: errors }: Summary): string {
  const uncertain = Math.min(events.rejected, errors.uncertain ?? 0);
  return countTexts(
    [uncertain, 'uncertain'],
    [events.rejected - uncertain, `rejected by the service${dry ? ' in an earlier run' : ''}`],
    [events.invalid, 'invalid'],
    [events.blocked, 'blocked'],
    [records.unreadable, records.unreadable === 1 ? 'row unreadable' : 'rows unreadable'],
  ).join(', ');
}

/** `19 deal/created events wait for leads that are neither selected nor acknowledged`. */
function waitingText(waiting: WaitingCounts): string {
  const waits = EVENT_TYPES.flatMap((type) =>
    ENTITIES.flatMap((entity) => {
      const count = waiting[type]?.[entity] ?? 0;
      return count === 0
        ? []
        : [`${counted(count, `${type} event`)} ${count === 1 ? 'waits' : 'wait'} for ${kindOf(entity).words[1]}`];
    }),
  );
  return `${waits.join(', ')} that are neither selected nor acknowledged`;
}

/** `1 acknowledged record has changed in the export (people.csv:7: email)` */
function changedText({ events: { changed }, difference: { by, first } = { by: null, first: [] } }: Summary): string {
  const records = counted(changed, 'acknowledged record');
  const at = first.map((each) =>
    [placeText(each), ...(each.fields.length > 0 ? [each.fields.join(', ')] : [])].join(': '),
  );
  const places = at.length === 0 ? '' : ` (${at.join('; ')}${changed > at.length ? '; …' : ''})`;
  if (by === 'export') return `${records} ${changed === 1 ? 'has' : 'have'} changed in the export${places}`;
  const cause = by === null ? 'export or the mapping' : by;
  return `${records} ${changed === 1 ? 'differs' : 'differ'} from what was sent${places}: the ${cause} has changed since`;
}

/** The code of acknowledged records that have changed, where the verdict says it, so that no list need say it again. */
export function changeSaid({ exit: { reason } }: Summary): string | undefined {
  return DIFFERENCES[reason] === undefined ? undefined : reason;
}

/** By the exit code; a dry run with warnings is not done. */
export function moodOf(summary: Summary): Mood {
  const { code } = summary.exit;
  if (code !== EXIT.done) return code === EXIT.finishedWithErrors ? 'partly' : 'failed';
  return summary.dry_run && !isClean(summary) ? 'partly' : 'done';
}

function isClean({ warnings_by_code: warnings, omitted }: Summary): boolean {
  return Object.keys(warnings).length === 0 && countOmitted(omitted) === 0;
}

function countOmitted(counts: OmittedCounts): number {
  const byReason = Object.values(counts).flatMap((fields) => Object.values(fields));
  return byReason.flatMap((codes) => Object.values(codes)).reduce((sum, count) => sum + count, 0);
}

/** The result in a single line, for `--quiet`. */
export function briefText(summary: Summary): string {
  const { events, files, omitted, over_max_omitted: excess } = summary;
  const failed = events.invalid + events.rejected + events.blocked;
  const left = countOmitted(omitted);
  return [
    resultText(summary),
    ...excess.map((each) => `${excessText(each).message}.`),
    `${counted(events.total, 'event')}, ${numberText(failed)} not accepted`,
  ]
    .join(' ')
    .concat(left > 0 ? `, ${counted(left, 'value')} left out` : '', `; see ${shortPath(files.errors)}`);
}

/** `82 rows read, 1 skipped, 1 unreadable` */
export function recordsText({ read, skipped, unreadable }: Summary['records']): string {
  return [`${counted(read, 'row')} read`, ...countTexts([skipped, 'skipped'], [unreadable, 'unreadable'])].join(', ');
}
