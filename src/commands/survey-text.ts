import { SELECTING_OPTIONS } from '../settings/run-settings.ts';
import { canonicalJson } from '../json.ts';
import { EVENT_TYPES, COMBINED } from '../kinds/index.ts';
import type { EventType, Place, Planned } from '../model.ts';
import { combinable, combined, type CombinedFigures } from '../plan/judge/combine.ts';
import { countStates, countWhere, dueByType, outcomesOf, totalOf } from '../plan/counts.ts';
import type { FoldCounts } from '../plan/judge/fold.ts';
import type { State } from '../plan/states.ts';
import type { Survey } from '../survey/survey.ts';
import type { ChangeCounts } from '../report/summary.ts';
import { estimateSeconds, prioritiesOf } from '../summarise.ts';
import { NOT_MIGRATED } from '../vocabulary/terms.ts';
import { pilotLines } from '../report/pilot.ts';
import { clockText, durationText, prioritiesTable } from '../report/text.ts';
import { rateText, type Rate } from '../rate.ts';
import { counted, numberText } from '../terminal/numbers.ts';

/** What the survey found, before anything is sent: the events to send, how long that takes, which are not sent, and priorities. */
export function surveyText(
  { db, digest, listed, records, fold, cover }: Pick<Survey, 'db' | 'digest' | 'listed' | 'records' | 'fold' | 'cover'>,
  pace: { readonly rate: Rate; readonly reserve: number; readonly now: Date },
): string {
  const states = countStates(db);
  const events = totalOf(Object.values(outcomesOf(states)));
  const due = dueByType(db);
  const sum = due.reduce((total, { count }) => total + count, 0);
  const inState = (state: State): number => countWhere(states, (each) => each.state === state);
  const not = [
    part(events.acknowledged, 'already acknowledged'),
    part(events.duplicates, events.duplicates === 1 ? 'duplicate' : 'duplicates'),
    part(events.invalid, 'invalid'),
    part(inState('rejected'), 'rejected'),
    part(events.blocked, 'blocked by their parents'),
    part(inState('held'), `excluded by ${SELECTING_OPTIONS}`),
    part(inState('waiting'), 'waiting for parents that are excluded'),
  ].filter((text) => text !== undefined);
  const lines = [
    `surveyed ${counted(records.read, 'record')}: ${counted(events.total, 'event')}, ${numberText(sum)} to send`,
    ...(due.length === 0
      ? []
      : [`  ${due.map(({ type, count }) => `${type} ${numberText(count)}`).join(', ')}`, `  ${paceText(sum, pace)}`]),
    ...(fold.rows > 0 ? [`  ${foldText(fold)}`] : []),
    ...combineLines(db, pace),
    ...(cover ? pilotLines(cover.counts, cover.missed).map((line) => `  ${line}`) : []),
    ...(digest === undefined ? [] : [`  plan ${digest}: the digest of ${counted(listed, 'event')} that could be sent`]),
    ...(not.length === 0 ? [] : [`  not to send: ${not.join(', ')}`]),
    `  not supported by ingestion: ${NOT_MIGRATED.map(([what]) => lowerFirst(what)).join(', ')}`,
  ];
  const priorities = prioritiesTable(prioritiesOf(db, pace), pace.now);
  return [...lines, ...(priorities === '' ? [] : [priorities.replace(/^/gm, '  ')])].join('\n');
}

function foldText({ rows, records }: FoldCounts): string {
  return `${counted(rows, 'row')} were folded into ${counted(records, 'record')}: ${counted(rows - records, 'request')} saved`;
}

/** Less is not worth a line about what could be saved. */
const LEAST_SAVED_SECONDS = 60;

/** What `combine` saves, or would save. */
function combineLines(
  db: Survey['db'],
  { rate, reserve }: { readonly rate: Rate; readonly reserve: number },
): string[] {
  const saved = ({ comments, requests }: CombinedFigures): number =>
    estimateSeconds(comments, rate, reserve) - estimateSeconds(requests, rate, reserve);
  const text = (figures: CombinedFigures): string =>
    `${counted(figures.comments, COMBINED)} in ${counted(figures.requests, 'request')}: ${durationText(saved(figures))}`;
  const [done, possible] = [combined(db), combinable(db)];
  return [
    ...(done.comments > 0 ? [`  ${text(done)} saved`] : []),
    ...(saved(possible) >= LEAST_SAVED_SECONDS ? [`  with \`combine\`, ${text(possible)} would be saved`] : []),
  ];
}

/** Every correction whose record is no longer in the input: nothing else names them. */
export function unusedFixesText(places: readonly Place[]): string {
  const list = places.map(({ file, line }) => `  ${file}:${line}`).join('\n');
  const what = places.length === 1 ? 'this correction was' : 'these corrections were';
  return `warning: ${what} not applied, because the record to replace is no longer in the input:\n${list}`;
}

function paceText(events: number, pace: { rate: Rate; reserve: number; now: Date }): string {
  const seconds = estimateSeconds(events, pace.rate, pace.reserve);
  const left = pace.reserve > 0 ? ` (${pace.reserve} of them reserved for others)` : '';
  const at = `at ${rateText(pace.rate)}${left}`;
  if (seconds < 60) return `takes less than a minute ${at}`;
  const end = clockText(new Date(pace.now.getTime() + seconds * 1000), pace.now);
  return `takes about ${durationText(seconds)} ${at}; ends about ${end} if started now`;
}

function part(count: number, what: string): string | undefined {
  return count > 0 ? `${numberText(count)} ${what}` : undefined;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** What differs from what earlier runs sent, and what somebody edited in the service since. */
export function changesText({ not_compared: fields, gone, ...changes }: ChangeCounts): string {
  const { new: added, changed, reported, edited, in_conflict: conflicts } = changes;
  return [
    `  compared with what was sent: ${counted(added, 'record')} not sent yet, ${numberText(changed)} changed, ${numberText(edited)} of them edited in the service ` +
      `(${numberText(conflicts)} in conflict), ${numberText(gone)} gone from the export`,
    ...(changed > 0 ? ['  changes.csv lists each changed field'] : []),
    ...(reported > 0
      ? [`  ${numberText(reported)} of the changed are only reported: set \`if_changed\` to send what has changed`]
      : []),
    ...(gone > 0 ? ['  gone.csv lists the records that are gone; they stay in the service'] : []),
    ...(fields.length > 0 ? [`  not shown by the service, so sent as in the export: ${fields.join(', ')}`] : []),
  ].join('\n');
}

/** Of picked events, so many of each type are shown. */
const MOST_PICKED = 10;

/** Events of each type as they would be sent: the first one, or those that were picked. */
export function samplesText(samples: ReadonlyMap<EventType, readonly Planned[]>, isPicked: boolean): string {
  const most = isPicked ? MOST_PICKED : 1;
  return EVENT_TYPES.flatMap((type) => {
    const events = samples.get(type) ?? [];
    if (events.length === 0) return [];
    const more = isPicked ? events.length - most : 0;
    return [
      `${type}, ${isPicked ? 'picked' : 'for example'}:`,
      ...events.slice(0, most).map(({ data }) => `  ${canonicalJson(data)}`),
      ...(more > 0 ? [`  and ${numberText(more)} more`] : []),
    ];
  }).join('\n');
}
