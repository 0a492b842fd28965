/**
 * The composition root: a migration from its mapping file to its summary.
 *
 *     mapping -> account -> survey -> (dry run: stop here) -> passes -> summary
 */
import { CHECKPOINT_FILE } from './checkpoint/lines.ts';
import { EXIT, messageOf } from './errors.ts';
import { loadMapping } from './mapping/load.ts';
import type { Mapping } from './mapping/mapping.ts';
import { EVENT_TYPES } from './model.ts';
import type { Redactor } from './redact.ts';
import { writeReport } from './report/html/write.ts';
import { REPORT_FILE, SUMMARY_FILE, SURVEY_FILE, type Summary } from './report/summary.ts';
import { RUN_LOG_FILE, RunLog } from './run-log.ts';
import type { Account } from './service/account.ts';
import { DEFAULT_RATE, type Credentials, type RunSettings } from './settings.ts';
import { Lock, StateDir, writeWhole } from './state-dir.ts';
import { TOOL } from './version.ts';
import type { Deliverer } from './send/deliver.ts';
import type { Halt } from './halt.ts';
import { pass, type PassJob } from './plan/pass.ts';
import type { Plan } from './plan/plan.ts';
import {
  connect,
  DRY_RUN,
  statePath,
  storedAccountOf,
  surveyMigration,
  type Surveyed,
  type Target,
} from './plan/setup.ts';
import { allowedErrors, countEvents, endingOf, snapshotOf, summarise, totalOf, type Ending } from './summarise.ts';

/** Who watches a run: told of each stage as it begins, and handed what progress is drawn from. */
export interface Monitor {
  connected?(account: Account, baseUrl: string | undefined): void;
  surveyed?(found: Surveyed): void;
  sending?(view: { readonly plan: Plan; readonly deliverer: Deliverer }): void | Promise<void>;
  /** A line of `run.log`, as it is written. */
  logged?(line: string): void;
  /** What went wrong beside the run itself. */
  trouble?(message: string): void;
}

export interface RunJob {
  readonly settings: RunSettings;
  /** Undefined where nothing may touch the network. */
  readonly credentials: Credentials | undefined;
  /** Appended to the name of the state directory: `.sandbox` for rehearsals. */
  readonly stateSuffix: string;
  readonly halt: Halt;
  readonly redactor: Redactor;
  readonly monitor: Monitor;
}

/** Runs, resumes or (dry run) rehearses a migration. Throws a `UserError` where not even a survey was possible. */
export async function runMigration(job: RunJob): Promise<Summary> {
  const { settings } = job;
  const mapping = await loadMapping(settings.mapping, { sources: settings.source });
  const state = await StateDir.create(statePath(settings, mapping, job.stateSuffix));
  if (settings.dryRun) return runIn(job, mapping, state, await StateDir.create(state.file(DRY_RUN)));
  const lock = await Lock.acquire(state, { takeOver: settings.takeOver });
  try {
    return await runIn(job, mapping, state, state);
  } finally {
    await lock.release();
  }
}

