/** The outcomes of events, by type. Every event is counted in one column, so each row adds up. */
import { EVENT_TYPES } from '../../kinds/index.ts';
import { columnOf, STATE_COLUMNS, type EventType, type StateColumn } from '../../model.ts';
import { countWhere, type CountedState, type PriorityProgress } from '../../plan/counts.ts';
import type { ChangeCounts } from '../../plan/known/changes-file.ts';
import { counted, countTexts, numberText } from '../words/numbers.ts';
import { clockText } from '../words/times.ts';
import { typeName } from '../words/terms.ts';
import { column, LIMITS, sectionOf, type Cells, type Section } from './figures.ts';
export function countsSection(states: readonly CountedState[]): Section {
  const count = (type: EventType | undefined, wanted?: StateColumn): number =>
    countWhere(
      states,
      (each) => (type ?? each.type) === each.type && (wanted === undefined || columnOf(each.state) === wanted),
    );
  const columns = STATE_COLUMNS.filter((wanted) => count(undefined, wanted) > 0);
  const types = EVENT_TYPES.filter((type) => count(type) > 0);
  const row = (name: string, type?: EventType) => [name, count(type), ...columns.map((wanted) => count(type, wanted))];
  return sectionOf({
    id: 'counts',
    columns: [column('label'), column('number', 'events'), ...columns.map((head) => column('number', head))],
    rows: types.map((type) => row(typeName(type).toLowerCase(), type)),
    totals: types.length > 1 ? [row('all')] : [],
    notes: waitingNotes(
      countWhere(states, ({ state }) => state === 'waiting'),
      count(undefined, 'later'),
    ),
  });
}

/** The counts of a run that ended well, in one line: `leads 600 of 600   deals 300 of 300`. */
export function allAcknowledged(states: readonly CountedState[]): Section {
  const parts = EVENT_TYPES.flatMap((type) => {
    const all = countWhere(states, (each) => each.type === type);
    const there = countWhere(states, (each) => each.type === type && each.state === 'acknowledged');
    const repeated = countTexts([all - there, all - there === 1 ? 'duplicate' : 'duplicates']).map(
      (text) => ` (${text})`,
    );
    return all === 0
      ? []
      : [`${typeName(type).toLowerCase()} ${numberText(there)} of ${numberText(all)}${repeated.join('')}`];
  });
  return sectionOf({ id: 'counts', notes: [parts.join('   ')] });
}

function waitingNotes(waiting: number, later: number): string[] {
  if (waiting === 0) return [];
  const wait = waiting === 1 ? 'waits' : 'wait';
  const of = waiting === later ? '' : ` of the ${numberText(later)}`;
  return [`${numberText(waiting)}${of} for later ${wait} for parents that are neither selected nor acknowledged`];
}

/** So many different ones are listed. */
const MOST_PRIORITIES = 100;

/** How far the events of one priority are. */
export interface PriorityCounts {
  readonly priority: number;
  /** Those that were or will be sent; not those that this run cannot send or excludes. */
  readonly events: number;
  readonly acknowledged: number;
  /** ISO 8601: when the last of them was settled, or will be at this rate. Null if none was to be sent. */
  readonly done_at: string | null;
}

/** When each priority was (`endedAt`) or will be done. `secondsFor`: to send so many events from `now` on, if that is known. */
export function prioritiesOf(
  progress: readonly PriorityProgress[],
  now: Date,
  secondsFor: (events: number) => number | undefined,
  endedAt: (priority: number) => Date | undefined = () => undefined,
): PriorityCounts[] {
  let toSend = 0;
  return progress.slice(0, MOST_PRIORITIES).map(({ left, ...counts }) => {
    toSend += left;
    const seconds = secondsFor(toSend);
    const estimate = seconds === undefined ? undefined : new Date(now.getTime() + seconds * 1000);
    const at = left > 0 ? estimate : endedAt(counts.priority);
    return { ...counts, done_at: at?.toISOString() ?? null };
  });
}

