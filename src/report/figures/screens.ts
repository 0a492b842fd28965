/** The screens of a run: before it sends, at the end of a dry run or a run, and where it was stopped. */
import { shortPath } from '../../files/paths.ts';
import { isStateLost } from '../../halt.ts';
import { COMBINED, PERSON } from '../../kinds/index.ts';
import { countMatches } from '../../plan/account/matches.ts';
import { countDue, countRecords, countWhere } from '../../plan/counts.ts';
import { storedDigest } from '../../plan/digest.ts';
import type { ChangeCounts } from '../../plan/known/changes-file.ts';
import { combinable, combined, type CombinedFigures } from '../../plan/rows/combine.ts';
import { countFolded } from '../../plan/rows/fold.ts';
import { muchSkipped } from '../../plan/skipped.ts';
import { estimateSeconds, rateText, type Paces, type Rate } from '../../rate.ts';
import { countUnanswered } from '../../store/checkpoint.ts';
import type { SurveyedWorksheet } from '../../survey/worksheet-file.ts';
import { readDocument } from '../files/documents.ts';
import { pilotText, readPilot } from '../files/pilot.ts';
import { counted, countTexts, numberText } from '../words/numbers.ts';
import { durationText, untilText } from '../words/times.ts';
import { allAcknowledged, changesSection, countsSection, prioritiesSection } from './counts.ts';
import { stagesSection } from './deal-table.ts';
import { column, present, sectionOf, type Figures, type Headline, type Section } from './figures.ts';
import { assumedSection, notInExportSection, skippedSection } from './missing.ts';
import { nextSection, type Invocation } from './next-steps.ts';
import type { PlanFigures } from './plan-figures.ts';
import { plannedPriorities, type Summary } from './summary.ts';
import { causesSection, checksSection, marksTexts } from './to-fix.ts';
import { changeSaid, recordsText, verdictOf } from './verdict.ts';

/** What a screen says beside what is in the plan. */
export interface Beside {
  /** To which account, in words. */
  readonly where: readonly string[];
  /** Undefined if this process wrote none. */
  readonly worksheet: SurveyedWorksheet | undefined;
  readonly now: Date;
}

export interface End extends Beside, Invocation {}

/** Before a run sends: the events, the account and the duration. `changes`: since earlier runs. */
export function readyFigures(plan: PlanFigures, changes: ChangeCounts | undefined, around: Beside): Figures {
  const { db, states } = plan;
  const [due, all] = [
    countDue(states),
    counted(
      countWhere(states, () => true),
      'event',
    ),
  ];
  // Then the verdict of the run follows at once.
  const isSaid = states.every(({ state }) => state === 'acknowledged' || state === 'duplicate');
  return {
    verdict: {
      word: due > 0 ? 'READY TO SEND' : 'NOTHING TO SEND',
      text: `${due > 0 ? ` ${numberText(due)} of ${all}` : `: ${all}`}. ${recordsText(countRecords(db))}`,
      mood: 'done',
      details: around.where,
    },
    sections: present([
      changesSection(changes, isSaid),
      prioritiesSection(plannedPriorities(states, plan.survey!.rate, around.now), around.now),
      planSection(plan, around.now, true),
      worksheetSection(around.worksheet),
    ]),
  };
}

export function endFigures(plan: PlanFigures, summary: Summary, end: End): Figures {
  const { verdict, sections } = figuresOf(plan, summary, end);
  return { verdict: { ...verdict, details: [...end.where, ...verdict.details] }, sections: present(sections) };
}

interface EndFigures {
  readonly verdict: Headline;
  readonly sections: readonly (Section | undefined)[];
}

function figuresOf(plan: PlanFigures, summary: Summary, end: End): EndFigures {
  const verdict = verdictOf(summary, plan.survey!.mapping, end.now);
  const next = nextSection(plan, summary, end);
  if (summary.exit.message !== undefined) return { verdict, sections: stopSections(plan, summary, next) };
  if (!summary.dry_run) return { verdict, sections: runSections(plan, summary, next) };
  const details = [...marksTexts(plan.causes), ...verdict.details];
  return { verdict: { ...verdict, details }, sections: dryRunSections(plan, summary, end, next) };
}

