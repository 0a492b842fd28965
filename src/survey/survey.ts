/**
 * The survey: reads the whole input once, decides the state of every event and writes the plan. Sends nothing.
 *
 *     open -> read -> judge -> choose -> commit
 */
import type { Halt } from '../halt.ts';
import type { CompiledMapping, Mapping } from '../mapping/mapping.ts';
import type { Policies } from '../mapping/policies.ts';
import { UserError } from '../errors.ts';
import { countStates, type CountedState } from '../plan/counts.ts';
import { combined } from '../plan/rows/combine.ts';
import { planDigest } from '../plan/digest.ts';
import { assertApproved, keepAnswers, markRepeated, shrunkSource } from '../plan/earlier-plans.ts';
import { readChanges, type ChangeCounts } from '../plan/known/changes-file.ts';
import { CHOOSING, judgePlan, runSteps, type JudgingJob } from '../plan/steps.ts';
import { addProblem } from '../plan/problems.ts';
import { muchSkipped, readSkipped } from '../plan/skipped.ts';
import { unusedText } from '../report/words/unused.ts';
import { storeDocument } from '../report/files/documents.ts';
import type { Profile } from './profile/notes.ts';
import type { Account } from '../service/account.ts';
import type { Client } from '../service/client.ts';
import type { RunSettings } from '../settings/run-settings.ts';
import { Input } from '../input/input.ts';
import type { StateDir } from '../files/state-dir.ts';
import { storedPlanFiles } from '../store/stored-plans.ts';
import type { FieldHasher } from '../store/field-hashes.ts';
import { COUNTING_INDEX, PLAN_FILE } from '../store/plan-schema.ts';
import type { Database } from '../store/sqlite.ts';
import { DealGroups } from './deal-groups.ts';
import { mergedStages, strayStages } from './profile/merged-stages.ts';
import { OmittedValues } from './omitted.ts';
import { commitPlan, openPlan } from './plan-file.ts';
import { PlanWriter } from './plan-writer.ts';
import { Profiler } from './profile/profile.ts';
import { RecordReader } from './record-reader.ts';
import type { Resolver } from './resolve.ts';
import { writeWorksheet, type SurveyedWorksheet } from './worksheet-file.ts';
import { worksheetRows } from './worksheet-rows.ts';
import { openReferences, type Answer, type ExistingWorksheet, unmatchedAnswers } from './worksheet.ts';
import { MARKS } from '../report/words/input.ts';
import { issueOf } from '../report/words/words.ts';

interface SurveyJob {
  readonly settings: Pick<RunSettings, 'dryRun' | 'selection' | 'plan' | 'concurrency' | 'adopt'>;
  readonly mapping: Mapping;
  /** The plan as `beginPlan` made it, with the checkpoint attached. The survey closes it. */
  readonly db: Database;
  readonly hasher: FieldHasher;
  /** Undefined if the account is unknown: names stay unresolved. */
  readonly account: Account | undefined;
  readonly state: StateDir;
  /** Where the plan and the reports go: the state directory, or `dry-run/` in it. */
  readonly output: StateDir;
  readonly halt: Halt;
  /** How many leads of the account were read; undefined if they are not looked for. */
  readonly contacts: number | undefined;
  /** Undefined if the network must not be used. */
  readonly client: Client | undefined;
  /** Called at once with what is doubtful about the input. */
  readonly warn: (message: string) => void;
  /** Asks the user; throws a `UserError` if the answer is no. */
  readonly agree: (found: string, hint: string) => Promise<void>;
}

/** Everything known before the first event is sent: the plan, and findings that are not in it. */
export interface Survey {
  /** The complete plan, with the checkpoint attached. To be closed. */
  readonly db: Database;
  /** Of its events, as the survey left them. */
  readonly states: readonly CountedState[];
  readonly profile: Profile;
  readonly worksheet: SurveyedWorksheet;
  /** Whether an answer of the worksheet is not as in the last run. */
  readonly hasOtherAnswers: boolean;
  readonly omitted: OmittedValues;
  /** Undefined if nothing was sent before. */
  readonly changes?: ChangeCounts | undefined;
  readonly compiled: CompiledMapping;
}

/** The input, opened. */
interface OpenInput {
  readonly input: Input;
  readonly compiled: CompiledMapping;
  readonly policies: readonly Policies[];
  readonly resolver: Resolver;
  readonly answers: readonly Answer[];
  /** The worksheet of the mapping, if it exists. */
  readonly existing: ExistingWorksheet | undefined;
}

/**
 * Throws a `UserError` (exit 2) if the input as a whole is invalid, if the plan cannot be written, or if its digest is not
 * the one given with `--plan`, or (with its exit code) if a signal ends it. Problems with single records and events are in the plan.
 */
