/** What the checkpoint tells of the past: its runs, and the answers over time. */
import type { Database } from '../store/sqlite.ts';
import { periodsOf, stepFor, type Bin, type Periods } from './timeline.ts';

/** One run that sent events. */
export interface RunSpan {
  /** ISO 8601: when its survey ended. */
  readonly at: string;
  readonly acknowledged: number;
  readonly rejected: number;
  /** When it got its last answer. */
  readonly last: string;
}

/** An answer of the service. */
export interface AnsweredEvent {
  readonly at: string;
  readonly type: string;
  readonly externalId: string | null;
  readonly status: 'acknowledged' | 'rejected';
  readonly code: string | null;
}

/** The last twenty of them. */
export function readRuns(db: Database): RunSpan[] {
  return db
    .all<RunSpan>(
      `
    select run.at, sum(status = 'acknowledged') as acknowledged, sum(status = 'rejected') as rejected, max(settled_at) as last
    from checkpoint.request join checkpoint.run on run.id = request.run
    where settled_at is not null and origin <> 'read'
    group by run.id order by run.id desc limit 20`,
    )
    .reverse();
}

/** The latest first. */
export function readLatest(db: Database): AnsweredEvent[] {
  return db.all(`
    select settled_at as at, type, external_id as externalId, status, code from checkpoint.request
    where settled_at is not null and origin <> 'read' order by settled_at desc, n desc limit 12`);
}

/** The periods in which the service answered since then (ISO 8601; all by default), without the long pauses between them. */
export function readPeriods(db: Database, { maxBins = 60, since = '' } = {}): Periods {
  const span = db.get<{ first: number | null; last: number | null }>(
    `select unixepoch(min(settled_at)) as first, unixepoch(max(settled_at)) as last from checkpoint.request
     where settled_at >= ?`,
    since,
  )!;
  const step = stepFor((span.last ?? 0) - (span.first ?? 0));
  const bins = db.all<Bin & { readonly at: number }>(
    `select unixepoch(settled_at) / ?1 * ?1 as at, sum(status = 'rejected') as rejected,
       sum(status = 'acknowledged' and entity = 'lead') as lead,
       sum(status = 'acknowledged' and entity = 'deal') as deal,
       sum(status = 'acknowledged' and entity = 'comment') as comment
     from checkpoint.request where settled_at >= ?2 and origin <> 'read'
     group by 1 order by 1`,
    step,
    since,
  );
  return periodsOf(bins, step, maxBins);
}
