/** The status of a migration, from its plan and its checkpoint, even while a run writes them: what `status` prints. */
import { statfsSync } from 'node:fs';
import { DRY_RUN } from '../../files/state-dir.ts';
import { shortPath } from '../../files/paths.ts';
import type { EventCounts, EventType } from '../../model.ts';
import { countDue, outcomesOf, priorityProgress, totalOf } from '../../plan/counts.ts';
import { leftWith, paceOf, spanOf, type Rate, type RecentlySettled } from '../../rate.ts';
import { bindingOf, countUnanswered, readWait, type RunWait } from '../../store/checkpoint.ts';
import type { LockHolder } from '../../store/lock.ts';
import type { Database } from '../../store/sqlite.ts';
import { counted, numberText } from '../words/numbers.ts';
import { clockText, dateText, durationText, untilText } from '../words/times.ts';
import { countsSection, prioritiesOf, prioritiesSection, type PriorityCounts } from './counts.ts';
import type { Ending } from './ending.ts';
import { column, present, sectionOf, type Cells, type Figures, type Headline, type Section } from './figures.ts';
import { resumeSection, type Invocation } from './next-steps.ts';
import type { PlanFigures } from './plan-figures.ts';
import { endFigures } from './screens.ts';
import { readSummary, type Summary } from './summary.ts';
import { becauseText, verdictOf, waitText } from './verdict.ts';

/** As `status --json` prints it. Times are ISO 8601. */
export interface Status {
  /** Null where it is not known yet. */
  readonly migration: string | null;
  readonly base_url: string | null;
  /** The state directory. */
  readonly state: string;
  /** The process that holds it: of a run, of `verify` or of `purge`. */
  readonly running: LockHolder | null;
  /** Nothing was sent, and the counts are those of the last dry run. */
  readonly dry_run: boolean;
  /**
   * `ended`: the last run wrote its summary. `under way`: it is in progress, or was killed. `unknown totals`: there is no
   * plan, so only what the checkpoint knows is counted.
   */
  readonly basis: 'ended' | 'under way' | 'unknown totals';
  readonly events: EventCounts;
  readonly by_type: Readonly<Record<EventType, EventCounts>>;
  readonly priorities: readonly PriorityCounts[];
  /** Events that the run has still to send; 0 if it has ended. */
  readonly left: number;
  /** Answers a minute, over the last one (or a window of the rate, if that is longer); 0 if nothing is sent. */
  readonly per_minute: number;
  /** Null if it is not known. */
  readonly seconds_left: number | null;
  /** When the first run began to send. */
  readonly begun_at: string | null;
  readonly last_answer: string | null;
  /** Other than for the rate limit; its `reason` is a key of `WAITS`. */
  readonly waits_for: RunWait | null;
  readonly last_run: {
    readonly exit: Ending;
    /** The same in a sentence, as the screen of the run began. */
    readonly result: string;
    readonly started_at: string;
    readonly finished_at: string;
  } | null;
}

/** Where a status is read from, and by whom its directory is held. */
interface StatusPlace {
  /** The state directory. */
  readonly path: string;
  readonly holder: LockHolder | undefined;
  readonly now: Date;
}

/** All of it is read from one state of the databases. */
export function readStatus(plan: PlanFigures, { path, holder, now }: StatusPlace): Status {
  const { db, states, survey } = plan;
  const summary = readSummary(db);
  const bound = bindingOf(db);
  const byType = outcomesOf(states);
  const wait = (holder && readWait(db)) ?? null;
  const left = summary || !survey ? 0 : countDue(states);
  // Before the first run begins to send, it may ask: nobody knows when that is answered.
  const isSending = holder?.command === 'run' && !summary && bound !== undefined && survey !== undefined;
  const recent = isSending
    ? recentAnswers(db, Date.parse(survey.at), { now: now.getTime(), rate: survey.rate })
    : undefined;
  const waitMs = wait?.next_at ? Date.parse(wait.next_at) - now.getTime() : 0;
  const secondsFor = (events: number): number | undefined =>
    recent && leftWith(paceOf(recent, events, survey!.rate).secondsLeft, wait?.reason, Math.max(0, waitMs));
  const perMinute = recent ? paceOf(recent, left, survey!.rate).perMinute : 0;
  return {
    migration: survey?.migration ?? bound?.name ?? null,
    base_url: survey?.base_url ?? bound?.base_url ?? null,
    state: path,
    running: holder ?? null,
    dry_run: summary?.dry_run ?? false,
    basis: summary ? 'ended' : survey ? 'under way' : 'unknown totals',
    events: summary?.events ?? totalOf(Object.values(byType)),
    by_type: byType,
    priorities: summary
      ? endedPriorities(summary)
      : survey
        ? prioritiesOf(priorityProgress(states), now, secondsFor)
        : [],
    left,
    per_minute: Math.round(perMinute * 10) / 10,
    seconds_left: secondsFor(left) ?? null,
    begun_at: bound?.created_at ?? null,
    last_answer: lastAnswer(db) ?? null,
    waits_for: wait,
    last_run: summary ? lastRun(summary, survey?.mapping ?? '', now) : null,
  };
}

