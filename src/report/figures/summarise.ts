import { basename, resolve } from 'node:path';
import { systemClock } from '../../clock.ts';
import { EXIT, type ExitCode } from '../../errors.ts';
import type { Mapping } from '../../mapping/mapping.ts';
import type { Lack } from '../../mapping/not-in-export.ts';
import {
  allowedErrors,
  countDue,
  countWaiting,
  countWhere,
  outcomesOf,
  priorityProgress,
  totalOf,
  type CountedState,
  countRecords,
} from '../../plan/counts.ts';
import { storedDigest } from '../../plan/digest.ts';
import { countSharedIds } from '../../plan/known/records.ts';
import { readDifference } from '../../plan/difference.ts';
import { DIFFERENCE_CODES, type DifferenceCode } from '../../plan/known/judge-known.ts';
import { countsByCode } from '../files/findings.ts';
import { readPilot } from '../files/pilot.ts';
import { skippedCounts } from '../files/skipped.ts';
import {
  REPORT_FILE,
  type ControlTotal,
  type PriorityCounts,
  type Summary,
  type SurveySnapshot,
} from '../files/summary.ts';
import { STAGED } from '../../kinds/index.ts';
import { DEAL_CELLS, type DealGroup } from './deals.ts';
import { prioritiesOf } from './counts.ts';
import type { PlanReading } from './run.ts';
import { readDocument, type StoredMapping } from '../files/documents.ts';
import type { Sender } from '../../send/sender.ts';
import { optionsToResume } from '../../settings/command-line.ts';
import type { RunSettings } from '../../settings/run-settings.ts';
import { unreadFiles } from '../../input/input.ts';
import type { StateDir } from '../../files/state-dir.ts';
import { CHECKPOINT_FILE } from '../../store/checkpoint-schema.ts';
import type { Database } from '../../store/sqlite.ts';
import type { Survey } from '../../survey/survey.ts';
import type { Rate } from '../../rate.ts';

export interface Ending {
  readonly code: ExitCode;
  /** `done`, or why the run stopped or finished with errors, in snake_case. */
  readonly reason: string;
}

export function refusalOf(
  { maxErrors, maxOmitted }: Pick<RunSettings, 'maxErrors' | 'maxOmitted'>,
  { omitted }: Pick<Survey, 'omitted'>,
  states: readonly CountedState[],
): 'too_many_omitted' | 'too_many_invalid' | undefined {
  if (omitted.excess(maxOmitted).length > 0) return 'too_many_omitted';
  const { invalid, total } = totalOf(Object.values(outcomesOf(states)));
  return invalid > allowedErrors(maxErrors, total) ? 'too_many_invalid' : undefined;
}

/** The ending of a run that was not stopped early. Held events are pending, which is no error; waiting ones were selected. */
export function endingOf({ db }: Pick<Survey, 'db'>, states: readonly CountedState[]): Ending {
  const events = totalOf(Object.values(outcomesOf(states)));
  const found = [
    ['rejected', events.rejected],
    ['blocked', events.blocked],
    ['invalid', events.invalid],
    ['unmapped', countCode(states, 'unmapped')],
    ['unreadable', countRecords(db).unreadable],
    ['same_service_id', countSharedIds(db)],
    ['waiting', countWhere(states, ({ state }) => state === 'waiting')],
    ...DIFFERENCE_CODES.map((code) => [code, countCode(states, code)] as const),
  ] as const;
  const reason = found.find(([, count]) => count > 0)?.[0];
  return reason ? { code: EXIT.finishedWithErrors, reason } : { code: EXIT.done, reason: 'done' };
}

/**
 * Estimated seconds until the last of this many events goes out from now on, one request each. The window slides: a full one goes
 * at once, and its requests may follow one window later, also at once.
 */
export function estimateSeconds(events: number, rate: Rate): number {
  return Math.ceil(Math.floor(Math.max(0, events - 1) / rate.requests) * rate.seconds);
}

