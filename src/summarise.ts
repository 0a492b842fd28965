import { basename, resolve } from 'node:path';
import { systemClock } from './clock.ts';
import { EXIT, type ExitCode } from './errors.ts';
import type { Mapping } from './mapping/mapping.ts';
import { EVENT_TYPES } from './model.ts';
import { countAll, countDue, countsByType, countWaiting, totalOf } from './plan/counts.ts';
import type { SendOrder } from './plan/order.ts';
import type { Survey } from './plan/survey.ts';
import {
  MOST_PRIORITIES,
  REPORT_FILE,
  type PriorityCounts,
  type Summary,
  type SurveySnapshot,
} from './report/summary.ts';
import type { StoredMapping } from './report/stored-mapping.ts';
import type { Sender } from './send/sender.ts';
import type { RunSettings } from './settings.ts';
import { unreadFiles } from './source/unread-files.ts';
import type { StateDir } from './state-dir.ts';
import { rateAt, requestsLeft, secondsToSend, type Rate } from './timetable.ts';

export interface Ending {
  readonly code: ExitCode;
  /** `done`, or why the run stopped or finished with errors, in snake_case. */
  readonly reason: string;
}

/** The ending of a run that was not stopped early. Held events are pending, which is no error; waiting ones were selected. */
export function endingOf({ plan, unreadable }: Pick<Survey, 'plan' | 'unreadable'>): Ending {
  const events = countAll(plan);
  const found = [
    ['rejected', events.rejected],
    ['blocked', events.blocked],
    ['invalid', events.invalid],
    ['unmapped', plan.matched.unmapped],
    ['unreadable', unreadable],
    ['waiting', EVENT_TYPES.reduce((sum, type) => sum + plan.tables[type].counts.waiting, 0)],
    ['changed', plan.changed],
  ] as const;
  const reason = found.find(([, count]) => count > 0)?.[0];
  return reason ? { code: EXIT.finishedWithErrors, reason } : { code: EXIT.done, reason: 'done' };
}

/** Estimated seconds for this many events from now on, one request each: a full window at once, then at the rate limit. */
export function estimateSeconds(events: number, rate: Rate, reserve: number, now: Date): number {
  const perWindow = requestsLeft(rateAt(rate, now.getTime()).requests, rate, { withheld: reserve });
  return Math.ceil(secondsToSend(Math.max(0, events - perWindow), rate, now.getTime(), reserve));
}

/** The priorities, and when each was or will be done if sending goes on at `now`. */
export function prioritiesOf(
  { priorities }: SendOrder,
  { rate, reserve, now }: { rate: Rate; reserve: number; now: Date },
): PriorityCounts[] {
  let toSend = 0;
  return priorities.slice(0, MOST_PRIORITIES).map(({ priority, events, acknowledged, left, doneAt }) => {
    toSend += left;
    const estimate = new Date(now.getTime() + estimateSeconds(toSend, rate, reserve, now) * 1000);
    const at = left > 0 ? estimate : doneAt;
    return { priority, events, acknowledged, done_at: at?.toISOString() ?? null };
  });
}

/** The counts of all events after the survey, to which `status` adds what has been settled since. */
export function snapshotOf(
  migration: string,
  baseUrl: string | null,
  { plan, order, records, sources }: Pick<Survey, 'plan' | 'order' | 'records' | 'sources'>,
  rate: Rate,
): SurveySnapshot {
  return {
    migration,
    base_url: baseUrl,
    at: new Date().toISOString(),
    records,
    by_type: countsByType(plan),
    sources,
    to_send: countDue(plan),
    rate,
    priorities: order.priorities
      .slice(0, MOST_PRIORITIES)
      .map(({ priority, events, acknowledged, left }) => ({ priority, events, acknowledged, to_send: left })),
  };
}

