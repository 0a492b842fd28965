/** The figures of a dry run, and of the end of a run. */
import { EXIT } from '../../errors.ts';
import { isStateLost, type HaltReason } from '../../halt.ts';
import { countStates, type CountedState } from '../../plan/counts.ts';
import { readFindings, type Finding } from '../files/findings.ts';
import type { Summary } from '../files/summary.ts';
import type { Database } from '../../store/sqlite.ts';
import { shortPath } from '../../files/paths.ts';
import { counted, countTexts } from '../words/numbers.ts';
import { clockText, durationText } from '../words/times.ts';
import { WAITS, type WaitReason } from '../words/terms.ts';
import { muchSkipped, readSkipped, type SkippedRows } from '../files/skipped.ts';
import { readCauses, type ErrorCause } from './causes.ts';
import { allAcknowledged, changesSection, countsSection } from './counts.ts';
import { column, present, sectionOf, type Figures, type Section } from './figures.ts';
import { causesSection, checksSection, marksTexts, type OpenNames } from './findings.ts';
import { skippedSection } from './missing.ts';
import { stagesSection } from './deal-table.ts';
import { readDeals, type DealGroup } from './deals.ts';
import { changeSaid, verdictOf } from './verdict.ts';
import { countUnanswered, readWait, type RunWait } from '../../store/checkpoint.ts';

export interface PlanReading {
  readonly states: readonly CountedState[];
  readonly findings: readonly Finding[];
  readonly causes: readonly ErrorCause[];
  readonly deals: readonly DealGroup[];
  readonly skipped: readonly SkippedRows[];
  readonly wait: RunWait | undefined;
  /** Requests of the last run that are still without a definite answer. */
  readonly unanswered: number;
}

export function readPlan(db: Database): PlanReading {
  return {
    ...{ states: countStates(db), findings: readFindings(db), causes: readCauses(db), skipped: readSkipped(db) },
    deals: readDeals(db),
    wait: readWait(db),
    unanswered: countUnanswered(db),
  };
}

export interface RunFound extends PlanReading {
  readonly summary: Summary;
  /** The mapping file. */
  readonly mapping: string;
  /** To which account, in words. */
  readonly where: readonly string[];
  readonly halt: HaltReason | undefined;
  /** What the survey said of the plan. */
  readonly survey: readonly (Section | undefined)[];
  readonly names: OpenNames | undefined;
  readonly next: Section;
  /** Of a rehearsal: how many automations would have been started. */
  readonly triggersFired: number | undefined;
  readonly now: Date;
}

export function dryRunFigures(found: RunFound): Figures {
  const { summary, states, causes, deals, findings, names, next, survey, where } = found;
  const verdict = verdictOf(summary, found);
  if (found.halt) return { verdict, sections: [next] };
  return {
    verdict: { ...verdict, details: [...where, ...marksTexts(findings), ...verdict.details] },
    sections: present([
      countsSection(states),
      stagesSection(deals, true),
      causesSection(causes, summary, names),
      muchSkipped(found.skipped).length > 0 ? skippedSection(found.skipped) : undefined,
      checksSection(findings, true, changeSaid(summary)),
      changesSection(summary.changes, changeSaid(summary) !== undefined),
      ...survey,
      next,
      filesSection(summary),
    ]),
  };
}

/** Stops for what the service said of events. */
const REJECTED: readonly string[] = ['rejections_in_a_row', 'too_many_errors'];

/** Why it stopped, how far it got and how to go on: no more, for somebody who was called for it. */
function stopFigures(found: RunFound): Figures {
  const { summary, states, next, wait, causes } = found;
  const verdict = verdictOf(summary, found);
  const waited = wait === undefined ? [] : [waitText(wait, found.now)];
  return {
    verdict: { ...verdict, details: [...waited, ...verdict.details] },
    sections: present([
      countsSection(states),
      requestsSection(found),
      REJECTED.includes(summary.exit.reason) ? causesSection(causes, summary, undefined) : undefined,
      next,
    ]),
  };
}

/** The screen of the survey is not repeated; where the plan is refused, there is none. */
export function runFigures(found: RunFound): Figures {
  if (found.halt) return stopFigures(found);
  const { summary, states, causes, deals, findings, names, next, where } = found;
  const verdict = verdictOf(summary, found);
  const isRefused = summary.exit.code === EXIT.nothingSent;
  const isWell = summary.exit.reason === 'done' && summary.events.pending === 0;
  return {
    verdict: isRefused ? { ...verdict, details: [...where, ...verdict.details] } : verdict,
    sections: present([
      isWell ? allAcknowledged(states) : countsSection(states),
      requestsSection(found),
      stagesSection(deals, false),
      causesSection(causes, summary, names),
      checksSection(findings, false, changeSaid(summary)),
      next,
      filesSection(summary),
    ]),
  };
}

/** `service down since 11:44 (ECONNREFUSED)` */
function waitText({ reason, since, because }: RunWait, now: Date): string {
  const cause = because ? ` (${because})` : '';
  return `${WAITS[reason as WaitReason]} since ${clockText(new Date(since), now)}${cause}`;
}

/** Why there were more requests than events. */
function requestsSection({ summary, triggersFired, unanswered }: RunFound): Section {
  const { this_run: run, events, outcomes } = summary;
  // Where a disk is full, the checkpoint may have requests that did not go out.
  const unsettled = Math.max(0, run.events_sent - outcomes.created - outcomes.updated - outcomes.none);
  const others = run.requests - run.events_sent - run.follow_ups - run.retries;
  const why = [
    `${counted(run.events_sent, 'event')} sent`,
    ...countTexts(
      [Math.min(unanswered, unsettled), 'without an answer, to be sent again under the same id'],
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
      `This run: ${counted(run.requests, 'request')} in ${durationText(run.seconds)} (${why.join(', ')}); ${automationsText(triggersFired)}`,
      ...(events.gone > 0
        ? [`${counted(events.gone, 'event')} acknowledged earlier and no longer in the input: gone.csv`]
        : []),
    ],
  });
}

/** The sandbox counts them; the service was asked with every event to start none. */
function automationsText(fired: number | undefined): string {
  if (fired === undefined) return 'every event suppressed automations';
  return fired === 0 ? 'no automation fired' : `${counted(fired, 'automation')} fired`;
}

function filesSection({ dry_run: dry, exit, files, errors_by_code: errors, pilot }: Summary): Section | undefined {
  if (isStateLost(exit.reason)) return undefined;
  const failed = Object.keys(errors).length > 0;
  const names = [
    ...(files.report === null ? [] : ['report.html']),
    ...(dry ? ['plan/'] : []),
    ...(failed ? ['errors.csv', 'rejects/'] : []),
    ...(pilot === null ? [] : ['pilot.csv']),
  ];
  const folder = shortPath(files.errors.replace(/errors\.csv$/, ''));
  return sectionOf({
    id: 'files',
    columns: [column('label'), column('path'), column('text')],
    rows: names.length === 0 ? [] : [['Files', folder, names.join(', ')]],
  });
}