function countCode(states: readonly CountedState[], code: DifferenceCode | 'unmapped'): number {
  return countWhere(states, (each) => each.state === 'acknowledged' && each.code === code);
}

/** The priorities, and when each was (`endedAt`) or will be done if sending goes on at `now`. */
export function plannedPriorities(
  states: readonly CountedState[],
  { rate, now }: { rate: Rate; now: Date },
  endedAt?: (priority: number) => Date | undefined,
): PriorityCounts[] {
  return prioritiesOf(priorityProgress(states), now, (events) => estimateSeconds(events, rate), endedAt);
}

/** Findings of the survey that are not in the plan. */
export function snapshotOf(
  migration: string,
  baseUrl: string | null,
  { db }: Pick<Survey, 'db'>,
  rate: Rate,
): SurveySnapshot {
  const records = countRecords(db);
  const options = optionsToResume(process.argv);
  return { migration, base_url: baseUrl, at: new Date().toISOString(), records, rate, options };
}

/** For the report: how the exports are mapped, and their unused parts. */
export async function storedMapping(
  mapping: Pick<
    Mapping,
    'file' | 'title' | 'customer' | 'region' | 'timezone' | 'worksheet' | 'functions' | 'marks' | 'words'
  >,
  { db, profile, compiled: { lacking, named } }: Pick<Survey, 'db' | 'profile' | 'compiled'>,
): Promise<StoredMapping> {
  const sources = Object.entries(profile.sources).map(([name, { records, unused }]) => [name, { records, unused }]);
  const own = [resolve(mapping.file), mapping.worksheet?.path, mapping.functions?.path].filter(
    (path) => path !== undefined,
  );
  const unread = await unreadFiles([...readDocument(db, 'inputs')!.map(({ path }) => path), ...own]);
  return {
    title: mapping.title ?? null,
    customer: mapping.customer ?? null,
    region: mapping.region ?? null,
    timezone: mapping.timezone ?? null,
    entries: mapping.words(lacking),
    sources: Object.fromEntries(sources) as StoredMapping['sources'],
    unread_files: unread.map((path) => basename(path)),
    not_in_export: {
      sources: lacking.sources,
      entries: lacking.entries.map(({ type, source, values }) => ({ type, source, columns: namesOf(values) })),
      values: onlyOnce(lacking.values.map(({ source, columns: [column = ''] }) => ({ source, column }))),
      named: onlyOnce(named),
    },
    assumed: mapping.marks.flatMap(({ mark, line, text }) =>
      mark === 'set this' ? [{ place: `${basename(mapping.file)}:${line}`, text }] : [],
    ),
  };
}

function namesOf(values: readonly Lack[]): readonly string[] {
  return [...new Set(values.map(({ columns: [column = ''] }) => column))];
}

function onlyOnce<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