/** For the report: how the exports are mapped, and what of them is not used. */
export async function storedMapping(
  mapping: Pick<Mapping, 'file' | 'timezone' | 'worksheet' | 'words'>,
  { profile, inputs }: Pick<Survey, 'profile' | 'inputs'>,
): Promise<StoredMapping> {
  const sources = Object.entries(profile.sources).map(([name, { records, unused }]) => [name, { records, unused }]);
  const { worksheet } = mapping;
  const own = [resolve(mapping.file), ...(worksheet ? [worksheet.path] : [])];
  const unread = await unreadFiles([...inputs.map(({ path }) => path), ...own]);
  return {
    timezone: mapping.timezone ?? null,
    entries: mapping.words(),
    sources: Object.fromEntries(sources) as StoredMapping['sources'],
    unread_files: unread.map((path) => basename(path)),
  };
}

export function summarise(run: {
  readonly settings: Pick<RunSettings, 'dryRun' | 'rate' | 'reserve' | 'maxOmitted'>;
  readonly mapping: Pick<Mapping, 'migration'>;
  readonly survey: Survey;
  readonly ending: Ending;
  readonly startedAt: Date;
  /** When it started, by the monotonic clock. */
  readonly began: number;
  readonly alreadyAcknowledged: number;
  readonly mappingChanged: boolean;
  readonly baseUrl: string | null;
  readonly requests: number;
  /** Undefined if nothing was sent. */
  readonly sender: Sender | undefined;
  readonly checkpoint: string | null;
  readonly output: StateDir;
}): Summary {
  const { settings, survey, sender, output } = run;
  const { plan, order, report } = survey;
  const { rate, reserve } = settings;
  const finished = new Date();
  return {
    migration: run.mapping.migration,
    dry_run: settings.dryRun,
    exit: run.ending,
    base_url: run.baseUrl,
    started_at: run.startedAt.toISOString(),
    finished_at: finished.toISOString(),
    records: survey.records,
    events: { ...countAll(plan), gone: plan.matched.gone, changed: plan.changed },
    mapping_changed: run.mappingChanged,
    ...(survey.changes && { changes: survey.changes }),
    by_type: countsByType(plan),
    outcomes: sender?.outcomes ?? { created: 0, updated: 0, none: 0 },
    this_run: {
      requests: run.requests,
      events_sent: sender?.counters.events_sent ?? 0,
      retries: sender?.counters.retries ?? 0,
      rate_limited: sender?.counters.rate_limited ?? 0,
      already_acknowledged: run.alreadyAcknowledged,
      seconds: secondsSince(run.began),
    },
    errors_by_code: Object.fromEntries(report.errorsByCode),
    warnings_by_code: Object.fromEntries(report.warningsByCode),
    waiting: countWaiting(plan),
    omitted: survey.omitted.counts(),
    over_max_omitted: survey.omitted.excess(settings.maxOmitted),
    totals: survey.totals.of(plan),
    profile: survey.profile,
    pilot: survey.cover?.counts ?? null,
    priorities: prioritiesOf(order, { rate, reserve, now: finished }),
    plan: { digest: survey.digest ?? null, events: plan.listed },
    estimate_seconds: estimateSeconds(countDue(plan), rate, reserve, finished),
    files: {
      checkpoint: run.checkpoint,
      errors: output.file('errors.csv'),
      report: output.file(REPORT_FILE),
    },
  };
}

/** What `--json` prints if a run ended before its survey was complete. Nothing was sent. */
export function notStarted(run: { dryRun: boolean; startedAt: Date; began: number; exitCode: ExitCode }): Summary {
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
    mapping_changed: false,
    by_type: {},
    outcomes: { created: 0, updated: 0, none: 0 },
    this_run: {
      requests: 0,
      events_sent: 0,
      retries: 0,
      rate_limited: 0,
      already_acknowledged: 0,
      seconds: secondsSince(run.began),
    },
    errors_by_code: {},
    warnings_by_code: {},
    waiting: {},
    omitted: {},
    over_max_omitted: [],
    totals: [],
    pilot: null,
    priorities: [],
    plan: { digest: null, events: 0 },
    profile: { sources: {}, uncovered: [], duplicates: {}, shared: [], bare: [] },
    estimate_seconds: 0,
    files: { checkpoint: null, errors: '', report: null },
  };
}

/** Not by the wall clock, which can be set during a run. */
function secondsSince(began: number): number {
  return Math.round((systemClock.monotonic() - began) / 100) / 10;
}
