/**
 * A migration from its mapping file to its summary:
 *
 *     mapping -> account -> survey -> (dry run: stop here) -> send -> summary
 */
import { basename } from 'node:path';
import { accountContacts } from './plan/compare/account-contacts.ts';
import { systemClock } from './clock.ts';
import { closingAfter, type Later } from './closing.ts';
import { connect, storeAccount, storedAccountOf, type Target } from './connect.ts';
import type { Credentials } from './settings/credentials.ts';
import { EXIT, shortageOf, UserError } from './errors.ts';
import { isStateLost, type Halt } from './halt.ts';
import type { FunctionModule } from './mapping/functions.ts';
import { loadMapping } from './mapping/load.ts';
import { holdState, type HeldState } from './held-state.ts';
import type { Mapping } from './mapping/mapping.ts';
import { counted } from './terminal/numbers.ts';
import { countAll, countDue, countStates } from './plan/counts.ts';
import { doubtRecords, isOlder } from './plan/older.ts';
import { writeFiles, type WrittenFiles } from './pages/written-files.ts';
import { planCounter, type ProgressView } from './pages/progress-tracker.ts';
import type { Redactor, Secret } from './redact.ts';
import { storeDocument } from './report/documents.ts';
import type { Summary } from './report/summary.ts';
import { BestEffort } from './files/best-effort.ts';
import type { Sender } from './send/sender.ts';
import type { Account } from './service/account.ts';
import type { RunSettings } from './settings/run-settings.ts';
import { assertBound, openFieldHasher } from './store/checkpoint.ts';
import type { FieldHasher } from './store/field-hashes.ts';
import { PLAN_FILE } from './store/plan-schema.ts';
import { findDamage } from './store/sqlite.ts';
import { endingOf, refusalOf, snapshotOf, storedMapping, summarise, type Ending } from './figures/summarise.ts';
import { readPlan, type PlanReading } from './figures/run.ts';
import { beginPlan, discardPlan } from './survey/plan-file.ts';
import { surveyInput, type Survey } from './survey/survey.ts';
import type { Rate } from './rate.ts';
import { TOOL } from './version.ts';
import { Watch } from './pages/watch.ts';

/** Callbacks of a run, called as each stage begins, with the data that progress is computed from. */
export interface Monitor {
  /** The mapping runs code of the user's. */
  runsCode?(functions: Pick<FunctionModule, 'file' | 'sha256'>): void;
  connected?(account: Account, baseUrl: string | undefined): void;
  /** The leads of the account are being read: how many so far, of how many in all if the service says. */
  readingContacts?(read: number, total: number | undefined): void;
  /** Asks the user; undefined if there is no terminal. */
  readonly confirm?: ((question: string) => Promise<boolean>) | undefined;
  surveyed?(survey: Survey, rate: Rate): void;
  /** With --until: the run stops then. */
  stopsAt?(moment: Date): void;
  /** Loads the modules that `sending` needs. */
  load?(): Promise<void>;
  sending?(view: ProgressView): void | Promise<void>;
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
  /** The URL of `--notify`. */
  readonly notify?: Secret | undefined;
}

/** How a run ended, and what its text shows beside the summary. */
export interface RunEnd {
  readonly summary: Summary;
  readonly plan: PlanReading;
  /** Undefined if the state directory is gone. */
  readonly files: WrittenFiles | undefined;
  /** Which messages to --notify were not delivered, if any. */
  readonly undelivered: string | undefined;
  /** Names of files for people that could not be written. */
  readonly unwritten: readonly string[];
}

