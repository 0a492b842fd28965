/**
 * The composition root: a migration from its mapping file to its summary.
 *
 *     mapping -> account -> survey -> (dry run: stop here) -> passes -> summary
 */
import { unlink } from 'node:fs/promises';
import { openIds, IDS_FILE } from '../checkpoint/ids.ts';
import { CHECKPOINT_FILE } from '../checkpoint/lines.ts';
import { CheckpointWriter } from '../checkpoint/write.ts';
import { systemClock } from '../clock.ts';
import { EXIT, messageOf, UserError } from '../errors.ts';
import { contentSha } from '../identity.ts';
import { loadMapping } from '../mapping/load.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { EVENT_TYPES } from '../model.ts';
import type { Redactor } from '../redact.ts';
import { writeReport } from '../report/html/write.ts';
import { REPORT_FILE, SUMMARY_FILE, SURVEY_FILE, type Summary } from '../report/summary.ts';
import { RUN_LOG_FILE, RunLog } from '../run-log.ts';
import type { Account } from '../service/account.ts';
import { DEFAULT_RATE, type Credentials, type RunSettings, type Tolerance } from '../settings.ts';
import { Lock, StateDir, writeWhole } from '../state-dir.ts';
import { TOOL } from '../version.ts';
import { newHeader } from './binding.ts';
import { createDeliverer, type Deliverer } from './deliver.ts';
import { Dispatcher } from './dispatch.ts';
import type { Halt } from './halt.ts';
import { InputChanged, pass, type PassJob } from './pass.ts';
import type { Plan } from './plan.ts';
import { connect, DRY_RUN, statePath, storedAccountOf, surveyMigration, type Surveyed, type Target } from './setup.ts';
import { countEvents, endingOf, snapshotOf, summarise, totalOf, type Ending } from './summarise.ts';

/** Who watches a run: told of each stage as it begins, and handed what progress is drawn from. */
export interface Monitor {
  connected?(account: Account, baseUrl: string | undefined): void;
  surveyed?(found: Surveyed): void;
  sending?(view: { readonly plan: Plan; readonly deliverer: Deliverer }): void;
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
  const log = await RunLog.open(output.file(RUN_LOG_FILE), job.redactor);
  log.write('run', { tool: TOOL, mapping: mapping.file, mapping_sha256: mapping.sha256, dry_run: settings.dryRun });
  const target = credentials && !settings.offline ? await connect(settings, credentials, state, output) : undefined;
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
      await writeWhole(output.file(SUMMARY_FILE), `${JSON.stringify(summary, null, 2)}\n`);
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
  const tooMany = exceeds(settings.maxErrors, found.plan);
  // What the whole input decided against single events is told before anything is sent.
  for (const type of EVENT_TYPES) await pass(passJob, type, undefined, () => undefined);
  if (settings.dryRun || tooMany || !target) {
    if (tooMany && !settings.dryRun)
      return { ending: { code: EXIT.nothingSent, reason: 'too_many_invalid' }, outcomes };
    return { ending: ended(), outcomes };
  }
  const dispatcher = await sendAll(job, mapping, state, target, found, passJob, log);
  return { ending: ended(), outcomes: dispatcher.outcomes, counters: dispatcher.counters };
}