function lastRun(summary: Summary, mapping: string, now: Date): Status['last_run'] {
  const { exit, started_at, finished_at } = summary;
  const { word, text } = verdictOf(summary, mapping, now);
  return { exit, result: `${word}${text.replace(/ +/g, ' ')}`, started_at, finished_at };
}

/** An estimate holds for a run that goes on. */
function endedPriorities(summary: Summary): readonly PriorityCounts[] {
  return summary.priorities.map((each) => {
    const isEstimate = !summary.dry_run && each.done_at !== null && each.done_at >= summary.finished_at;
    return isEstimate ? { ...each, done_at: null } : each;
  });
}

function lastAnswer(db: Database): string | undefined {
  return db.get<{ at: string }>(`
    select settled_at as at from checkpoint.request
    where settled_at is not null order by settled_at desc limit 1`)?.at;
}

/**
 * The answers of the last minute or window, but at most since the first one after `from`: neither the survey nor a question that waited
 * for its answer slows a run down.
 */
export function recentAnswers(db: Database, from: number, { now, rate }: { now: number; rate: Rate }): RecentlySettled {
  const first = db.get<{ at: string | null }>(
    'select min(settled_at) as at from checkpoint.request where settled_at > ?',
    new Date(from).toISOString(),
  )?.at;
  if (!first) return { settled: 0, ms: 0 };
  const since = Math.max(Date.parse(first) - 1, now - spanOf(rate));
  const { settled } = db.get<{ settled: number }>(
    'select count(*) as settled from checkpoint.request where settled_at > ?',
    new Date(since).toISOString(),
  )!;
  return { settled, ms: now - since };
}

/** What the run's own screen said, if it has ended, and what is to be known of one that goes on or was killed. */
export function statusFigures(plan: PlanFigures, status: Status, run: Invocation, now: Date): Figures {
  const { migration, base_url: baseUrl, running, last_run: last } = status;
  const place =
    migration === null
      ? []
      : [
          `migration ${migration}, to ${baseUrl === null ? 'no service yet' : `the ${baseUrl}`.replace(/^the http/, 'http')}`,
        ];
  const summary = readSummary(plan.db);
  if (summary && last && running?.command !== 'run') {
    const isStopped = summary.exit.message !== undefined;
    const ended = `ended ${dateText(new Date(last.finished_at))}${isStopped ? '' : `, exit code ${last.exit.code}`}`;
    const other = running ? [`${running.command} is running: ${holderText(running, now)}`] : [];
    const { verdict, sections } = endFigures(plan, summary, {
      ...run,
      ...{ where: [...other, ...place, ended], worksheet: undefined, now },
    });
    const isSaid = sections.some(({ id }) => id === 'priorities');
    const priorities = isSaid ? undefined : prioritiesSection(status.priorities, now);
    return { verdict, sections: present([...sections, priorities, logSection(status, now)]) };
  }
  const headline = headlineOf(status, now);
  return {
    verdict: { ...headline, details: [...headline.details, ...place] },
    sections: present([
      countsSection(plan.states),
      prioritiesSection(status.priorities, now),
      activitySection(plan, status, now),
      running ? undefined : resumeSection(undefined, run),
      logSection(status, now),
    ]),
  };
}

/** `process 4711 on big, since 11:40` */
function holderText({ pid, host, at }: LockHolder, now: Date): string {
  return `process ${pid} on ${host}, since ${clockText(new Date(at), now)}`;
}

