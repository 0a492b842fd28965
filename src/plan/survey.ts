/**
 * The survey: reads the whole input once, decides the state of every event and writes the plan. Sends nothing.
 *
 *     source -> row -> (entry.map) -> draft -> (prepare) -> ready -> plan
 */
import type { LoadedCheckpoint } from '../checkpoint/load.ts';
import { UserError } from '../errors.ts';
import type { Halt } from '../halt.ts';
import type { CompiledMapping, Mapping } from '../mapping/mapping.ts';
import { EVENT_TYPES, type EventType, type Issue, type Place, type Planned } from '../model.ts';
import { ErrorReport } from '../report/error-report.ts';
import type { Profile } from '../report/profile.ts';
import type { Account } from '../service/account.ts';
import type { RunSettings } from '../settings.ts';
import { Input } from '../source/input.ts';
import { collectFixes, keepFixes, type FixFiles } from '../source/kept-fixes.ts';
import type { FileDigest } from '../source/source.ts';
import type { StateDir } from '../state-dir.ts';
import { assertApproved } from './approval.ts';
import { holdAllButCover, type Cover } from './cover.ts';
import { Features } from './features.ts';
import { OmittedValues } from './omitted.ts';
import { SendOrder } from './order.ts';
import { holdAllButFirst, holdAllButPicked, type Chosen } from './pilot.ts';
import { Plan } from './plan.ts';
import { PLAN_FILE, PlanFile, storedPlans } from './plan-file.ts';
import { Profiler } from './profile.ts';
import { RecordReader, type RecordCounts } from './record-reader.ts';
import { Resolver } from './resolve.ts';
import { reportVerdicts } from './verdicts.ts';

export interface SurveyJob {
  readonly settings: Pick<RunSettings, 'fix' | 'dryRun' | 'only' | 'limit' | 'pilot' | 'pick' | 'plan'>;
  readonly mapping: Mapping;
  /** Undefined if the account is unknown: names stay unresolved. */
  readonly account: Account | undefined;
  readonly checkpoint: LoadedCheckpoint;
  readonly state: StateDir;
  /** Where the plan and the reports go: the state directory, or `dry-run/` in it. */
  readonly output: StateDir;
  readonly halt: Halt;
}

/** Everything that is known before the first event is sent. */
export interface Survey {
  readonly plan: Plan;
  readonly order: SendOrder;
  /** Undefined if the survey was interrupted. */
  readonly digest: string | undefined;
  readonly records: RecordCounts;
  /** Unreadable records, without those that are only a warning (a report's footer). */
  readonly unreadable: number;
  /** Where corrections stand whose records are no longer in the input. */
  readonly unusedFixes: readonly Place[];
  /** What the records that `--pilot` chose cover. */
  readonly cover: Cover | undefined;
  /** The first events of each type as they would be sent, or all that `--pilot` or `--pick` chose. */
  readonly samples: ReadonlyMap<EventType, readonly Planned[]>;
  readonly profile: Profile;
  readonly omitted: OmittedValues;
  readonly report: ErrorReport;
  readonly compiled: CompiledMapping;
  readonly inputs: readonly FileDigest[];
}

/**
 * Throws a `UserError` (exit 2) if the input as a whole is invalid, if the plan cannot be written, or if its digest is not
 * the one given with `--plan`. Problems with single records and events go to the report.
 */
export async function surveyInput(job: SurveyJob): Promise<Survey> {
  const { settings, mapping, checkpoint, state, output } = job;
  const fixes = await collectFixes(state, mapping.usedSources, settings.fix);
  const used = mapping.sources.filter(({ name }) => mapping.usedSources.includes(name));
  const input = await Input.open(used, fixes);
  const features = settings.pilot === undefined ? undefined : new Features(settings.pilot, settings.only);
  const compiled = await mapping.compile(input.sources, features?.mark);
  const report = await ErrorReport.open(output, input.sources);
  const file = PlanFile.create(output.file(PLAN_FILE));
  const policies = compiled.entries.map((entry) => entry.policies);
  const plan = new Plan({ migration: mapping.migration, checkpoint, policies, file });
  try {
    return await fillPlan({ ...job, input, fixes, compiled, features, report, plan });
  } catch (error) {
    file.close();
    await report.discard();
    throw error;
  }
}

