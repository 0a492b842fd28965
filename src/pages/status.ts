/** Where a migration stands: selects over its plan and its checkpoint, while a run is writing them or after it. */
import type { EventType } from '../model.ts';
import { countStates, outcomesOf, totalOf, type CountedState } from '../plan/counts.ts';
import { priorityProgress } from '../plan/order.ts';
import { readDocument } from '../report/documents.ts';
import { MOST_PRIORITIES, type PriorityCounts, type StoredSummary, type SurveySnapshot } from '../report/summary.ts';
import type { EventCounts } from '../report/words.ts';
import { readOthers, readWait, type OtherUse, type RunWait } from '../store/checkpoint.ts';
import type { Database } from '../store/sqlite.ts';

export interface MigrationStatus {
  readonly migration: string | undefined;
  readonly baseUrl: string | undefined;
  /**
   * `ended`: the last run wrote its summary. `under way`: it is in progress, or was killed. `unknown totals`: there is no
   * plan, so only what the checkpoint knows is counted.
   */
  readonly basis: 'ended' | 'under way' | 'unknown totals';
  readonly byType: Readonly<Partial<Record<EventType, EventCounts>>>;
  readonly events: EventCounts;
  /** Undefined until the run of this plan has ended. */
  readonly summary: StoredSummary | undefined;
  readonly survey: SurveySnapshot | undefined;
  /** ISO 8601: when the first run began to send. */
  readonly firstAt: string | undefined;
  /** ISO 8601: when the service answered last. */
  readonly lastAt: string | undefined;
  /** What the current run waits for, if there is one. */
  readonly wait: RunWait | undefined;
  /** What others take of the limit of the API key, as the current run sees it. */
  readonly others: OtherUse | undefined;
  /** By the run of this plan. */
  readonly recent: RecentlySettled;
  /** Events that the run has still to send; 0 if it has ended. */
  readonly left: number;
  /** The highest first. While a run is under way, `done_at` is null. */
  readonly priorities: readonly (PriorityCounts & { readonly left: number })[];
}

export interface RecentlySettled {
  readonly settled: number;
  /** The time that they took. */
  readonly ms: number;
}

const RECENT_MS = 5 * 60_000;

/** `db`: from `readState`. All of it is read from one state of the databases. */
export function readStatus(db: Database, now = Date.now()): MigrationStatus {
  const summary = readDocument(db, 'summary');
  const survey = readDocument(db, 'survey');
  const bound = db.get<{ name: string; base_url: string; created_at: string }>(
    'select name, base_url, created_at from checkpoint.migration',
  );
  const basis = summary ? 'ended' : survey ? 'under way' : 'unknown totals';
  const byType = outcomesOf(survey ? countStates(db) : countCheckpoint(db));
  const priorities = survey ? priorityProgress(db) : [];
  return {
    migration: survey?.migration ?? bound?.name,
    baseUrl: survey?.base_url ?? bound?.base_url,
    basis,
    byType,
    events: totalOf(Object.values(byType)),
    summary,
    survey,
    firstAt: bound?.created_at,
    lastAt: lastAnswer(db),
    wait: readWait(db),
    others: readOthers(db),
    recent: survey ? recentAnswers(db, Date.parse(survey.at), now) : { settled: 0, ms: 0 },
    left: summary ? 0 : priorities.reduce((sum, { left }) => sum + left, 0),
    priorities: summary
      ? endedPriorities(summary)
      : priorities.slice(0, MOST_PRIORITIES).map((each) => ({ ...each, done_at: null })),
  };
}

/** An estimate holds for a run that goes on. */
function endedPriorities(summary: StoredSummary): MigrationStatus['priorities'] {
  return summary.priorities.map((each) => {
    const isEstimate = !summary.dry_run && each.done_at !== null && each.done_at >= summary.finished_at;
    return { ...each, left: 0, ...(isEstimate && { done_at: null }) };
  });
}

/** Without a plan: what became of each event that was sent. */
function countCheckpoint(db: Database): CountedState[] {
  return db.all(`
    select type, iif(is_acknowledged, 'acknowledged', 'rejected') as state, null as code, 1 as is_chosen, count(*) as count
    from checkpoint.record where is_acknowledged = 1 or rejected is not null group by type, state`);
}

function lastAnswer(db: Database): string | undefined {
  return db.get<{ at: string }>(`
    select settled_at as at from checkpoint.request
    where settled_at is not null order by settled_at desc limit 1`)?.at;
}

/** The answers since then, but at most those of the last five minutes. */
export function recentAnswers(db: Database, from: number, now: number): RecentlySettled {
  const since = Math.max(from, now - RECENT_MS);
  const { settled } = db.get<{ settled: number }>(
    'select count(*) as settled from checkpoint.request where settled_at > ?',
    new Date(since).toISOString(),
  )!;
  return { settled, ms: now - since };
}
