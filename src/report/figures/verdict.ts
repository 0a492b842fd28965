/** How a run or a dry run ended: its first line on every screen and page. Pure. */
import { EXIT } from '../../errors.ts';
import { shortPath } from '../../files/paths.ts';
import { ENTITIES, EVENT_TYPES, kindOf } from '../../kinds/index.ts';
import type { WaitingCounts } from '../../plan/counts.ts';
import type { OmittedCounts } from '../../survey/omitted.ts';
import type { Summary } from './summary.ts';
import { excessText } from './to-fix.ts';
import { counted, numberText, countTexts } from '../words/numbers.ts';
import { clockText, durationText } from '../words/times.ts';
import { placeText, type EventCounts } from '../../model.ts';
import type { RunWait } from '../../store/checkpoint.ts';
import { WAITS, type WaitReason } from '../words/terms.ts';
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

/** `mapping`: the name of its file. */
export function verdictOf(summary: Summary, mapping: string, now: Date): Headline {
  const { exit, events, dry_run: dry, finished_at: finished } = summary;
  if (exit.message !== undefined) {
    const { message, hint, waits_for: wait } = exit;
    const waited = wait
      ? `${waitText(wait)} since ${clockText(new Date(wait.since), now)}${askedText(wait, now)}${becauseText(wait)}`
      : undefined;
    const seconds = summary.estimate_seconds;
    const left = seconds < 60 ? '' : `; the rest takes about ${durationText(seconds)}`;
    const far = dry ? 'nothing was sent' : `${acknowledgedText(events)}${left}`;
    return {
      word: 'STOPPED',
      text: ` at ${clockText(new Date(finished), now)}: ${message}   (exit code ${exit.code})`,
      mood: 'failed',
      details: [waited, hint, far].filter((text) => text !== undefined),
    };
  }
  const mood = moodOf(summary);
  const why = problemText(summary);
  if (dry) {
    const clean = isClean(summary) ? 'no problems found' : 'check the warnings';
    const found = STATES.includes(exit.reason) ? '' : `; ${why ?? clean}`;
    const text = ` of ${mapping}: nothing was sent${found}. ${recordsText(summary.records)}`;
    return { word: 'DRY RUN', text, mood, details: [] };
  }
  if (UNSENT.includes(exit.reason)) {
    return { word: 'NOT STARTED', text: `: nothing was sent; ${why}`, mood: 'failed', details: [] };
  }
  const { seconds, events_sent: sent } = summary.this_run;
  const share =
    sent > 0
      ? acknowledgedText(events, ` in ${durationText(seconds)}`)
      : `${acknowledgedText(events)}; nothing was left to send`;
  const isPilot = events.pending > 0 && summary.pilot !== null;
  const done = why !== undefined ? 'FINISHED' : events.pending > 0 && !isPilot ? 'PART DONE' : 'DONE';
  const beside = why === undefined ? besideText(summary) : [why];
  const text = `   ${[share, ...beside].join('; ')}`;
  return { word: `${isPilot ? 'PILOT ' : ''}${done}`, text, mood, details: [] };
}

/** `service down` */
export function waitText({ reason }: RunWait): string {
  return WAITS[reason as WaitReason];
}

/** `, which asks to wait until 23:44`: a run before that is refused. */
function askedText({ reason, next_at: next }: RunWait, now: Date): string {
  const isAsked = reason === ('rate_limited' satisfies WaitReason) && next !== null;
  return isAsked ? `, which asks to wait until ${clockText(new Date(next), now)}` : '';
}

/** `: 500 internal: out of memory` */
export function becauseText({ because }: RunWait): string {
  return because ? `: ${because}` : '';
}

type Acknowledged = Pick<EventCounts, 'acknowledged' | 'total'> & { readonly duplicates?: number };

/** `4 of 5 events acknowledged, 1 is a duplicate`: so that no one misses the duplicates. */
function acknowledgedText({ acknowledged, total, duplicates = 0 }: Acknowledged, took = ''): string {
  const share = `${numberText(acknowledged)} of ${counted(total, 'event')} acknowledged${took}`;
  return duplicates === 0
    ? share
    : `${share}, ${numberText(duplicates)} ${duplicates === 1 ? 'is a duplicate' : 'are duplicates'}`;
}

/** Why it is not done; undefined if it is, or if it was stopped. */
function problemText(summary: Summary): string | undefined {
  const { reason } = summary.exit;
  if (STATES.includes(reason)) return failuresText(summary);
  const difference = DIFFERENCES[reason];
  return FAILURES[reason]?.(summary) ?? (difference && `${changedText(summary)}; ${difference}`);
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

/** `1 acknowledged record differs from what was sent (people.csv:7: email)` */
function changedText({ events: { changed }, first_changed: first }: Summary): string {
  const at = first.map(({ fields, ...place }) => [placeText(place), ...(fields.length > 0 ? [fields.join(', ')] : [])]);
  const places = at.map((each) => each.join(': ')).join('; ');
  const which = places === '' ? '' : ` (${places}${changed > at.length ? '; …' : ''})`;
  return `${counted(changed, 'acknowledged record')} ${changed === 1 ? 'differs' : 'differ'} from what was sent${which}`;
}

/** The code of acknowledged records that have changed, where the verdict says it, so that no list need say it again. */
export function changeSaid({ exit: { reason } }: Summary): string | undefined {
  return DIFFERENCES[reason] === undefined ? undefined : reason;
}

/** By the exit code; a dry run with warnings is not done, and neither is a part of a migration. */
export function moodOf(summary: Summary): Mood {
  const { exit, dry_run: dry, events } = summary;
  if (exit.code !== EXIT.done) return exit.code === EXIT.finishedWithErrors ? 'partly' : 'failed';
  return (dry ? isClean(summary) : events.pending === 0) ? 'done' : 'partly';
}

function isClean({ warnings_by_code: warnings, omitted }: Summary): boolean {
  return Object.keys(warnings).length === 0 && countOmitted(omitted) === 0;
}

function countOmitted(counts: OmittedCounts): number {
  const byReason = Object.values(counts).flatMap((fields) => Object.values(fields));
  return byReason.flatMap((codes) => Object.values(codes)).reduce((sum, count) => sum + count, 0);
}

/** The verdict and where to look, for `--quiet`. */
export function briefText(summary: Summary, { word, text }: Headline): string {
  const { files, omitted, over_max_omitted: excess } = summary;
  const left = countOmitted(omitted);
  return [
    `${word}${text.replace(/ +/g, ' ')}`,
    ...excess.map((each) => excessText(each).message),
    ...countTexts([left, left === 1 ? 'value left out' : 'values left out']),
    `see ${shortPath(files.errors)}`,
  ].join('; ');
}

/** `82 rows read, 1 skipped, 1 unreadable` */
export function recordsText({ read, skipped, unreadable }: Summary['records']): string {
  return [`${counted(read, 'row')} read`, ...countTexts([skipped, 'skipped'], [unreadable, 'unreadable'])].join(', ');
}
