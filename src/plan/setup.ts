import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CHECKPOINT_FILE } from '../checkpoint/lines.ts';
import { loadCheckpoint, type LoadedCheckpoint } from '../checkpoint/load.ts';
import { systemClock } from '../clock.ts';
import { UserError } from '../errors.ts';
import type { CompiledMapping, Mapping } from '../mapping/mapping.ts';
import { ErrorReport } from '../report/error-report.ts';
import type { RunLog } from '../run-log.ts';
import { readStoredAccount, type Account, type StoredAccount } from '../service/account.ts';
import type { Client } from '../service/client.ts';
import type { Limiter } from '../service/limiter.ts';
import type { RateHistory } from '../service/rate-history.ts';
import { DEFAULT_RATE, type Pace, type RestCredentials, type RunSettings } from '../settings.ts';
import { writeWhole, type StateDir } from '../state-dir.ts';
import { TOOL } from '../version.ts';
import { assertBound } from '../checkpoint/binding.ts';
import type { Halt } from '../halt.ts';
import { Input, collectFixes } from './input.ts';
import { holdAllButFirst, holdAllButPicked } from './pilot.ts';
import { Plan } from './plan.ts';
import { Resolver } from './resolve.ts';
import { survey, type Survey } from './survey.ts';

export const ACCOUNT_FILE = 'account.json';
export const RATE_FILE = 'rate.ndjson';
/** Where a dry run writes, inside the state directory. */
export const DRY_RUN = 'dry-run';

/** Where a run sends to, and the account as the service showed it. */
export interface Target {
  /** What the checkpoint is bound to. */
  readonly baseUrl: string;
  readonly client: Client;
  readonly limiter: Limiter;
  readonly history: RateHistory;
  readonly account: Account;
}

/** Everything that is known before the first event is sent. */
export interface Surveyed extends Survey {
  readonly input: Input;
  readonly checkpoint: LoadedCheckpoint;
  readonly compiled: CompiledMapping;
  readonly resolver: Resolver;
  readonly plan: Plan;
  readonly report: ErrorReport;
}

/** The state directory of a mapping: beside the mapping file, unless `--state` names another. */
export function statePath(
  settings: { mapping: string; state?: string | undefined },
  mapping: Mapping,
  suffix: string,
): string {
  if (settings.state !== undefined) return resolve(settings.state);
  return join(dirname(resolve(settings.mapping)), '.backfill', `${mapping.migration}${suffix}`);
}

/** Connects and reads the account; nothing is sent but GET requests. `trouble` is told what a person should know. */
export async function connect(
  settings: Pace,
  credentials: RestCredentials,
  state: StateDir,
  output: StateDir,
  trouble: (message: string) => void = () => undefined,
): Promise<Target> {
  const other = output === state ? join(state.file(DRY_RUN), RATE_FILE) : state.file(RATE_FILE);
  // What talks HTTP takes a tenth of a second to load: a survey without a service need not.
  const [{ createClient }, { openLimiter }, { openRateHistory }, { readAccount }] = await Promise.all([
    import('../service/client.ts'),
    import('../service/open-limiter.ts'),
    import('../service/rate-history.ts'),
    import('../service/directory.ts'),
  ]);
  const history = await openRateHistory(output.file(RATE_FILE), systemClock, [other]);
  const limiter = await openLimiter({
    rate: settings.rate ?? DEFAULT_RATE,
    reserve: settings.reserve,
    concurrency: settings.concurrency,
    clock: systemClock,
    history,
    redis: settings.redis ?? credentials.redis,
    baseUrl: credentials.baseUrl,
    apiKey: credentials.apiKey,
    timeoutSeconds: settings.timeout,
    trouble,
  });
  const client = createClient({
    ...credentials,
    timeoutSeconds: settings.timeout,
    concurrency: settings.concurrency,
    limiter,
    userAgent: TOOL,
  });
  try {
    const account = await readAccount(client);
    return { baseUrl: credentials.boundTo ?? credentials.baseUrl, client, limiter, history, account };
  } catch (error) {
    // An open connection would keep the process from ending.
    await client.close();
    throw error;
  }
}

/** Keeps the account for `--offline` and the sandbox; only once it is known to be the right one. */
async function keepAccount(output: StateDir, { baseUrl, account }: Pick<Target, 'baseUrl' | 'account'>): Promise<void> {
  const stored: StoredAccount = { base_url: baseUrl, read_at: new Date().toISOString(), ...account };
  await writeWhole(output.file(ACCOUNT_FILE), `${JSON.stringify(stored, null, 2)}\n`);
}

/** The account as an earlier run stored it, or undefined. */
export async function storedAccountOf(state: StateDir): Promise<StoredAccount | undefined> {
  for (const path of [state.file(ACCOUNT_FILE), join(state.file(DRY_RUN), ACCOUNT_FILE)]) {
    if (await stat(path).catch(() => undefined)) return readStoredAccount(path);
  }
  return undefined;
}

export interface SurveyJob {
  readonly settings: RunSettings;
  readonly mapping: Mapping;
  readonly state: StateDir;
  readonly output: StateDir;
  readonly target: { readonly baseUrl: string; readonly account: Account } | undefined;
  readonly offlineAccount: Account | undefined;
  readonly halt: Halt;
  readonly log: RunLog;
  readonly trouble: (message: string) => void;
}

/**
 * Reads the whole input and decides about every event; sends nothing. Reports go to `output`, which is the state
 * directory or, in a dry run, its `dry-run/`.
 */
export async function surveyMigration(job: SurveyJob): Promise<Surveyed> {
  const { settings, mapping, state, target, halt, log } = job;
  const input = await Input.open(mapping, await collectFixes(state, mapping, settings.fix, !settings.dryRun));
  const account = target?.account ?? job.offlineAccount;
  const path = state.file(CHECKPOINT_FILE);
  const keepFields = mapping.entries.some(({ policies }) => typeof policies.if_changed === 'object');
  const checkpoint = await loadCheckpoint(path, { keepFields });
  assertBound(checkpoint, path, mapping, target);
  if (target) await keepAccount(job.output, target);
  if (checkpoint.damagedLines.length > 0) {
    log.write('checkpoint_damaged', { lines: checkpoint.damagedLines });
    const lines = checkpoint.damagedLines.slice(0, 5).join(', ');
    job.trouble(
      `${path}: ${checkpoint.damagedLines.length} damaged lines are passed over (line ${lines}); their events go out again under the same ids`,
    );
  }
  const compiled = await mapping.compile(input.sources);
  const policies = compiled.entries.map((entry) => entry.policies);
  const plan = new Plan({ migration: mapping.migration, ledger: checkpoint.ledger, policies });
  const resolver = new Resolver(account, mapping.references);
  const report = await ErrorReport.open(job.output, input.sources);
  const found = await survey({
    sources: input.sources,
    eventSources: mapping.eventSources,
    compiled,
    resolver,
    plan,
    report,
    only: settings.only,
    goesOn: () => !halt.requested,
  });
  if (found.records.read === 0 && !halt.requested) {
    throw new UserError('the sources hold no records at all', { hint: 'is this the right export?' });
  }
  if (settings.limit !== undefined) holdAllButFirst(plan, settings.limit);
  if (settings.pick.length > 0) holdAllButPicked(plan, settings.pick);
  return { ...found, input, checkpoint, compiled, resolver, plan, report };
}
