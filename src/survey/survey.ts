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
import { assertApproved, markRepeated, shrunkSource } from '../plan/earlier-plans.ts';
import { readChanges, type ChangeCounts } from '../plan/known/changes-file.ts';
import { CHOOSING, judgePlan, runSteps, type PlanJob } from '../plan/steps.ts';
import { addProblem } from '../plan/problems.ts';
import { muchSkipped, readSkipped } from '../plan/skipped.ts';
import { unusedText } from '../report/words/unused.ts';
import { storeDocument } from '../report/files/documents.ts';
import type { Profile } from './profile/notes.ts';
import type { RunSettings } from '../settings/run-settings.ts';
import { Input } from '../input/input.ts';
import { storedPlanFiles } from '../store/stored-plans.ts';
import { COUNTING_INDEX, PLAN_FILE } from '../store/plan-schema.ts';
import { storeSetting } from '../store/setting.ts';
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
import { openReferences, unmatchedAnswers } from './worksheet.ts';
import { MARKS } from '../report/words/input.ts';
import { issueOf } from '../report/words/words.ts';

interface SurveyJob extends PlanJob {
  readonly settings: PlanJob['settings'] & Pick<RunSettings, 'dryRun' | 'plan' | 'adopt'>;
  readonly mapping: Mapping;
  readonly halt: Halt;
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
  readonly omitted: OmittedValues;
  /** Undefined if nothing was sent before. */
  readonly changes?: ChangeCounts | undefined;
  readonly compiled: CompiledMapping;
}

/**
 * Throws a `UserError` (exit 2) if the input as a whole is invalid, if the plan cannot be written, or if its digest is not
 * the one given with `--plan`, or (with its exit code) if a signal ends it. Problems with single records and events are in the plan.
 * Closes the plan of the job.
 */
export async function surveyInput(job: SurveyJob): Promise<Survey> {
  const { db, mapping, account, halt, output, state } = job;
  const input = await Input.open(mapping.sources.filter(({ name }) => mapping.usedSources.includes(name)));
  const compiled = await mapping.compile(input);
  const { resolver, answers, existing } = await openReferences(mapping, account);
  db.exec('begin');
  sayMarks(db, mapping);
  const { sources } = input;
  const profiler = new Profiler({ sources, eventSources: mapping.eventSources, compiled, db });
  const [writer, groups] = [new PlanWriter(db), new DealGroups(db, resolver)];
  const shouldContinue = (): boolean => !halt.requested;
  const reader = new RecordReader({ compiled, resolver, writer, profiler, groups, shouldContinue });
  for (const source of mapping.eventSources.flatMap((name) => sources.get(name) ?? []))
    if (!source.isAbsent) await reader.read(source);
  if (!halt.requested) await profiler.readLookedUp();
  // What was read so far is no plan: that of the last run, and its files, stay as they are.
  halt.assertNotRequested();
  await assertComplete(job, input);
  storeDocument(db, 'inputs', input.digests());
  for (const { file, line } of input.unusedFixes()) addProblem(db, {}, issueOf('unused_fix', `${file}:${line}`));
  const omitted = new OmittedValues(db);

  const judging = { ...job, entries: compiled.entries, policies: compiled.entries.map(({ policies }) => policies) };
  await judgePlan(judging);
  const unmatched = unmatchedAnswers(answers, resolver.met());
  sayOddities(job, compiled, resolver);
  if (unmatched) addProblem(db, {}, unmatched);
  const place = { db, output, named: mapping.worksheet?.path, existing };
  const worksheet = await writeWorksheet(place, worksheetRows(resolver, answers));
  const profile = profiler.finish();
  const changes = readChanges(db, output);
  await runSteps(CHOOSING, judging);

  sign(job, judging.policies);
  db.exec(COUNTING_INDEX);
  db.exec('commit');
  commitPlan(db, output);
  const plan = openPlan(state, output);
  return {
    ...{ db: plan, states: countStates(plan), profile, omitted, changes, compiled },
    worksheet: { ...worksheet, unmatched: unmatched?.message },
  };
}

/** Lines of the mapping that somebody has yet to set or to check. */
function sayMarks(db: Database, { file, marks }: Mapping): void {
  for (const [mark, code] of Object.entries(MARKS)) {
    const lines = marks.flatMap((each) => (each.mark === mark ? [each.line] : []));
    if (lines.length > 0) addProblem(db, {}, issueOf(code, file, lines));
  }
}

/** Throws a `UserError` if the input changed while it was read, or if it is far smaller than before and nobody confirms that. */
async function assertComplete(job: SurveyJob, input: Input): Promise<void> {
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

function sayOddities({ db, account, settings }: SurveyJob, { entries }: CompiledMapping, resolver: Resolver): void {
  if (settings.adopt && (combined(db).requests > 0 || db.get('select 1 from checkpoint.part limit 1')))
    addProblem(db, {}, issueOf('combined_unknown'));
  if (!account && resolver.met().length > 0) addProblem(db, {}, issueOf('no_account'));
  for (const { source, total, of, reason, why } of muchSkipped(readSkipped(db)))
    addProblem(db, {}, issueOf('rows_skipped', source, total, of, unusedText(reason, why)).with({ count: total }));
  for (const warning of [mergedStages(db, entries), strayStages(db, entries, resolver)])
    if (warning) addProblem(db, {}, warning);
}

/** The plan gets its digest, and says which of its warnings are new. */
function sign({ db, settings, mapping, state }: SurveyJob, policies: readonly Policies[]): void {
  const { digest, listed } = planDigest(db, policies);
  if (settings.plan !== undefined) assertApproved(db, digest, settings.plan, storedPlanFiles(state));
  storeSetting(db, 'digest', digest);
  storeSetting(db, 'listed', String(listed));
  markRepeated(db, mapping.sha256, storedPlanFiles(state)[0]);
}
