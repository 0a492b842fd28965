/** Where a migration stands: selects over its plan and its checkpoint, while a run is writing them or after it. */
import type { EventType } from '../model.ts';
import { totalOf } from '../plan/counts.ts';
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
  const rows = survey ? countPlan(db) : countCheckpoint(db);
  const byType = outcomesOf(rows);
  const priorities = survey ? prioritiesOf(rows) : [];
  const since = new Date(Math.max(now - RECENT_MS, Date.parse(survey?.at ?? '') || 0)).toISOString();
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

interface CountedEvents {
  readonly type: EventType;
  readonly state: State;
  readonly priority: number;
  readonly count: number;
}

/** Counts by type, as in the summary. They add up, because every event has exactly one state. */
export function outcomesOf(
  rows: readonly Pick<CountedEvents, 'type' | 'state' | 'count'>[],
): Partial<Record<EventType, EventCounts>> {
  const counts: Partial<Record<EventType, EventCounts>> = {};
  for (const { type, state, count } of rows) {
    const ofType = (counts[type] ??= totalOf([]));
    ofType.total += count;
    ofType[outcomeOf(state)] += count;
  }
  return counts;
}

/** What has no place in the order, or is not part of this run. */
const NOT_IN_ORDER: readonly State[] = ['held', 'waiting', 'duplicate', 'invalid'];

/** The highest first. */
function prioritiesOf(rows: readonly CountedEvents[]): MigrationStatus['priorities'] {
  const found = new Map<number, { events: number; acknowledged: number; left: number }>();
  for (const { priority, state, count } of rows) {
    if (NOT_IN_ORDER.includes(state)) continue;
    const counts = found.get(priority) ?? { events: 0, acknowledged: 0, left: 0 };
    found.set(priority, counts);
    counts.events += count;
    if (state === 'acknowledged') counts.acknowledged += count;
    if (isOpen(state)) counts.left += count;
  }
  return [...found]
    .sort(([one], [other]) => other - one)
    .map(([priority, counts]) => ({ priority, ...counts, done_at: null }));
}

/** Grouped as the index is sorted, so that nothing is sorted. */
function countPlan(db: Database): CountedEvents[] {
  return db.all('select type, state, priority, count(*) as count from event group by type, state, is_chosen, priority');
}

/** Without a plan: what became of each event that was sent. */
function countCheckpoint(db: Database): CountedEvents[] {
  return db.all(`
    select type, iif(is_acknowledged, 'acknowledged', 'rejected') as state, 0 as priority, count(*) as count
    from (
      select for_type as type, max(status = 'acknowledged') as is_acknowledged from checkpoint.request
      where settled_at is not null and origin <> 'read' group by for_id)
    group by type, state`);
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