function dryRunSections(
  plan: PlanFigures,
  summary: Summary,
  { now, worksheet }: End,
  next: Section,
): EndFigures['sections'] {
  const { states, deals, causes, skipped } = plan;
  const mapping = readDocument(plan.db, 'mapping')!;
  return [
    countsSection(states),
    stagesSection(deals, true),
    causesSection(plan, summary.over_max_omitted),
    muchSkipped(skipped).length > 0 ? skippedSection(skipped) : undefined,
    checksSection(causes, true, changeSaid(summary)),
    changesSection(summary.changes, changeSaid(summary) !== undefined),
    prioritiesSection(summary.priorities, now),
    assumedSection(mapping),
    notInExportSection(mapping),
    planSection(plan, now, false),
    worksheetSection(worksheet),
    next,
    filesSection(summary),
  ];
}

/** Stops for what the service said of events. */
const REJECTED: readonly string[] = ['rejections_in_a_row', 'too_many_errors'];

/** Why it stopped, how far it got and how to go on: no more, for somebody who was called for it. */
function stopSections(plan: PlanFigures, summary: Summary, next: Section): EndFigures['sections'] {
  if (summary.dry_run) return [next];
  return [
    countsSection(plan.states),
    requestsSection(plan, summary),
    REJECTED.includes(summary.exit.reason) ? causesSection(plan) : undefined,
    next,
  ];
}

/** The screen of the survey is not repeated; where the plan is refused, there is none. */
function runSections(plan: PlanFigures, summary: Summary, next: Section): EndFigures['sections'] {
  const { states, deals, causes } = plan;
  const isWell = summary.exit.reason === 'done' && summary.events.pending === 0;
  return [
    isWell ? allAcknowledged(states) : countsSection(states),
    requestsSection(plan, summary),
    stagesSection(deals, false),
    causesSection(plan, summary.over_max_omitted),
    checksSection(causes, false, changeSaid(summary)),
    next,
    filesSection(summary),
  ];
}

/** Why there were more requests than events. */
function requestsSection({ db }: PlanFigures, summary: Summary): Section {
  const { this_run: run, events, outcomes } = summary;
  // Where a disk is full, the checkpoint may have requests that did not go out.
  const unsettled = Math.max(0, run.events_sent - outcomes.created - outcomes.updated - outcomes.none);
  const others = run.requests - run.events_sent - run.follow_ups - run.retries;
  const why = [
    `${counted(run.events_sent, 'event')} sent`,
    ...countTexts(
      [Math.min(countUnanswered(db), unsettled), 'without an answer, to be sent again under the same id'],
      [run.adopted, 'adopted: the service had them already'],
      [run.already_acknowledged, 'acknowledged before'],
      [run.follow_ups, run.follow_ups === 1 ? 'follow-up about the same event' : 'follow-ups about the same events'],
      [run.retries, run.retries === 1 ? 'repeat' : 'repeats'],
      [others, 'to read the account'],
    ),
    ...(run.rate_limited > 0 ? [`rate-limited ${counted(run.rate_limited, 'time')}`] : []),
  ];
  return sectionOf({
    id: 'requests',
    notes: [
      `This run: ${counted(run.requests, 'request')} in ${durationText(run.seconds)} (${why.join(', ')}); every event suppressed automations`,
      ...(events.gone > 0
        ? [`${counted(events.gone, 'event')} acknowledged earlier and no longer in the input: gone.csv`]
        : []),
    ],
  });
}

function filesSection({ exit, files, errors_by_code: errors, pilot, dry_run: dry }: Summary): Section | undefined {
  if (isStateLost(exit.reason)) return undefined;
  const names = [
    ...(files.report === null ? [] : ['report.html']),
    ...(Object.keys(errors).length > 0 ? ['errors.csv', 'rejects/'] : []),
    ...(dry ? ['plan/'] : []),
    ...(pilot === null ? [] : ['pilot.csv']),
  ];
  const folder = shortPath(files.errors.replace(/errors\.csv$/, ''));
  return sectionOf({
    id: 'files',
    columns: [column('label'), column('path'), column('text')],
    rows: names.length === 0 ? [] : [['Files', folder, names.join(', ')]],
  });
}

