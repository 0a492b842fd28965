/** The status of a migration, selected from its plan and its checkpoint, even while a run writes them. */
import type { EventCounts, EventType } from '../../model.ts';
import { countStates, outcomesOf, priorityProgress, totalOf, type CountedState } from '../../plan/counts.ts';
import { readDocument } from '../files/documents.ts';
import { prioritiesOf, type PriorityCounts } from './counts.ts';
import { resultText } from './verdict.ts';
import { readSummary, type Summary } from './summary.ts';
import { paceOf, spanOf, type Rate, type RecentlySettled, type RunPace } from '../../rate.ts';
import { readWait, type RunWait } from '../../store/checkpoint.ts';
import type { LockHolder } from '../../store/lock.ts';
import type { Database } from '../../store/sqlite.ts';

/** The status of a migration: `status` shows it, and `status --json` prints it as it is. Times are ISO 8601. */
export interface Status {
  /** Null where it is not known yet. */
  readonly migration: string | null;
  readonly base_url: string | null;
  /** The state directory. */
  readonly state: string;
  /** The process of the current run. */
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
    readonly exit: Summary['exit'];
    /** The same in a sentence. */
    readonly result: string;
    readonly started_at: string;
    readonly finished_at: string;
  } | null;
}

interface StatusOptions {
  /** The state directory. */
  readonly path: string;
  readonly holder: LockHolder | undefined;
  readonly now: Date;
  /** From `readStates`. */
  readonly states?: readonly CountedState[];
}

/** `db`: from `readState`. All of it is read from one state of the databases. */
export function readStatus(db: Database, { path, holder, now, states = readStates(db) }: StatusOptions): Status {
  const summary = readSummary(db);
  const survey = readDocument(db, 'survey');
  const bound = db.get<{ name: string; base_url: string; created_at: string }>(
    'select name, base_url, created_at from checkpoint.migration',
  );
  const byType = outcomesOf(states);
  const priorities = survey && !summary ? priorityProgress(states) : [];
  const left = priorities.reduce((sum, each) => sum + each.left, 0);
  // Before the first run begins to send, it may ask: nobody knows when that is answered.
  const isSending = holder !== undefined && !summary && bound !== undefined;
  const recent =
    isSending && survey
      ? recentAnswers(db, Date.parse(survey.at), { now: now.getTime(), rate: survey.rate })
      : undefined;
  const pace = (events: number): RunPace => {
    return recent ? paceOf(recent, events, survey!.rate) : { perMinute: 0, secondsLeft: undefined };
  };
  const wait = (holder && readWait(db)) ?? null;
  const { perMinute, secondsLeft } = pace(left);
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
      : prioritiesOf(priorities, now, (events) => pace(events).secondsLeft),
    left,
    per_minute: Math.round(perMinute * 10) / 10,
    // Nobody knows how long an outage lasts.
    seconds_left: (wait === null ? secondsLeft : undefined) ?? null,
    begun_at: bound?.created_at ?? null,
    last_answer: lastAnswer(db) ?? null,
    waits_for: wait,
    last_run: summary
      ? {
          exit: summary.exit,
          result: resultText(summary),
          started_at: summary.started_at,
          finished_at: summary.finished_at,
        }
      : null,
  };
}

/** An estimate holds for a run that goes on. */
function endedPriorities(summary: Summary): readonly PriorityCounts[] {
  return summary.priorities.map((each) => {
    const isEstimate = !summary.dry_run && each.done_at !== null && each.done_at >= summary.finished_at;
    return isEstimate ? { ...each, done_at: null } : each;
  });
}

/** The states of the events of the plan; without one, what the checkpoint knows. */
export function readStates(db: Database): CountedState[] {
  return readDocument(db, 'survey') ? countStates(db) : countCheckpoint(db);
}

/** Without a plan: the outcome of each event that was sent. */
function countCheckpoint(db: Database): CountedState[] {
  return db.all(`
    select type, iif(is_acknowledged, 'acknowledged', 'rejected') as state, null as code, 1 as is_chosen, 0 as priority, count(*) as count
    from checkpoint.record where is_acknowledged = 1 or rejected is not null group by type, state`);
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