/** Runs, resumes or (dry run) rehearses a migration. Throws a `UserError` if even a survey was not possible. */
export async function runMigration(job: RunJob): Promise<RunEnd> {
  const { settings, halt, monitor } = job;
  const watch = new Watch({
    mapping: basename(settings.mapping),
    notify: settings.dryRun ? undefined : job.notify,
    maxOutageMs: settings.maxOutage,
    halt,
    warn: (message) => monitor.trouble?.(message),
  });
  let hasSent = (): boolean => false;
  const act = async (later: Later): Promise<RunEnd> => {
    try {
      const mapping = await loadMapping(settings.mapping, { sources: settings.source });
      const held = await holdState(job, mapping, later);
      const { log } = held;
      watch.begin(mapping.migration, (event, fields) => log.write(event, fields));
      const { file, sha256 } = mapping;
      log.write('run', { tool: TOOL, mapping: file, mapping_sha256: sha256, dry_run: settings.dryRun });
      if (mapping.functions) monitor.runsCode?.(mapping.functions);
      const bestEffort = new BestEffort((message) => monitor.trouble?.(message));
      const [startedAt, began] = [new Date(), systemClock.monotonic()];
      const run: Run = { ...job, ...held, watch, mapping, startedAt, began, later, bestEffort };
      if (!settings.dryRun) await loadSending(run);
      const target = await connectTo(run);
      if (target) later(() => target.close());
      const { survey, hasher } = await surveyed(run, target);
      // It was read beside the survey; nothing is sent before it is known to be whole.
      await held.checkpointWhole;
      const before = countAll(survey.db).acknowledged;
      const sends = target !== undefined && maySend(run, survey);
      if (sends) await confirmFirst(run, target, survey);
      const asked = target?.client.requests ?? 0;
      hasSent = () => sends && target.client.requests > asked;
      const sender = sends ? await send(run, target, survey, hasher) : undefined;
      return await end(run, target, survey, before, sender);
    } catch (error) {
      await watch.failed(error);
      throw error;
    }
  };
  try {
    return await closingAfter(act);
  } catch (error) {
    throw asEnded(error, hasSent());
  }
}

/** The exit code says whether anything was sent, whatever the error is about. */
function asEnded(thrown: unknown, hasSent: boolean): unknown {
  const error = thrown instanceof UserError ? thrown : (shortageOf(thrown, EXIT.nothingSent) ?? findDamage());
  if (!error || !hasSent || error.exitCode !== EXIT.nothingSent) return error ?? thrown;
  const { message, hint } = error;
  return new UserError(message, { ...(hint !== undefined && { hint }), exitCode: EXIT.stopped, cause: thrown });
}

/** What the steps of one run share. */
interface Run extends RunJob, HeldState {
  readonly watch: Watch;
  readonly mapping: Mapping;
  readonly startedAt: Date;
  /** By the monotonic clock. */
  readonly began: number;
  readonly bestEffort: BestEffort;
  /** What to close at the end. */
  readonly later: Later;
}

/** Loads what sending needs before the first request: a module that cannot be loaded must not stop a run halfway. */
async function loadSending({ watch, monitor }: Run): Promise<void> {
  try {
    await Promise.all([import('./send/send.ts'), watch.load(), monitor.load?.()]);
  } catch (error) {
    throw shortageOf(error, EXIT.nothingSent) ?? error;
  }
}

/** Undefined if the network must not be used. */
async function connectTo({ settings, credentials, state, output, log, monitor }: Run): Promise<Target | undefined> {
  if (!credentials || settings.offline) return undefined;
  return connect(settings, credentials, state, output, (message) => {
    log.write('trouble', { message });
    monitor.trouble?.(message);
  });
}

async function surveyed(run: Run, target: Target | undefined): Promise<{ survey: Survey; hasher: FieldHasher }> {
  const { settings, mapping, state, output, halt, monitor, log } = run;
  const db = beginPlan(state, output);
  run.later(() => discardPlan(db, output));
  assertBound(db, mapping.migration, target);
  const isBehind = isOlder(db, state.file(PLAN_FILE));
  if (isBehind) {
    log.write('older_checkpoint');
    if (!settings.dryRun && !settings.adopt) throw new UserError(OLDER, { hint: OLDER_HINT, exitCode: EXIT.stopped });
    monitor.trouble?.(OLDER);
  }
  const hasher = openFieldHasher(db, settings);
  if (isBehind && !settings.dryRun) doubtRecords(db, hasher, state.file(PLAN_FILE));
  const account = target?.account ?? storedAccountOf(state);
  if (account) monitor.connected?.(account, target?.baseUrl);
  else monitor.trouble?.('no account is stored yet, so names of stages and owners stay unresolved');
  if (target) storeAccount(db, target);
  const agree = (found: string, hint: string): Promise<void> => confirm(run, found, hint);
  const contacts = await accountContacts({ settings, halt, monitor, db, mapping, target, hasher, agree });
  const client = target?.client;
  const warn = (message: string): void => monitor.trouble?.(message);
  const survey = await surveyInput({
    ...{ settings, mapping, db, hasher, account, state, output, halt, contacts, client, warn, agree },
  });
  run.later(() => survey.db.close());
  const rate = target?.rate ?? settings.rate;
  monitor.surveyed?.(survey, rate);
  storeDocument(survey.db, 'mapping', await storedMapping(mapping, survey));
  storeDocument(survey.db, 'survey', snapshotOf(mapping.migration, target?.baseUrl ?? null, survey, rate));
  return { survey, hasher };
}