export function summarise(run: {
  readonly settings: Pick<RunSettings, 'dryRun' | 'rate' | 'maxOmitted'>;
  readonly mapping: Pick<Mapping, 'migration' | 'sha256'>;
  readonly survey: Survey;
  readonly plan: Pick<PlanReading, 'states' | 'deals' | 'findings' | 'skipped'>;
  readonly ending: Ending;
  readonly startedAt: Date;
  /** When it started, by the monotonic clock. */
  readonly began: number;
  readonly baseUrl: string | null;
  readonly requests: number;
  /** Undefined if nothing was sent. */
  readonly sender: Sender | undefined;
  readonly state: StateDir;
  readonly output: StateDir;
}): Summary {
  const { settings, survey, sender, state, output } = run;
  const { states, deals, findings, skipped } = run.plan;
  const { db } = survey;
  const { rate } = settings;
  const finished = new Date();
  const byType = outcomesOf(states);
  const stored = storedDigest(db);
  const difference = readDifference(db, { mappingSha256: run.mapping.sha256, isAnswered: survey.hasOtherAnswers });
  return {
    migration: run.mapping.migration,
    dry_run: settings.dryRun,
    exit: run.ending,
    base_url: run.baseUrl,
    started_at: run.startedAt.toISOString(),
    finished_at: finished.toISOString(),
    records: countRecords(db),
    events: {
      ...totalOf(Object.values(byType)),
      // What a run sends is in its input.
      gone: survey.changes?.gone ?? 0,
      changed: DIFFERENCE_CODES.reduce((sum, code) => sum + countCode(states, code), 0),
    },
    mapping_changed: survey.hasOtherAnswers || hasMappingChanged(db, run.mapping.sha256, sender !== undefined),
    ...(difference && { difference }),
    ...(survey.changes && { changes: survey.changes }),
    by_type: byType,
    outcomes: sender?.outcomes ?? { created: 0, updated: 0, none: 0 },
    this_run: {
      requests: run.requests,
      events_sent: sender?.counters.events_sent ?? 0,
      follow_ups: sender?.counters.follow_ups ?? 0,
      retries: sender?.counters.retries ?? 0,
      rate_limited: sender?.counters.rate_limited ?? 0,
      already_acknowledged: countWhere(survey.states, ({ state }) => state === 'acknowledged'),
      adopted: sender?.adopted ?? 0,
      seconds: secondsSince(run.began),
    },
    errors_by_code: countsByCode(findings, 'error'),
    warnings_by_code: countsByCode(findings, 'warning'),
    waiting: countWaiting(db),
    skipped: skippedCounts(skipped),
    omitted: survey.omitted.counts,
    over_max_omitted: survey.omitted.excess(settings.maxOmitted),
    totals: deals.map(controlTotal),
    profile: survey.profile,
    pilot: readPilot(db) ?? null,
    priorities: plannedPriorities(states, { rate, now: finished }, (priority) => sender?.endedAt.get(priority)),
    plan: { digest: stored?.digest ?? null, events: stored?.listed ?? 0 },
    estimate_seconds: estimateSeconds(countDue(states), rate),
    files: {
      checkpoint: settings.dryRun ? null : state.file(CHECKPOINT_FILE),
      errors: output.file('errors.csv'),
      report: output.file(REPORT_FILE),
    },
  };
}

function controlTotal({ sum, others, ...names }: DealGroup): ControlTotal {
  const cells = DEAL_CELLS.flatMap((cell) => {
    const name = cell === 'export' ? '' : `${cell.replace(' ', '_')}_`;
    return [
      [`${name}count`, sum.count(cell)],
      [`${name}amount`, sum.amount(cell)],
    ] as const;
  });
  return {
    entity: STAGED,
    ...names,
    ...(others && { others }),
    ...Object.fromEntries(cells),
    ...{ unread_amounts: sum.unread, differing: sum.differing, unknown: sum.unknown },
  } as ControlTotal;
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
      follow_ups: 0,
      retries: 0,
      rate_limited: 0,
      already_acknowledged: 0,
      adopted: 0,
      seconds: secondsSince(run.began),
    },
    errors_by_code: {},
    warnings_by_code: {},
    waiting: {},
    skipped: {},
    omitted: {},
    over_max_omitted: [],
    totals: [],
    pilot: null,
    priorities: [],
    plan: { digest: null, events: 0 },
    profile: { sources: {}, shared: [], bare: [] },
    estimate_seconds: 0,
    files: { checkpoint: null, errors: '', report: null },
  };
}

/** Whether the mapping has changed since the last run that sent events; `isSending`: the last one is this run. */
function hasMappingChanged(db: Database, sha256: string, isSending: boolean): boolean {
  const last = db.get<{ mapping_sha256: string }>(
    'select mapping_sha256 from checkpoint.run order by id desc limit 1 offset ?',
    Number(isSending),
  );
  return last !== undefined && last.mapping_sha256 !== sha256;
}

/** Not by the wall clock, which can be set during a run. */
function secondsSince(began: number): number {
  return Math.round((systemClock.monotonic() - began) / 100) / 10;
}