async function runIn(job: RunJob, mapping: Mapping, state: StateDir, output: StateDir): Promise<Summary> {
  const { settings, credentials, halt, monitor } = job;
  const startedAt = new Date();
  const log = await RunLog.open(output.file(RUN_LOG_FILE), job.redactor, (line) => monitor.logged?.(line));
  log.write('run', { tool: TOOL, mapping: mapping.file, mapping_sha256: mapping.sha256, dry_run: settings.dryRun });
  const target =
    credentials && !settings.offline
      ? await connect(settings, credentials, state, output, (message) => {
          log.write('trouble', { message });
          monitor.trouble?.(message);
        })
      : undefined;
  try {
    const offlineAccount = target ? undefined : await storedAccountOf(state);
    const account = target?.account ?? offlineAccount;
    if (account) monitor.connected?.(account, target?.baseUrl);
    else monitor.trouble?.('no account is stored yet, so names of stages and owners stay unresolved');
    const found = await surveyMigration({
      settings,
      mapping,
      state,
      output,
      target,
      offlineAccount,
      halt,
      log,
      trouble: (message) => monitor.trouble?.(message),
    });
    const alreadyAcknowledged = totalOf(EVENT_TYPES.map((type) => countEvents(found.plan, type))).acknowledged;
    monitor.surveyed?.(found);
    if (!settings.dryRun) {
      const snapshot = snapshotOf(mapping.migration, target?.baseUrl ?? null, found.plan, found.records);
      await writeWhole(state.file(SURVEY_FILE), `${JSON.stringify(snapshot)}\n`);
    }
    const sent = await carryOn(job, mapping, state, target, found, log);
    const summary = summarise({
      migration: mapping.migration,
      dryRun: settings.dryRun,
      baseUrl: target?.baseUrl ?? null,
      startedAt,
      ending: sent.ending,
      plan: found.plan,
      records: found.records,
      profile: found.profile,
      report: found.report,
      outcomes: sent.outcomes,
      sending: {
        requests: target?.client.requests ?? 0,
        eventsSent: sent.counters?.events_sent ?? 0,
        retries: sent.counters?.retries ?? 0,
        rateLimited: sent.counters?.rate_limited ?? 0,
      },
      alreadyAcknowledged,
      rate: settings.rate ?? DEFAULT_RATE,
      reserve: settings.reserve,
      files: {
        checkpoint: settings.dryRun ? null : state.file(CHECKPOINT_FILE),
        errors: output.file('errors.csv'),
        report: output.file(REPORT_FILE),
      },
    });
    await found.report.close();
    try {
      // The profile quotes cells, and this file is one that may be passed on.
      const { profile: _profile, ...counts } = summary;
      await writeWhole(output.file(SUMMARY_FILE), `${JSON.stringify(counts, null, 2)}\n`);
      await writeReport(output, { withValues: false });
    } catch (error) {
      monitor.trouble?.(messageOf(error));
    }
    log.write('end', { exit: summary.exit, events: summary.events });
    return summary;
  } finally {
    await target?.client.close();
    await target?.history.close();
    await log.close();
  }
}

interface Sent {
  readonly ending: Ending;
  readonly outcomes: Summary['outcomes'];
  readonly counters?: Deliverer['counters'];
}

/** After the survey: nothing more where it forbids sending, else the passes. */
async function carryOn(
  job: RunJob,
  mapping: Mapping,
  state: StateDir,
  target: Target | undefined,
  found: Surveyed,
  log: RunLog,
): Promise<Sent> {
  const { settings, halt } = job;
  const outcomes = { created: 0, updated: 0, none: 0 };
  const passJob: PassJob = {
    ...found,
    ...mapping,
    sources: found.input.sources,
    ledger: found.checkpoint.ledger,
    goesOn: () => !halt.requested,
  };
  const ended = (): Ending => {
    if (halt.reason) return { code: halt.reason.exitCode, reason: halt.reason.code };
    const events = totalOf(EVENT_TYPES.map((type) => countEvents(found.plan, type)));
    return endingOf({ ...events, changed: found.plan.changed }, found.unreadable);
  };
  const tooMany =
    totalOf(EVENT_TYPES.map((type) => countEvents(found.plan, type))).invalid >
    allowedErrors(settings.maxErrors, found.plan);
  // What the whole input decided against single events is told before anything is sent.
  for (const type of EVENT_TYPES) await pass(passJob, type, undefined, () => undefined);
  if (settings.dryRun || tooMany || !target) {
    if (tooMany && !settings.dryRun)
      return { ending: { code: EXIT.nothingSent, reason: 'too_many_invalid' }, outcomes };
    return { ending: ended(), outcomes };
  }
  const { plan } = found;
  const begun = async (deliverer: Deliverer): Promise<void> => job.monitor.sending?.({ plan, deliverer });
  const dispatcher = await (
    await import('./send/send.ts')
  ).sendAll({ settings, mapping, state, target, found, passJob, halt, log, begun });
  return { ending: ended(), outcomes: dispatcher.outcomes, counters: dispatcher.counters };
}