async function sendAll(
  job: RunJob,
  mapping: Mapping,
  state: StateDir,
  target: Target,
  found: Surveyed,
  passJob: PassJob,
  log: RunLog,
): Promise<Dispatcher> {
  const { settings, halt, monitor } = job;
  const { plan, report, checkpoint, input } = found;
  const path = state.file(CHECKPOINT_FILE);
  const writer = await beginCheckpoint(path, mapping, target, found);
  const ids = await openIds(state.file(IDS_FILE), path);
  const deliverer = createDeliverer({
    client: target.client,
    limiter: target.limiter,
    halt,
    clock: systemClock,
    concurrency: settings.concurrency,
    maxOutageMs: settings.maxOutage,
    beforeSend: ({ id, ready }) =>
      writer.sent({
        kind: 'sent',
        id,
        type: ready.type,
        external_id: ready.externalId ?? null,
        content_sha: contentSha(ready.data),
      }),
    log: (event, fields) => log.write(event, fields),
  });
  const dispatcher = new Dispatcher({
    plan,
    policies: found.compiled.entries.map(({ policies }) => policies),
    deliverer,
    checkpoint: writer,
    ids,
    report,
    halt,
    concurrency: settings.concurrency,
    maxRejectionsInARow: settings.maxRejectionsInARow,
    maxRejections: allowed(settings.maxErrors, plan),
    maxRequests: settings.maxRequests,
    requests: () => target.client.requests,
    isFirstRun: !settings.adopt && checkpoint.ledger.settled === 0 && checkpoint.lastRun === undefined,
  });
  monitor.sending?.({ plan, deliverer });
  const alarm = settings.until && haltAt(settings.until, halt);
  try {
    for (const type of EVENT_TYPES) {
      for (const due of ['ready', 'retry'] as const) {
        if (halt.requested) break;
        await input.assertUnchanged();
        await pass(passJob, type, due, (event) => dispatcher.send(event, due === 'retry'));
        await dispatcher.idle();
      }
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const code = error instanceof InputChanged ? INPUT_CHANGED : 'state_not_written';
    halt.request({ code, message: error.message, hint: error.hint, exitCode: EXIT.stopped });
  } finally {
    clearInterval(alarm);
    await dispatcher.idle();
    deliverer.close();
    await writer.close();
    await ids.close();
  }
  if (halt.reason?.code === 'unknown_history') await unlink(path);
  else if (halt.reason?.code !== INPUT_CHANGED) await reportUntried(passJob);
  return dispatcher;
}

/** After a stop: events that an earlier run saw rejected, and that this one did not get to, stand in the report as well. */
async function reportUntried(job: PassJob): Promise<void> {
  for (const type of EVENT_TYPES) {
    if (job.plan.tables[type].counts.retry === 0) continue;
    await pass({ ...job, goesOn: () => true }, type, 'retry', ({ event, ordinal, row }) => {
      const { place, externalId } = event;
      const eventId = job.plan.idOf(job.plan.asSent(event, ordinal), ordinal);
      return job.report.error({ place, type, externalId, eventId, issues: [UNTRIED], raw: row.raw });
    });
  }
}

const UNTRIED = {
  severity: 'error',
  kind: 'send',
  code: 'rejected_earlier',
  message: 'an earlier run saw it rejected, and this one stopped before trying it again',
} as const;

const INPUT_CHANGED = 'input_changed';

/** On disk before anything is sent: a directory that cannot be written to is found here (exit 2). */
async function beginCheckpoint(
  path: string,
  mapping: Mapping,
  target: Target,
  found: Surveyed,
): Promise<CheckpointWriter> {
  const { checkpoint, input } = found;
  const writer = await CheckpointWriter.open(path, checkpoint);
  await writer.begin([
    ...(checkpoint.header ? [] : [newHeader(mapping, target.baseUrl, target.account)]),
    { kind: 'run', tool: TOOL, mapping_sha256: mapping.sha256, inputs: input.digests(), at: new Date().toISOString() },
  ]);
  return writer;
}

function allowed(tolerance: Tolerance, plan: Plan): number {
  if ('count' in tolerance) return tolerance.count;
  const { total } = totalOf(EVENT_TYPES.map((type) => countEvents(plan, type)));
  return (total * tolerance.percent) / 100;
}

function exceeds(tolerance: Tolerance, plan: Plan): boolean {
  return totalOf(EVENT_TYPES.map((type) => countEvents(plan, type))).invalid > allowed(tolerance, plan);
}

/** Looks at the wall clock every second: a timer would be wrong by however long the machine sleeps. */
function haltAt(time: Date, halt: Halt): NodeJS.Timeout {
  const look = (): void => {
    if (Date.now() < time.getTime()) return;
    halt.request({ code: 'until', message: 'the time of --until has come', exitCode: EXIT.stopped });
  };
  return setInterval(look, 1000).unref();
}