const OLDER = 'checkpoint.db is older than plan.db beside it: a copy was put back, or its -wal was deleted';
const OLDER_HINT =
  'put the newest copy of the whole state directory back, or continue with --adopt: what the service shows of the records is then read back';

/** Asks whether to go on. Throws a `UserError` (exit 2) unless the user agrees, or has with --yes. */
async function confirm({ settings, monitor }: Run, found: string, hint: string): Promise<void> {
  if (settings.yes || (await monitor.confirm?.(`${found}. Continue?`)) === true) return;
  throw new UserError(found, { hint });
}

function maySend({ settings, halt }: Run, survey: Survey): boolean {
  return !settings.dryRun && !halt.requested && refusalOf(settings, survey) === undefined;
}

/** The first live run asks: what it sends cannot be deleted. Without a terminal it goes on. */
async function confirmFirst(
  { settings, stateSuffix, monitor }: Run,
  { baseUrl }: Target,
  { db }: Survey,
): Promise<void> {
  const isRehearsal = stateSuffix !== '';
  if (settings.yes || settings.plan !== undefined || isRehearsal || !monitor.confirm) return;
  const due = countDue(countStates(db));
  if (due === 0 || db.get('select 1 from checkpoint.run limit 1')) return;
  const question = `${counted(due, 'event')} will be sent to ${baseUrl}; none of them can be deleted afterwards. Send them?`;
  if (await monitor.confirm(question)) return;
  throw new UserError('nothing was sent', {
    hint: 'rerun and answer y, or add --yes or --plan DIGEST to send without a question',
  });
}

async function send(run: Run, target: Target, survey: Survey, hasher: FieldHasher): Promise<Sender> {
  const [{ sendPlan }, { momentOf }] = await Promise.all([import('./send/send.ts'), import('./send/until.ts')]);
  const { settings, mapping, state, halt, log, watch, monitor, bestEffort } = run;
  const until = settings.until && momentOf(settings.until, mapping.timezone);
  if (until) monitor.stopsAt?.(until);
  return sendPlan({
    ...{ settings, mapping, state, target, survey, hasher, halt, log, until, bestEffort },
    warn: (message) => monitor.trouble?.(message),
    started: async (deliverer) => {
      const view = { rate: target.rate, count: planCounter(survey.db), deliverer };
      watch.sending(view, survey.db);
      await monitor.sending?.(view);
    },
  });
}

/** Returns the summary, and writes it to the plan together with what people read. */
async function end(
  run: Run,
  target: Target | undefined,
  survey: Survey,
  alreadyAcknowledged: number,
  sender: Sender | undefined,
): Promise<RunEnd> {
  const { settings, mapping, state, output, log, watch, monitor, startedAt, began, bestEffort } = run;
  const plan = readPlan(survey.db);
  const summary = summarise({
    settings: { ...settings, rate: target?.rate ?? settings.rate },
    ...{ mapping, survey, findings: plan.findings, startedAt, began, alreadyAcknowledged, sender, state, output },
    ending: endOf(run, survey),
    baseUrl: target?.baseUrl ?? null,
    requests: target?.client.requests ?? 0,
  });
  const files = isStateLost(summary.exit.reason)
    ? undefined
    : await writeFiles({ ...run, warn: (message) => monitor.trouble?.(message) }, survey.db, summary);
  log.write('end', { exit: summary.exit, events: summary.events });
  await watch.ended(summary);
  return { summary, plan, files, undelivered: watch.undelivered, unwritten: bestEffort.failed };
}

function endOf({ settings, halt }: Run, survey: Survey): Ending {
  if (halt.reason) return { code: halt.reason.exitCode, reason: halt.reason.code };
  const refusal = refusalOf(settings, survey);
  // A dry run says what the run would refuse.
  if (refusal) return { code: settings.dryRun ? EXIT.finishedWithErrors : EXIT.nothingSent, reason: refusal };
  return endingOf(survey);
}
