/**
 * A migration from its mapping file to its summary:
 *
 *     mapping -> account -> checkpoint -> survey -> (dry run: stop here) -> send -> summary
 */
import { basename } from 'node:path';
import { accountContacts } from './account-contacts.ts';
import { assertBound } from './checkpoint/binding.ts';
import { FieldHasher } from './checkpoint/field-hashes.ts';
import { CHECKPOINT_FILE, type CheckpointLine } from './checkpoint/lines.ts';
import { loadCheckpoint, type LoadedCheckpoint } from './checkpoint/load.ts';
import { systemClock } from './clock.ts';
import { connect, storeAccount, storedAccountOf, type Target } from './connect.ts';
import type { Credentials } from './credentials.ts';
import { EXIT, messageOf, UserError } from './errors.ts';
import { isStateLost, type Halt } from './halt.ts';
import type { Hooks } from './hook-url.ts';
import { Lock } from './lock.ts';
import { loadMapping } from './mapping/load.ts';
import type { Mapping } from './mapping/mapping.ts';
import { allowedErrors, countAll, countsByType } from './plan/counts.ts';
import { surveyInput, type Survey } from './plan/survey.ts';
import type { Redactor } from './redact.ts';
import { History } from './report/history.ts';
import { writeReport } from './report/html/write.ts';
import { MAPPING_FILE } from './report/stored-mapping.ts';
import { SUMMARY_FILE, SURVEY_FILE, type Summary } from './report/summary.ts';
import { RUN_LOG_FILE, RunLog } from './run-log.ts';
import type { Deliverer } from './send/deliver.ts';
import type { Sender } from './send/sender.ts';
import type { Account } from './service/account.ts';
import type { RunSettings } from './settings.ts';
import { DRY_RUN, StateDir, statePath, writeWhole } from './state-dir.ts';
import { endingOf, snapshotOf, storedMapping, summarise, type Ending } from './summarise.ts';
import type { Rate } from './timetable.ts';
import { TOOL } from './version.ts';
import { Watch } from './watch/watch.ts';

/** Callbacks of a run, called as each stage begins, with the data that progress is computed from. */
export interface Monitor {
  connected?(account: Account, baseUrl: string | undefined): void;
  /** The leads of the account are being read: how many so far, of how many in all if the service says. */
  readingContacts?(read: number, total: number | undefined): void;
  /** Asks the user; undefined if there is no terminal. */
  readonly confirm?: ((question: string) => Promise<boolean>) | undefined;
  surveyed?(survey: Survey, rate: Rate): void;
  sending?(
    view: Pick<Survey, 'plan' | 'order'> & { readonly deliverer: Deliverer; readonly rate: Rate },
  ): void | Promise<void>;
  /** A line of `run.log`, as it is written. */
  logged?(line: string): void;
  /** Called with problems that do not stop the run. */
  trouble?(message: string): void;
}

export interface RunJob {
  readonly settings: RunSettings;
  /** Undefined if the network must not be used. */
  readonly credentials: Credentials | undefined;
  /** Appended to the name of the state directory: `.sandbox` for rehearsals. */
  readonly stateSuffix: string;
  readonly halt: Halt;
  readonly redactor: Redactor;
  readonly monitor: Monitor;
  /** URLs to call while it sends and when it ends. */
  readonly hooks?: Hooks;
}

/** Runs, resumes or (dry run) rehearses a migration. Throws a `UserError` if even a survey was not possible. */
export async function runMigration(job: RunJob): Promise<Summary> {
  const { settings } = job;
  const hooks = settings.dryRun ? {} : (job.hooks ?? {});
  const { maxOutage: maxOutageMs } = settings;
  const watch = new Watch({ mapping: basename(settings.mapping), hooks, maxOutageMs, halt: job.halt });
  try {
    const mapping = await loadMapping(settings.mapping, { sources: settings.source });
    const zoned = { ...job, settings: { ...settings, rate: { ...settings.rate, timezone: mapping.timezone } } };
    const state = await StateDir.create(statePath(settings, mapping, job.stateSuffix));
    if (settings.dryRun) {
      return await runIn({ job: zoned, watch, mapping, state, output: await state.directory(DRY_RUN) });
    }
    const notify = (message: string): void => job.monitor.trouble?.(message);
    const lock = await Lock.acquire(state, { takeOver: settings.takeOver, halt: job.halt, notify });
    try {
      return await runIn({ job: zoned, watch, mapping, state, output: state, lock });
    } finally {
      await lock.release();
    }
  } catch (error) {
    await watch.failed(error);
    throw error;
  }
}

