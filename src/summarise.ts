import { EXIT, type ExitCode } from './errors.ts';
import { EVENT_TYPES, type Effect, type EventType } from './model.ts';
import type { ErrorReport } from './report/error-report.ts';
import type { Profile } from './report/profile.ts';
import type { EventCounts, Summary, SurveySnapshot } from './report/summary.ts';
import type { Rate, Tolerance } from './settings.ts';
import type { Plan } from './plan/plan.ts';
import type { RecordCounts } from './plan/survey.ts';

export interface Ending {
  readonly code: ExitCode;
  /** `done`, or what stopped the run or is wrong: snake_case. */
  readonly reason: string;
}

export interface SendingCounts {
  readonly requests: number;
  readonly eventsSent: number;
  readonly retries: number;
  readonly rateLimited: number;
}

/** The accounting identity holds by construction: every event has exactly one state. */
export function countEvents(plan: Plan, type: EventType): EventCounts {
  const { counts, size } = plan.tables[type];
  return {
    total: size,
    acknowledged: counts.acknowledged,
    duplicates: counts.duplicate,
    invalid: counts.invalid,
    rejected: counts.rejected + counts.retry,
    blocked: counts.blocked,
    pending: counts.ready + counts.held,
  };
}

export function totalOf(counts: readonly EventCounts[]): EventCounts {
  const sum: EventCounts = {
    total: 0,
    acknowledged: 0,
    duplicates: 0,
    invalid: 0,
    rejected: 0,
    blocked: 0,
    pending: 0,
  };
  for (const each of counts) for (const name of Object.keys(sum) as (keyof EventCounts)[]) sum[name] += each[name];
  return sum;
}

/** How a run ends that nothing stopped. A dry run has no rejections; held events are pending by choice. */
export function endingOf(events: EventCounts & { changed: number }, unreadable: number): Ending {
  if (events.rejected > 0) return { code: EXIT.finishedWithErrors, reason: 'rejected' };
  if (events.blocked > 0) return { code: EXIT.finishedWithErrors, reason: 'blocked' };
  if (events.invalid > 0) return { code: EXIT.finishedWithErrors, reason: 'invalid' };
  if (unreadable > 0) return { code: EXIT.finishedWithErrors, reason: 'unreadable' };
  if (events.changed > 0) return { code: EXIT.finishedWithErrors, reason: 'changed' };
  return { code: EXIT.done, reason: 'done' };
}

/** How many events may be invalid, or rejected in one run. */
export function allowedErrors(tolerance: Tolerance, plan: Plan): number {
  if ('count' in tolerance) return tolerance.count;
  const { total } = totalOf(EVENT_TYPES.map((type) => countEvents(plan, type)));
  return (total * tolerance.percent) / 100;
}

/** Seconds that so many events take: a full window at once, then at the rate; each costs one request. */
export function estimateSeconds(events: number, rate: Rate, reserve: number): number {
  const perWindow = Math.max(1, rate.requests - reserve);
  return Math.ceil((Math.max(0, events - perWindow) / perWindow) * rate.seconds);
}

/** Where the survey left every event; `status` counts from there while the run goes on. */
export function snapshotOf(
  migration: string,
  baseUrl: string | null,
  plan: Plan,
  records: RecordCounts,
): SurveySnapshot {
  const byType = EVENT_TYPES.map((type) => [type, countEvents(plan, type)] as const);
  return {
    migration,
    base_url: baseUrl,
    at: new Date().toISOString(),
    records,
    by_type: Object.fromEntries(byType.filter(([, { total }]) => total > 0)),
    to_send: EVENT_TYPES.reduce(
      (sum, type) => sum + plan.tables[type].counts.ready + plan.tables[type].counts.retry,
      0,
    ),
  };
}

export function summarise(run: {
  readonly migration: string;
  readonly dryRun: boolean;
  readonly baseUrl: string | null;
  readonly startedAt: Date;
  readonly ending: Ending;
  readonly plan: Plan;
  readonly records: RecordCounts;
  readonly profile: Profile;
  readonly report: ErrorReport;
  readonly outcomes: Readonly<Record<Effect, number>>;
  readonly sending: SendingCounts;
  readonly alreadyAcknowledged: number;
  readonly rate: Rate;
  readonly reserve: number;
  readonly files: Summary['files'];
}): Summary {
  const { plan, report, sending } = run;
  const byType = EVENT_TYPES.map((type) => [type, countEvents(plan, type)] as const);
  const finished = new Date();
  return {
    migration: run.migration,
    dry_run: run.dryRun,
    exit: run.ending,
    base_url: run.baseUrl,
    started_at: run.startedAt.toISOString(),
    finished_at: finished.toISOString(),
    records: run.records,
    events: { ...totalOf(byType.map(([, counts]) => counts)), gone: plan.gone, changed: plan.changed },
    by_type: Object.fromEntries(byType.filter(([, { total }]) => total > 0)),
    outcomes: run.outcomes,
    this_run: {
      requests: sending.requests,
      events_sent: sending.eventsSent,
      retries: sending.retries,
      rate_limited: sending.rateLimited,
      already_acknowledged: run.alreadyAcknowledged,
      seconds: secondsBetween(run.startedAt, finished),
    },
    errors_by_code: Object.fromEntries(report.errorsByCode),
    warnings_by_code: Object.fromEntries(report.warningsByCode),
    profile: run.profile,
    estimate_seconds: estimateSeconds(
      byType.reduce((sum, [type]) => sum + plan.tables[type].counts.ready + plan.tables[type].counts.retry, 0),
      run.rate,
      run.reserve,
    ),
    files: run.files,
  };
}

/** What `--json` prints when a run ended before its survey: nothing was read to the end, and nothing sent. */
export function notStarted(run: { dryRun: boolean; startedAt: Date; exitCode: ExitCode }): Summary {
  const finished = new Date();
  return {
    migration: '',
    dry_run: run.dryRun,
    exit: { code: run.exitCode, reason: 'not_started' },
    base_url: null,
    started_at: run.startedAt.toISOString(),
    finished_at: finished.toISOString(),
    records: { read: 0, mapped: 0, skipped: 0, unreadable: 0 },
    events: { ...totalOf([]), gone: 0, changed: 0 },
    by_type: {},
    outcomes: { created: 0, updated: 0, none: 0 },
    this_run: {
      requests: 0,
      events_sent: 0,
      retries: 0,
      rate_limited: 0,
      already_acknowledged: 0,
      seconds: secondsBetween(run.startedAt, finished),
    },
    errors_by_code: {},
    warnings_by_code: {},
    profile: { sources: {}, uncovered: [], omitted: [], duplicates: {}, shared: [], bare: [] },
    estimate_seconds: 0,
    files: { checkpoint: null, errors: '', report: null },
  };
}

function secondsBetween(from: Date, to: Date): number {
  return Math.round((to.getTime() - from.getTime()) / 100) / 10;
}