interface FillJob extends SurveyJob {
  readonly input: Input;
  readonly fixes: FixFiles;
  readonly compiled: CompiledMapping;
  readonly features: Features | undefined;
  readonly report: ErrorReport;
  readonly plan: Plan;
}

async function fillPlan(job: FillJob): Promise<Survey> {
  const { settings, mapping, account, input, compiled, features, report, plan, halt } = job;
  const profiler = new Profiler({ sources: input.sources, eventSources: mapping.eventSources, compiled, report });
  const omitted = new OmittedValues();
  const resolver = new Resolver(account, mapping.references);
  const reader = new RecordReader({
    compiled,
    resolver,
    plan,
    report,
    profiler,
    omitted,
    features,
    shouldContinue: () => !halt.requested,
  });
  for (const name of mapping.eventSources) await reader.read(input.sources.get(name)!);
  const { records, unreadable } = reader;
  const unusedFixes = input.unusedFixes();
  const found = { plan, records, unreadable, omitted, unusedFixes, report, compiled, inputs: input.digests() };
  if (halt.requested) {
    const order = new SendOrder(plan);
    const profile = profiler.finish(plan);
    return { ...found, order, digest: undefined, cover: undefined, samples: new Map(), profile };
  }
  await input.assertUnchanged();
  if (records.read === 0) throw new UserError('the sources have no records', { hint: 'is this the right export?' });

  for (const place of unusedFixes) report.warning(UNUSED_FIX, place);
  plan.link(settings.only);
  const profile = profiler.finish(plan);
  await reportVerdicts(plan, report);
  if (settings.limit !== undefined) holdAllButFirst(plan, settings.limit);
  const cover = features && holdAllButCover(plan, features);
  const picked = settings.pick.length > 0 ? holdAllButPicked(plan, settings.pick) : undefined;
  const digest = plan.digest();
  if (settings.plan !== undefined) await assertApproved(plan, digest, settings.plan, await storedPlans(job.state));
  // What led to an error above was not accepted; a dry run changes nothing for later runs.
  if (!settings.dryRun) await keepFixes(job.state, job.fixes);
  plan.file.commit();
  const chosen = cover?.chosen ?? picked;
  const samples = chosen ? chosenOf(plan, chosen) : samplesOf(plan);
  return { ...found, order: new SendOrder(plan), digest, cover, samples, profile };
}

const UNUSED_FIX: Issue = {
  severity: 'warning',
  kind: 'read',
  code: 'unused_fix',
  message: 'the record that this corrects is no longer in the input',
};

const SAMPLES_PER_TYPE = 3;

function samplesOf(plan: Plan): Map<EventType, Planned[]> {
  return new Map(
    EVENT_TYPES.map((type) => {
      const table = plan.tables[type];
      const ordinals: number[] = [];
      for (let ordinal = 0; ordinal < table.size && ordinals.length < SAMPLES_PER_TYPE; ordinal += 1) {
        if (table.at(ordinal) !== undefined) ordinals.push(ordinal);
      }
      return [type, ordinals.map((ordinal) => plan.read(type, ordinal))];
    }),
  );
}

function chosenOf(plan: Plan, chosen: Chosen): Map<EventType, Planned[]> {
  return new Map(
    EVENT_TYPES.map((type) => {
      const ordinals = [...chosen[type]].toSorted((a, b) => a - b);
      const planned = ordinals.filter((ordinal) => plan.tables[type].at(ordinal) !== undefined);
      return [type, planned.map((ordinal) => plan.read(type, ordinal))];
    }),
  );
}