function headlineOf({ running, waits_for: wait, basis, begun_at: begun, state }: Status, now: Date): Headline {
  if (running) {
    const since = (at: string): string => durationText((now.getTime() - Date.parse(at)) / 1000);
    const who = holderText(running, now);
    if (!wait) {
      const word = running.command === 'run' ? 'RUNNING' : running.command.toUpperCase();
      return { word, text: ` for ${since(running.at)}: ${who}`, mood: 'done', details: [] };
    }
    return {
      word: waitText(wait).toUpperCase(),
      text: ` for ${since(wait.since)}${becauseText(wait)}`,
      mood: 'failed',
      details: [goesOnText(wait, now), who],
    };
  }
  if (begun === null) {
    return { word: 'NOT STARTED', text: ': nothing has been sent yet', mood: 'partly', details: [] };
  }
  if (basis === 'unknown totals') {
    const text = ': plan.db was purged or lost. A run writes it again, and nothing arrives twice.';
    return { word: 'NO PLAN', text, mood: 'partly', details: [] };
  }
  // Before the first request it may have been declined.
  const { bavail, bsize } = statfsSync(state);
  const why = bavail * bsize < LEAST_FREE ? 'its disk is full' : 'killed, a power cut, or a full disk';
  const text = `: the last run ended without a word (${why}). Nothing is lost.`;
  return { word: 'KILLED', text, mood: 'failed', details: [] };
}

/** With fewer bytes on the disk, a run cannot go on. */
const LEAST_FREE = 1_000_000;

/** `It goes on by itself, next try in 34 s; gives up at 23:44` */
function goesOnText({ next_at: next, gives_up_at: end }: RunWait, now: Date): string {
  const seconds = next === null ? 0 : (Date.parse(next) - now.getTime()) / 1000;
  const when = seconds > 0 ? `next try in ${durationText(seconds)}` : 'trying now';
  return `It goes on by itself, ${when}${end === null ? '' : `; gives up at ${clockText(new Date(end), now)}`}`;
}

function activitySection({ db }: PlanFigures, status: Status, now: Date): Section {
  const { running, basis, begun_at: begun, events, per_minute: perMinute } = status;
  const unanswered = begun === null ? 0 : countUnanswered(db);
  const rows: Cells[] = [];
  const far = `${counted(events.acknowledged, 'event')} acknowledged, ${numberText(events.rejected)} rejected`;
  if (begun !== null && basis === 'unknown totals') {
    rows.push(['Counts', `${far}; there is no plan, so the total is unknown`]);
  }
  if (running?.command === 'run') {
    const now_ = leftText(status, now);
    if (basis === 'ended') rows.push(['Now', 'reading the exports; the counts are from the previous run']);
    else if (basis === 'unknown totals') rows.push(['Now', 'reading the account and the exports']);
    else if (begun !== null) rows.push(['Rate', `${numberText(Math.round(perMinute))}/min recently, ${now_}`]);
    else rows.push(['Now', `${now_}; nothing is sent yet: the run may be waiting for an answer on its terminal`]);
  } else if (unanswered > 0) {
    rows.push(['No answer', `${counted(unanswered, 'event')}, to be sent again under the same id`]);
  }
  return sectionOf({ id: 'activity', columns: [column('label'), column('text')], rows });
}

function logSection({ last_answer: last, dry_run: dry, state }: Status, now: Date): Section {
  const rows: Cells[] = [];
  if (last !== null) {
    const ago = (now.getTime() - Date.parse(last)) / 1000;
    const text = ago < 2 ? 'just now' : `${durationText(ago)} ago`;
    rows.push(['Last answer', `${text} (${dateText(new Date(last))})`]);
  }
  rows.push(['Log', `${shortPath(dry ? `${state}/${DRY_RUN}` : state)}/run.log`]);
  return sectionOf({ id: 'log', columns: [column('label'), column('path')], rows });
}

/** `960 to send, about 34 min (until 09:03)`; during an outage nobody knows the end. */
function leftText({ left, seconds_left: seconds }: Status, now: Date): string {
  const text = `${numberText(left)} to send`;
  return seconds === null ? text : `${text}, about ${durationText(seconds)} (${untilText(seconds, now)})`;
}