export async function surveyInput(job: SurveyJob): Promise<Survey> {
  const { db, halt } = job;
  const opened = await openInput(job);
  db.exec('begin');
  const read = await readInput(job, opened);
  storeDocument(db, 'inputs', opened.input.digests());
  // What was read so far is no plan: that of the last run, and its files, stay as they are.
  halt.assertNotRequested();
  await assertComplete(job, opened);
  for (const { file, line } of opened.input.unusedFixes()) addProblem(db, {}, issueOf('unused_fix', `${file}:${line}`));
  const { mapping, settings, hasher, account, client, contacts, output } = job;
  const { region, timezone } = mapping;
  const { entries } = opened.compiled;
  const { concurrency, selection } = settings;
  const judging: JudgingJob = {
    ...{ db, entries, policies: opened.policies, region, timezone, hasher, account, client, contacts, output },
    ...{ concurrency, selection, last: job.state.file(PLAN_FILE) },
  };
  await judgePlan(judging);
  if (settings.adopt && (combined(db).requests > 0 || db.get('select 1 from checkpoint.part limit 1')))
    addProblem(db, {}, issueOf('combined_unknown'));
  const { worksheet, profile } = await describe(job, opened, read);
  const changes = readChanges(db, output);
  await runSteps(CHOOSING, judging);
  return commit(job, opened, read, { changes, worksheet, profile });
}

async function openInput(job: SurveyJob): Promise<OpenInput> {
  const { mapping, db } = job;
  const used = mapping.sources.filter(({ name }) => mapping.usedSources.includes(name));
  const input = await Input.open(used);
  const compiled = await mapping.compile(input);
  const references = await openReferences(mapping, job.account);
  for (const [mark, code] of Object.entries(MARKS)) {
    const lines = mapping.marks.flatMap((each) => (each.mark === mark ? [each.line] : []));
    if (lines.length > 0) addProblem(db, {}, issueOf(code, mapping.file, lines));
  }
  const policies = compiled.entries.map((entry) => entry.policies);
  return { input, compiled, policies, ...references };
}

interface ReadInput {
  readonly profiler: Profiler;
  readonly omitted: OmittedValues;
}

async function readInput({ db, mapping, halt }: SurveyJob, opened: OpenInput): Promise<ReadInput> {
  const { compiled, resolver } = opened;
  const { sources } = opened.input;
  const profiler = new Profiler({ sources, eventSources: mapping.eventSources, compiled, db });
  const reader = new RecordReader({
    compiled,
    resolver,
    writer: new PlanWriter(db),
    profiler,
    groups: new DealGroups(db, resolver),
    shouldContinue: () => !halt.requested,
  });
  for (const name of mapping.eventSources) {
    const source = sources.get(name)!;
    if (!source.isAbsent) await reader.read(source);
  }
  if (!halt.requested) await profiler.readLookedUp();
  return { profiler, omitted: new OmittedValues(db) };
}

/** Throws a `UserError` if the input changed while it was read, or if it is far smaller than before and nobody confirms that. */
async function assertComplete(job: SurveyJob, { input }: OpenInput): Promise<void> {
  const { settings, db, state } = job;
  await input.assertUnchanged();
  const shrunk = shrunkSource(db, state.file(PLAN_FILE));
  if (shrunk !== undefined && settings.dryRun) {
    job.warn(shrunk.message);
    addProblem(db, {}, shrunk);
  } else if (shrunk !== undefined)
    await job.agree(shrunk.message, 'check that the export is complete; if it is, add --yes');
  if (!db.get('select 1 from record limit 1')) {
    throw new UserError('the sources have no records', { hint: 'is this the right export?' });
  }
}

async function describe(
  { db, output, mapping, account }: SurveyJob,
  { resolver, answers, existing, compiled }: OpenInput,
  { profiler }: ReadInput,
): Promise<Pick<Survey, 'worksheet' | 'profile'>> {
  if (!account && resolver.met().length > 0) addProblem(db, {}, issueOf('no_account'));
  const unmatched = unmatchedAnswers(answers, resolver.met());
  if (unmatched) addProblem(db, { count: unmatched.count }, unmatched);
  for (const { source, total, of, ...most } of muchSkipped(readSkipped(db))) {
    addProblem(db, { count: total }, issueOf('rows_skipped', source, total, of, unusedText(most.reason, most.why)));
  }
  for (const warning of [mergedStages(db, compiled.entries), strayStages(db, compiled.entries, resolver)])
    if (warning) addProblem(db, { count: warning.count }, warning);
  const place = { db, output, named: mapping.worksheet?.path, existing };
  const written = await writeWorksheet(place, worksheetRows(resolver, answers));
  const worksheet = { ...written, unmatched: unmatched?.message };
  return { worksheet, profile: profiler.finish() };
}

async function commit(
  job: SurveyJob,
  opened: OpenInput,
  read: ReadInput,
  judged: Pick<Survey, 'changes' | 'worksheet' | 'profile'>,
): Promise<Survey> {
  const { db, settings, mapping, state, output } = job;
  const { digest, listed } = planDigest(db, opened.policies);
  if (settings.plan !== undefined) assertApproved(db, digest, settings.plan, storedPlanFiles(state));
  db.run(`insert or replace into setting (name, value) values ('digest', ?), ('listed', ?)`, digest, String(listed));
  markRepeated(db, mapping.sha256, storedPlanFiles(state)[0]);
  const answers = opened.answers.map(({ kind, pipeline, oldName, newName }) => [
    `${kind} ${pipeline} ${oldName}`,
    newName,
  ]);
  const hasOtherAnswers = keepAnswers(db, Object.fromEntries(answers) as Record<string, string>, state.file(PLAN_FILE));
  db.exec(COUNTING_INDEX);
  db.exec('commit');
  commitPlan(db, output);
  const plan = openPlan(state, output);
  return {
    ...judged,
    ...{ omitted: read.omitted, compiled: opened.compiled },
    hasOtherAnswers,
    states: countStates(plan),
    db: plan,
  };
}