/** `isSending`: then it is too late for advice about the mapping. */
function planSection({ db, states, survey }: PlanFigures, now: Date, isSending: boolean): Section {
  const { rate } = survey!;
  const due = countDue(states);
  const fold = countFolded(db);
  const there = countMatches(db);
  const pilot = readPilot(db);
  const stored = storedDigest(db);
  return sectionOf({
    id: 'plan',
    notes: [
      ...(fold.rows > 0
        ? [
            `${counted(fold.rows, 'row')} became ${counted(fold.records, 'record')}: ${counted(fold.rows - fold.records, 'request')} saved`,
          ]
        : []),
      ...combineTexts(db, rate, isSending),
      ...(pilot ? [pilotText(pilot)] : []),
      ...(there > 0
        ? [`${counted(there, PERSON)} may already be in the account (same e-mail address or phone number): matches.csv`]
        : []),
      ...beside([
        ...(due === 0 ? [] : [paceText(due, rate, now, isSending)]),
        ...(stored === undefined ? [] : [`Plan ${stored.digest}`]),
      ]),
      ...fasterTexts(due, survey!),
    ],
  });
}

/** In one line where that fits a narrow terminal, so that no digest is parted from its name. */
function beside(notes: readonly string[]): readonly string[] {
  const line = notes.join('   ');
  return notes.length > 1 && line.length <= 78 ? [line] : notes;
}

/** Less is not worth a line about what could be saved. */
const LEAST_SAVED_SECONDS = 60;

/** What `combine` saves, or would save. */
function combineTexts(db: PlanFigures['db'], rate: Rate, isSending: boolean): string[] {
  const saved = ({ comments, requests }: CombinedFigures): number =>
    estimateSeconds(comments, rate) - estimateSeconds(requests, rate);
  const text = (figures: CombinedFigures): string =>
    `${counted(figures.comments, COMBINED)} in ${counted(figures.requests, 'request')}: ${durationText(saved(figures))}`;
  const [done, possible] = [combined(db), isSending ? undefined : combinable(db)];
  return [
    ...(done.comments > 0 ? [`${text(done)} saved`] : []),
    ...(possible && saved(possible) >= LEAST_SAVED_SECONDS
      ? [`With \`combine\`, ${text(possible)} would be saved`]
      : []),
  ];
}

function paceText(events: number, rate: Rate, now: Date, isSending: boolean): string {
  const seconds = estimateSeconds(events, rate);
  if (seconds < 60) return `Sending takes under a minute (${rateText(rate)}).`;
  const end = `${untilText(seconds, now)}${isSending ? '' : ' if started now'}`;
  return `Sending takes about ${durationText(seconds)} (${rateText(rate)}), ${end}.`;
}

/** What the service allows beyond --rate. */
function fasterTexts(events: number, { rate, allowed }: Paces): string[] {
  if (!allowed) return [];
  const [seconds, least] = [estimateSeconds(events, rate), estimateSeconds(events, allowed)];
  if (seconds - least < LEAST_SAVED_SECONDS) return [];
  const { requests, seconds: window } = allowed;
  return [
    `The service allows ${rateText(allowed)}: ${least < 60 ? 'under a minute' : durationText(least)} with --rate ${requests}/${window}s.`,
  ];
}

/** What the program wrote into the user's folder, and what somebody answered there without effect. */
function worksheetSection(written: SurveyedWorksheet | undefined): Section | undefined {
  if (!written) return undefined;
  const { path, isNamed, rows, added, unmatched } = written;
  const file = shortPath(path);
  const notes: string[] = unmatched === undefined ? [] : [`No effect: ${unmatched}`];
  const open = rows.filter(({ isOpen }) => isOpen).length;
  const toAnswer =
    open === 0
      ? ' of pipelines, stages and owners'
      : open === rows.length
        ? ' to answer'
        : `, ${numberText(open)} of them to answer`;
  if (isNamed && added === 'file') notes.push(`Wrote ${file}: ${counted(rows.length, 'name')}${toAnswer}`);
  else if (isNamed && added.length > 0)
    notes.push(`Added to ${file}: ${counted(added.length, 'new name')}, from line ${added[0]}`);
  return notes.length === 0 ? undefined : sectionOf({ id: 'worksheet', notes });
}
