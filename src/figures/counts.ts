/** The outcomes of events, by type. Every event is counted in one column, so each row adds up. */
import { EVENT_TYPES } from '../kinds/index.ts';
import type { EventType } from '../model.ts';
import { countWhere, type CountedState, type PriorityProgress } from '../plan/counts.ts';
import { MOST_PRIORITIES, type PriorityCounts } from '../report/summary.ts';
import { countTexts, numberText } from '../terminal/numbers.ts';
import { clockText } from '../terminal/times.ts';
import { typeName } from '../vocabulary/terms.ts';
import { column, LIMITS, sectionOf, type Section } from './figures.ts';
import type { State } from '../plan/events.ts';

/** Not selected, or waiting for a record that is not. */
const LATER: readonly State[] = ['held', 'waiting'];

const COLUMNS: readonly (readonly [head: string, states: readonly State[]])[] = [
  ['acknowledged', ['acknowledged']],
  ['to send', ['ready', 'retry']],
  ['later', LATER],
  ['duplicate', ['duplicate']],
  ['invalid', ['invalid']],
  ['rejected', ['rejected']],
  ['blocked', ['blocked']],
];

export function countsSection(states: readonly CountedState[]): Section {
  const count = (type: EventType | undefined, wanted: readonly State[] | undefined): number =>
    countWhere(
      states,
      (each) => (type === undefined || each.type === type) && (wanted === undefined || wanted.includes(each.state)),
    );
  const columns = COLUMNS.filter(([, wanted]) => count(undefined, wanted) > 0);
  const types = EVENT_TYPES.filter((type) => count(type, undefined) > 0);
  const row = (name: string, type?: EventType) => [
    name,
    count(type, undefined),
    ...columns.map(([, wanted]) => count(type, wanted)),
  ];
  return sectionOf({
    id: 'counts',
    columns: [
      column('label'),
      column('number', 'events'),
      ...columns.map(([head]) => ({ head, kind: 'number' }) as const),
    ],
    rows: types.map((type) => row(typeName(type).toLowerCase(), type)),
    totals: types.length > 1 ? [row('all')] : [],
    notes: waitingNotes(count(undefined, ['waiting']), count(undefined, LATER)),
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
  return sectionOf({
    id: 'priorities',
    title: 'By priority',
    columns: [column('label'), column('number', 'events'), column('number', 'acknowledged'), column('label', 'done')],
    rows: priorities.map((each) => [
      String(each.priority),
      each.events,
      each.acknowledged,
      each.done_at === null ? '–' : doneText(new Date(each.done_at), now),
    ]),
    limit: LIMITS.priorities,
  });
}

/** `about Tue 14:20` while it lies ahead. */
function doneText(at: Date, now: Date): string {
  return at > now ? `about ${clockText(at, now)}` : clockText(at, now);
}
