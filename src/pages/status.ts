/** Where a migration stands: selects over its plan and its checkpoint, while a run is writing them or after it. */
import type { EventType } from '../model.ts';
import { countsByType, totalOf } from '../plan/counts.ts';
import { isOpen, outcomeOf, type State } from '../plan/states.ts';
import { readDocument } from '../report/documents.ts';
import {
  MOST_PRIORITIES,
  type EventCounts,
  type PriorityCounts,
  type StoredSummary,
  type SurveySnapshot,
} from '../report/summary.ts';
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
  /** Answers in the last five minutes, by the run of this plan. */
  readonly recent: number;
  /** Events that the run has still to send; 0 if it has ended. */
  readonly left: number;
  /** The highest first. While a run is under way, `done_at` is null. */
  readonly priorities: readonly (PriorityCounts & { readonly left: number })[];
}

export const RECENT_MS = 5 * 60_000;

/** `db`: from `readState`. All of it is read from one state of the databases. */
export function readStatus(db: Database, now = Date.now()): MigrationStatus {
  const summary = readDocument(db, 'summary');
  const survey = readDocument(db, 'survey');
  const bound = db.get<{ name: string; base_url: string; created_at: string }>(
    'select name, base_url, created_at from checkpoint.migration',
  );
  const basis = summary ? 'ended' : survey ? 'under way' : 'unknown totals';
  const byType = survey ? countsByType(db) : countsOfCheckpoint(db);
  const since = new Date(Math.max(now - RECENT_MS, Date.parse(survey?.at ?? '') || 0)).toISOString();
  const priorities = survey ? readPriorities(db) : [];
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
    recent: answersSince(db, since),
    left: summary ? 0 : priorities.reduce((sum, { left }) => sum + left, 0),
    priorities: summary ? endedPriorities(summary) : priorities.slice(0, MOST_PRIORITIES),
  };
}

/** An estimate holds for a run that goes on. */
function endedPriorities(summary: StoredSummary): MigrationStatus['priorities'] {
  return summary.priorities.map((each) => {
    const isEstimate = !summary.dry_run && each.done_at !== null && each.done_at >= summary.finished_at;
    return { ...each, left: 0, ...(isEstimate && { done_at: null }) };
  });
}

interface PriorityRow {
  readonly priority: number;
  readonly type: EventType;
  readonly state: State;
  readonly count: number;
}

function readPriorities(db: Database): MigrationStatus['priorities'] {
  const found = new Map<
    number,
    { priority: number; events: number; acknowledged: number; left: number; done_at: null }
  >();
  const rows = db.all<PriorityRow>(`
    select priority, state, sum(count) as count
    from (select type, state, priority, count(*) as count from event group by type, state, is_chosen, priority)
    where state not in ('held', 'waiting', 'duplicate', 'invalid')
    group by priority, state order by priority desc`);
  for (const { priority, state, count } of rows) {
    const counts = found.get(priority) ?? { priority, events: 0, acknowledged: 0, left: 0, done_at: null };
    found.set(priority, counts);
    counts.events += count;
    if (state === 'acknowledged') counts.acknowledged += count;
    if (isOpen(state)) counts.left += count;
  }
  return [...found.values()];
}

/** Without a plan: what became of each event that was sent, by its last answer. */
function countsOfCheckpoint(db: Database): Partial<Record<EventType, EventCounts>> {
  const counts: Partial<Record<EventType, EventCounts>> = {};
  const rows = db.all<{ type: EventType; state: 'acknowledged' | 'rejected'; count: number }>(`
    select type, iif(is_acknowledged, 'acknowledged', 'rejected') as state, count(*) as count
    from (
      select for_type as type, max(status = 'acknowledged') as is_acknowledged from checkpoint.request
      where settled_at is not null and origin <> 'read' group by for_id)
    group by type, state`);
  for (const { type, state, count } of rows) {
    const ofType = (counts[type] ??= totalOf([]));
    ofType.total += count;
    ofType[outcomeOf(state)] += count;
  }
  return counts;
}

function lastAnswer(db: Database): string | undefined {
  return db.get<{ at: string }>(`
    select settled_at as at from checkpoint.request
    where settled_at is not null and origin <> 'read' order by settled_at desc limit 1`)?.at;
}

function answersSince(db: Database, at: string): number {
  return db.get<{ count: number }>(
    "select count(*) as count from checkpoint.request where settled_at > ? and origin <> 'read'",
    at,
  )!.count;
}