interface RunParts {
  readonly job: RunJob;
  readonly watch: Watch;
  readonly mapping: Mapping;
  readonly state: StateDir;
  /** Where plan, reports and log go: the state directory, or `dry-run/` in it. */
  readonly output: StateDir;
  /** Undefined in a dry run, which sends nothing. */
  readonly lock?: Lock;
}

async function runIn(parts: RunParts): Promise<Summary> {
  const { job, watch, mapping, output } = parts;
  const log = await RunLog.open(output.file(RUN_LOG_FILE), job.redactor, (line) => job.monitor.logged?.(line));
  watch.begin(mapping.migration, (event, fields) => log.write(event, fields));
  const run = new Run(parts, log);
  try {
    const target = await run.connect();
    const checkpoint = await run.loadCheckpoint(target);
    const survey = await run.survey(target, checkpoint);
    if (!target || !run.maySend(survey)) return await run.summarise(target, survey);
    const sender = await run.send(target, checkpoint, survey);
    return await run.summarise(target, survey, sender);
  } finally {
    await run.close();
  }
}

/** The steps of one run, and the state that they share. */
class Run {
  readonly #job: RunJob;
  readonly #watch: Watch;
  readonly #mapping: Mapping;
  readonly #state: StateDir;
  readonly #output: StateDir;
  readonly #log: RunLog;
  readonly #lock: Lock | undefined;
  readonly #startedAt = new Date();
  readonly #began = systemClock.monotonic();
  /** What the checkpoint contains; empty in a dry run, whose report is not about it. */
  readonly #history = new History();
  #target: Target | undefined;
  #survey: Survey | undefined;
  #alreadyAcknowledged = 0;
  #mappingChanged = false;

  constructor({ job, watch, mapping, state, output, lock }: RunParts, log: RunLog) {
    this.#job = job;
    this.#watch = watch;
    this.#mapping = mapping;
    this.#state = state;
    this.#output = output;
    this.#log = log;
    this.#lock = lock;
    const { file, sha256 } = mapping;
    log.write('run', { tool: TOOL, mapping: file, mapping_sha256: sha256, dry_run: job.settings.dryRun });
  }

