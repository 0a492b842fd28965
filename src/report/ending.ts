/** How a run ended, in a sentence. */
import { SELECTING_OPTIONS } from '../settings/run-settings.ts';
import { toneOf, type Tone } from '../terminal/console.ts';
import { ENTITIES, EVENT_TYPES, kindOf } from '../kinds/index.ts';
import { countOmitted } from './omitted.ts';
import type { StoredSummary, WaitingCounts } from './summary.ts';
import { counted, numberText } from '../terminal/numbers.ts';
import { stopText } from '../vocabulary/terms.ts';

/** What keeps a run that came to its end from being done. */
const FAILURES: Readonly<Record<string, (summary: StoredSummary) => string>> = {
  rejected: failuresText,
  blocked: failuresText,
  invalid: failuresText,
  unreadable: failuresText,
  unmapped: () => 'some records acknowledged earlier can no longer be mapped',
  waiting: ({ waiting }) => `not all selected events could be sent: ${waitingText(waiting)}`,
  too_many_invalid: (summary) => `${failuresText(summary)}, and --max-errors allows fewer invalid events`,
  too_many_omitted: () => 'more values would be left out than --max-omitted allows',
};

/** Why acknowledged records are not as the export says, and what to do. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  changed: 'see `if_changed`',
  emptied: 'values that were sent are gone from the export, and ingestion cannot clear them (see changes.csv)',
  comment_changed: 'comments changed after they were sent, and cannot be corrected (see changes.csv)',
  not_comparable: 'the service shows values in a form that cannot be compared (see changes.csv)',
};

/** Reasons for which a run sends nothing. */
const UNSENT: readonly string[] = ['too_many_invalid', 'too_many_omitted'];

/** Undefined if the run was stopped before its end. */
export function endingText(summary: StoredSummary): string | undefined {
  const { reason } = summary.exit;
  const failure = FAILURES[reason]?.(summary);
  if (summary.dry_run) {
    const found = failure === undefined ? dryText(summary) : `Problems found: ${failure}.`;
    return found && `${found} Nothing was sent.`;
  }
  if (failure !== undefined) return `${UNSENT.includes(reason) ? 'Nothing was sent:' : 'Finished, but'} ${failure}.`;
  if (DIFFERENCES[reason] !== undefined) return `Finished. ${changedText(summary)}; ${DIFFERENCES[reason]}.`;
  return reason === 'done' ? doneText(summary) : undefined;
}

function dryText(summary: StoredSummary): string | undefined {
  const { reason } = summary.exit;
  if (DIFFERENCES[reason] !== undefined) return `${changedText(summary)}; ${DIFFERENCES[reason]}.`;
  if (reason !== 'done') return undefined;
  return isClean(summary) ? 'No problems found.' : 'No errors found, but there are warnings to check.';
}

/** How the run ended, or why it stopped before its end. */
export function resultText(summary: StoredSummary): string {
  return endingText(summary) ?? `Stopped before the end: ${stopText(summary.exit.reason)}. Rerun to resume.`;
}

function doneText({ events, omitted }: StoredSummary): string {
  const left = countOmitted(omitted);
  const beside = [
    ...(events.pending > 0 ? [`${counted(events.pending, 'event')} not selected (${SELECTING_OPTIONS})`] : []),
    ...(left > 0 ? [`${counted(left, 'value')} left out (see omitted.csv)`] : []),
  ];
  const all = events.pending > 0 ? 'all selected events' : 'all events';
  return [`Done: ${all} are acknowledged`, ...beside].join('; ').concat('.');
}

/** `6 events are invalid, 7 are blocked by their parents and 1 record could not be read`. */
function failuresText({ dry_run: dry, events, records }: StoredSummary): string {
  const states = [
    [events.rejected, 'was', 'were', `rejected by the service${dry ? ' in an earlier run' : ''}`],
    [events.invalid, 'is', 'are', 'invalid'],
    [events.blocked, 'is', 'are', events.blocked === 1 ? 'blocked by its parent' : 'blocked by their parents'],
  ] as const;
  const failed = states
    .filter(([count]) => count > 0)
    .map(([count, is, are, how], index) => {
      return `${index === 0 ? counted(count, 'event') : numberText(count)} ${count === 1 ? is : are} ${how}`;
    });
  const unread = records.unreadable === 0 ? [] : [`${counted(records.unreadable, 'record')} could not be read`];
  const parts = [...failed, ...unread];
  const last = parts.pop()!;
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
}

/** `19 deal/created events wait for leads that are neither selected nor acknowledged`. */
function waitingText(waiting: WaitingCounts): string {
  const parts = EVENT_TYPES.flatMap((type) =>
    ENTITIES.flatMap((entity) => {
      const count = waiting[type]?.[entity] ?? 0;
      return count === 0
        ? []
        : [`${counted(count, `${type} event`)} ${count === 1 ? 'waits' : 'wait'} for ${kindOf(entity).words[1]}`];
    }),
  );
  return `${parts.join(', ')} that are neither selected nor acknowledged`;
}

/** After a change of the mapping, events differ although the export may be the same. */
function changedText({ events: { changed }, mapping_changed: mapping }: StoredSummary): string {
  const differ = `${counted(changed, 'acknowledged record')} ${changed === 1 ? 'differs' : 'differ'} from what was sent`;
  return mapping
    ? `The mapping has changed since the last run: ${differ}`
    : `${differ}: the export or the mapping has changed since`;
}

/** By the exit code; a dry run with warnings is not done. */
export function endingTone(summary: StoredSummary): Tone {
  const tone = toneOf(summary.exit.code);
  return tone === 'done' && summary.dry_run && !isClean(summary) ? 'partly' : tone;
}

function isClean({ warnings_by_code: warnings, omitted }: StoredSummary): boolean {
  return Object.keys(warnings).length === 0 && countOmitted(omitted) === 0;
}