/** The priorities and when each is done; undefined if there is only one. */
export function prioritiesSection(priorities: readonly PriorityCounts[], now: Date): Section | undefined {
  if (priorities.length < 2) return undefined;
  const isBegun = priorities.some(({ acknowledged }) => acknowledged > 0);
  const isTimed = priorities.some(({ done_at }) => done_at !== null);
  return sectionOf({
    id: 'priorities',
    title: 'By priority',
    columns: [
      column('label'),
      column('number', 'events'),
      ...(isBegun ? [column('number', 'acknowledged')] : []),
      ...(isTimed ? [column('label', 'done')] : []),
    ],
    rows: priorities.map((each): Cells => [
      String(each.priority),
      each.events,
      ...(isBegun ? [each.acknowledged] : []),
      ...(isTimed ? [each.done_at === null ? '–' : doneText(new Date(each.done_at), now)] : []),
    ]),
    limit: LIMITS.priorities,
  });
}

/** `about Tue 14:20` while it lies ahead. */
function doneText(at: Date, now: Date): string {
  return at > now ? `about ${clockText(at, now)}` : clockText(at, now);
}

const ONLY_REPORTED = '`if_changed: update` sends them';
const NOT_SENDABLE = 'emptied fields and changed comments: correct them in the service';

/** Changes since earlier runs, and edits in the service. Undefined if nothing was sent before. `isSaid`: that records have changed. */
export function changesSection(changes: ChangeCounts | undefined, isSaid = false): Section | undefined {
  if (!changes) return undefined;
  const {
    new: added,
    unanswered,
    rejected,
    changed,
    reported,
    not_sendable: stuck,
    edited,
    in_conflict: conflicts,
  } = changes;
  const { moved, gone, unread, not_compared: fields } = changes;
  const isUnsent = changed > 0 && [reported, stuck].includes(changed);
  const rows = (
    [
      ['not sent before', added, ''],
      ['sent without an answer', unanswered, 'sent again under the same id'],
      ['rejected before', rejected, 'sent again'],
      ...(isUnsent
        ? []
        : ([
            ['changed', changed, 'changes.csv lists each field'],
            ['  only reported', reported, ONLY_REPORTED],
            ['  cannot be sent', stuck, NOT_SENDABLE],
          ] as const)),
      ...(isUnsent && !isSaid
        ? ([['changed, not sent', changed, `${stuck > 0 ? NOT_SENDABLE : ONLY_REPORTED}; changes.csv`]] as const)
        : []),
      ['  edited in the service', edited, conflicts > 0 ? `${numberText(conflicts)} in conflict` : ''],
      ['gone from the export', gone, 'gone.csv; they stay in the service'],
      ['gone or unreadable', unread, 'gone.csv names the rows that could not be read'],
    ] as const
  ).filter(([, count]) => count > 0);
  if (rows.length === 0) {
    return isUnsent ? undefined : sectionOf({ id: 'changes', notes: ['No change since the last run.'] });
  }
  return sectionOf({
    id: 'changes',
    title: 'Since the last run',
    columns: [column('label'), column('number', 'records'), column('text')],
    rows,
    notes: [
      ...moved.map(movedText),
      ...(fields.length > 0 ? [`Not shown by the service, so sent as in the export: ${fields.join(', ')}`] : []),
    ],
    limit: LIMITS.changes,
  });
}

/** `2 deals sent before now belong to another lead (2 to one that is new in this export): changes.csv`. */
function movedText({ record, parent, count, to_new: toNew }: ChangeCounts['moved'][number]): string {
  const of = toNew === 0 ? '' : ` (${numberText(toNew)} to one that is new in this export)`;
  return `${counted(count, record)} sent before now ${count === 1 ? 'belongs' : 'belong'} to another ${parent}${of}: changes.csv`;
}