  /** Undefined if the network must not be used. */
  async connect(): Promise<Target | undefined> {
    const { settings, credentials, monitor } = this.#job;
    if (!credentials || settings.offline) return undefined;
    this.#target = await connect(settings, credentials, this.#state, this.#output, (message) => {
      this.#log.write('trouble', { message });
      monitor.trouble?.(message);
    });
    return this.#target;
  }

  async loadCheckpoint(target: Target | undefined): Promise<LoadedCheckpoint> {
    const path = this.#state.file(CHECKPOINT_FILE);
    const keepFields = this.#mapping.entries.some(({ policies }) => typeof policies.if_changed === 'object');
    const { dryRun } = this.#job.settings;
    const hasher = await FieldHasher.open(this.#state, { store: this.#output });
    const onLine = (line: CheckpointLine): void => {
      if (!dryRun) this.#history.take(line);
    };
    const checkpoint = await loadCheckpoint(path, { keepFields, hasher, onLine });
    assertBound(checkpoint, path, this.#mapping.migration, target);
    return checkpoint;
  }

  async survey(target: Target | undefined, checkpoint: LoadedCheckpoint): Promise<Survey> {
    const { settings, halt, monitor } = this.#job;
    const [mapping, state, output] = [this.#mapping, this.#state, this.#output];
    const account = target?.account ?? (await storedAccountOf(state));
    if (account) monitor.connected?.(account, target?.baseUrl);
    else monitor.trouble?.('no account is stored yet, so names of stages and owners stay unresolved');
    if (target) await storeAccount(output, target);
    const agree = (found: string, hint: string): Promise<void> => this.#agree(found, hint);
    const contacts = await accountContacts({ ...this.#job, mapping, target, checkpoint, state, output, agree });
    const client = target?.client;
    const survey = await surveyInput({
      settings,
      mapping,
      account,
      checkpoint,
      state,
      output,
      halt,
      contacts,
      client,
      warn: (message) => monitor.trouble?.(message),
      agree,
    });
    this.#survey = survey;
    this.#alreadyAcknowledged = countAll(survey.plan).acknowledged;
    const last = checkpoint.lastRun;
    this.#mappingChanged = last !== undefined && last.mapping_sha256 !== mapping.sha256;
    const rate = target?.rate ?? settings.rate;
    monitor.surveyed?.(survey, rate);
    await writeWhole(output.file(MAPPING_FILE), `${JSON.stringify(await storedMapping(mapping, survey))}\n`);
    const snapshot = snapshotOf(mapping.migration, target?.baseUrl ?? null, survey, rate);
    await writeWhole(output.file(SURVEY_FILE), `${JSON.stringify(snapshot)}\n`);
    return survey;
  }

  /** Asks whether to go on. Throws a `UserError` (exit 2) unless the user agrees, or has with --yes. */
  async #agree(found: string, hint: string): Promise<void> {
    const { settings, monitor } = this.#job;
    if (settings.yes || (await monitor.confirm?.(`${found}. Continue?`)) === true) return;
    throw new UserError(found, { hint });
  }

  maySend(survey: Survey): boolean {
    const { settings, halt } = this.#job;
    return !settings.dryRun && !halt.requested && this.#refusal(survey) === undefined;
  }

  async send(target: Target, checkpoint: LoadedCheckpoint, survey: Survey): Promise<Sender> {
    const { sendPlan } = await import('./send/send.ts');
    const { settings, halt, monitor } = this.#job;
    return sendPlan({
      settings,
      mapping: this.#mapping,
      state: this.#state,
      target,
      survey,
      checkpoint,
      history: this.#history,
      halt,
      log: this.#log,
      confirmLock: async () => this.#lock?.confirm(),
      started: async (deliverer) => {
        const { plan, order } = survey;
        const { rate } = target;
        this.#watch.sending({ plan, order, deliverer, rate, counts: () => countsByType(plan) }, this.#state);
        await monitor.sending?.({ plan, order, deliverer, rate });
      },
    });
  }

  /** Returns the summary, and writes it to the state directory together with the report. */
  async summarise(target: Target | undefined, survey: Survey, sender?: Sender): Promise<Summary> {
    const { settings } = this.#job;
    const summary = summarise({
      settings: { ...settings, rate: target?.rate ?? settings.rate },
      mapping: this.#mapping,
      survey,
      ending: this.#ending(survey),
      startedAt: this.#startedAt,
      began: this.#began,
      alreadyAcknowledged: this.#alreadyAcknowledged,
      mappingChanged: this.#mappingChanged,
      baseUrl: target?.baseUrl ?? null,
      requests: target?.client.requests ?? 0,
      sender,
      checkpoint: settings.dryRun ? null : this.#state.file(CHECKPOINT_FILE),
      output: this.#output,
    });
    await survey.report.close();
    if (!isStateLost(summary.exit.reason)) await this.#writeReports(summary, survey);
    this.#log.write('end', { exit: summary.exit, events: summary.events });
    await this.#watch.ended(summary);
    return summary;
  }

  async #writeReports(summary: Summary, survey: Survey): Promise<void> {
    const { monitor } = this.#job;
    try {
      // The profile quotes cells, and this file may be shared.
      const { profile: _profile, ...counts } = summary;
      await writeWhole(this.#output.file(SUMMARY_FILE), `${JSON.stringify(counts, null, 2)}\n`);
      await writeReport(this.#output, { withValues: false, history: this.#history });
      await survey.report.rejects.publish();
      for (const { usual, path } of survey.report.rejects.beside) {
        monitor.trouble?.(
          `${usual} was changed or created outside this program, so it was not overwritten; this run's rejects are in ${path}`,
        );
      }
    } catch (error) {
      monitor.trouble?.(messageOf(error));
    }
  }

  async close(): Promise<void> {
    this.#survey?.plan.file.close();
    await this.#target?.close();
    await this.#log.close();
  }

  /** Why nothing of this plan is sent, if so. */
  #refusal({ plan, omitted }: Survey): 'too_many_omitted' | 'too_many_invalid' | undefined {
    const { maxErrors, maxOmitted } = this.#job.settings;
    if (omitted.excess(maxOmitted).length > 0) return 'too_many_omitted';
    return countAll(plan).invalid > allowedErrors(maxErrors, plan) ? 'too_many_invalid' : undefined;
  }

  #ending(survey: Survey): Ending {
    const { settings, halt } = this.#job;
    if (halt.reason) return { code: halt.reason.exitCode, reason: halt.reason.code };
    const refusal = this.#refusal(survey);
    if (refusal && !settings.dryRun) return { code: EXIT.nothingSent, reason: refusal };
    if (refusal === 'too_many_omitted') return { code: EXIT.finishedWithErrors, reason: refusal };
    return endingOf(survey);
  }
}
