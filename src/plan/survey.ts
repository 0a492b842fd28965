/**
 * The survey: reads the whole input once, decides the state of every event and writes the plan. Sends nothing.
 *
 *     source -> row -> (entry.map) -> draft -> (prepare) -> ready -> plan
 */
import { CHECKPOINT_FILE } from '../checkpoint/lines.ts';
import type { LoadedCheckpoint } from '../checkpoint/load.ts';
import type { Contacts } from '../compare/contacts.ts';
import { ContactMatches } from '../compare/matches.ts';
import { UserError } from '../errors.ts';
import type { Halt } from '../halt.ts';
import type { CompiledMapping, Mapping } from '../mapping/mapping.ts';
import { EVENT_TYPES, isUpdate, type EventType, type Issue, type Place, type Planned } from '../model.ts';
import { ErrorReport } from '../report/error-report.ts';
import type { ChangeCounts } from '../report/summary.ts';
import type { Profile } from '../report/profile.ts';
import type { Account } from '../service/account.ts';
import type { Client } from '../service/client.ts';
import type { RunSettings } from '../settings.ts';
import { Input } from '../source/input.ts';
import { collectFixes, keepFixes, type FixFiles } from '../source/kept-fixes.ts';
import type { FileDigest } from '../source/source.ts';
import type { StateDir } from '../state-dir.ts';
import { assertApproved } from './approval.ts';
import { ControlTotals } from './control-totals.ts';
import { holdAllButCover, type Cover } from './cover.ts';
import { Features } from './features.ts';
import { judgeContacts } from './contacts.ts';
import { changedColumns, earlierSources, shapesOf, shrunkSources, type SourceShapes } from './earlier-input.ts';
import { keepEdits } from './edits.ts';
import { GONE_FILE, listGone } from './gone.ts';
import { linkPlan } from './links.ts';
import { OmittedValues } from './omitted.ts';
import { SendOrder } from './order.ts';
import { holdAllButFirst, holdAllButPicked } from './pilot.ts';
import { Plan } from './plan.ts';
import { PLAN_FILE, PlanFile, storedPlans } from './plan-file.ts';
import { Profiler } from './profile.ts';
import { chosenOf, samplesOf } from './samples.ts';
import { RecordReader, type RecordCounts } from './record-reader.ts';
import type { Resolver } from './resolve.ts';
import { reportVerdicts } from './verdicts.ts';
import { worksheetRows, writeWorksheet, type WrittenWorksheet } from './worksheet-file.ts';
import { openReferences, type Answer } from './worksheet.ts';

export interface SurveyJob {
  readonly settings: Pick<RunSettings, 'fix' | 'dryRun' | 'only' | 'limit' | 'pilot' | 'pick' | 'plan' | 'concurrency'>;
  readonly mapping: Mapping;
  /** Undefined if the account is unknown: names stay unresolved. */
  readonly account: Account | undefined;
  readonly checkpoint: LoadedCheckpoint;
  readonly state: StateDir;
  /** Where the plan and the reports go: the state directory, or `dry-run/` in it. */
  readonly output: StateDir;
  readonly halt: Halt;
  /** The people in the account; undefined if they are not looked for. */
  readonly contacts: Contacts | undefined;
  /** Undefined if the network must not be used. */
  readonly client: Client | undefined;
  /** Called at once with what has changed in the columns since the last run. */
  readonly warn: (message: string) => void;
  /** Asks the user; throws a `UserError` if the answer is no. */
  readonly agree: (found: string, hint: string) => Promise<void>;
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
  /** Undefined if the survey was interrupted. */
  readonly worksheet: WrittenWorksheet | undefined;
  readonly omitted: OmittedValues;
  readonly totals: ControlTotals;
  /** Undefined if nothing was sent before. */
  readonly changes?: ChangeCounts | undefined;
  readonly report: ErrorReport;
  readonly compiled: CompiledMapping;
  readonly inputs: readonly FileDigest[];
  /** For the next run to compare its input with. */
  readonly sources: SourceShapes;
}

/**
 * Throws a `UserError` (exit 2) if the input as a whole is invalid, if the plan cannot be written, or if its digest is not
 * the one given with `--plan`. Problems with single records and events go to the report.
 */
export async function surveyInput(job: SurveyJob): Promise<Survey> {
  const { settings, mapping, checkpoint, state, output } = job;
  const fixes = await collectFixes(state, mapping.usedSources, settings);
  const used = mapping.sources.filter(({ name }) => mapping.usedSources.includes(name));
  const input = await Input.open(used, fixes);
  const features = settings.pilot === undefined ? undefined : new Features(settings.pilot, settings.only);
  const compiled = await mapping.compile(input.sources, features?.mark);
  const references = await openReferences(mapping, job.account);
  const report = await ErrorReport.open(output, input.sources);
  const earlier = await earlierSources(state);
  for (const issue of changedColumns(input.sources.values(), earlier)) {
    job.warn(issue.message);
    report.warning(issue);
  }
  const file = PlanFile.create(output.file(PLAN_FILE));
  const policies = compiled.entries.map((entry) => entry.policies);
  const plan = new Plan({ migration: mapping.migration, checkpoint, policies, file });
  try {
    return await fillPlan({ ...job, ...references, input, fixes, compiled, features, report, plan, earlier });
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
  readonly resolver: Resolver;
  readonly answers: readonly Answer[];
  readonly features: Features | undefined;
  readonly report: ErrorReport;
  readonly plan: Plan;
  readonly earlier: SourceShapes;
}

async function fillPlan(job: FillJob): Promise<Survey> {
  const { settings, mapping, resolver, input, compiled, features, report, plan, halt } = job;
  const profiler = new Profiler({ sources: input.sources, eventSources: mapping.eventSources, compiled, report });
  const omitted = new OmittedValues();
  const totals = new ControlTotals(resolver);
  const matches = job.contacts && new ContactMatches(job.contacts);
  const reader = new RecordReader({
    compiled,
    resolver,
    plan,
    report,
    profiler,
    omitted,
    totals,
    features,
    matches,
    shouldContinue: () => !halt.requested,
  });
  for (const name of mapping.eventSources) await reader.read(input.sources.get(name)!);
  const { records, unreadable } = reader;
  const unusedFixes = input.unusedFixes();
  const found = {
    plan,
    records,
    unreadable,
    omitted,
    totals,
    unusedFixes,
    report,
    compiled,
    inputs: input.digests(),
    sources: shapesOf(input.sources.values()),
  };
  if (halt.requested) {
    const order = new SendOrder(plan);
    const profile = profiler.finish(plan);
    return { ...found, order, digest: undefined, cover: undefined, samples: new Map(), profile, worksheet: undefined };
  }
  await input.assertUnchanged();
  const [shrunk] = shrunkSources(input.sources.values(), job.earlier);
  if (shrunk !== undefined && settings.dryRun) {
    job.warn(shrunk);
    report.warning({ severity: 'warning', kind: 'read', code: 'source_shrunk', message: shrunk });
  } else if (shrunk !== undefined) await job.agree(shrunk, 'check that the export is complete; if it is, add --yes');
  if (records.read === 0) throw new UserError('the sources have no records', { hint: 'is this the right export?' });

  for (const place of unusedFixes) report.warning(UNUSED_FIX, place);
  if (matches) {
    const { state, output, contacts, client } = job;
    await judgeContacts({
      matches,
      plan,
      report,
      state,
      output,
      shouldReject: (entry) => compiled.entries[entry]!.policies.if_contact_exists === 'reject',
      service: client && { client, leads: contacts!.leads, concurrency: settings.concurrency },
    });
  }
  const worksheet = await writeWorksheet(job.output, worksheetRows(resolver, job.answers), mapping.worksheet?.path);
  linkPlan(plan, settings.only);
  const profile = profiler.finish(plan);
  await reportVerdicts(plan, report);
  if (settings.limit !== undefined) holdAllButFirst(plan, settings.limit);
  const cover = features && holdAllButCover(plan, features);
  const picked = settings.pick.length > 0 ? holdAllButPicked(plan, settings.pick) : undefined;
  const changes = await changesOf(job);
  const digest = plan.digest();
  if (settings.plan !== undefined) await assertApproved(plan, digest, settings.plan, await storedPlans(job.state));
  // What led to an error above was not accepted; a dry run changes nothing for later runs.
  if (!settings.dryRun) await keepFixes(job.state, job.fixes);
  plan.file.commit();
  const chosen = cover?.chosen ?? picked;
  const samples = chosen ? chosenOf(plan, chosen) : samplesOf(plan);
  return { ...found, order: new SendOrder(plan), digest, cover, samples, profile, changes, worksheet };
}

/** Undefined if nothing was sent before. Without the network, the service is not compared. */
async function changesOf(job: FillJob): Promise<ChangeCounts | undefined> {
  const { plan, report, checkpoint, state, output, client, compiled, settings } = job;
  if (checkpoint.ledger.acknowledged === 0 || !client) return undefined;
  const created = (type: EventType): number => (isUpdate(type) ? 0 : countOpen(plan, type));
  const counts = await keepEdits({
    plan,
    report,
    hasher: checkpoint.hasher,
    state,
    output,
    overwrites: (entry) => compiled.entries[entry]!.policies.if_edited === 'overwrite',
    client,
    concurrency: settings.concurrency,
  });
  const gone = await listGone(output.file(GONE_FILE), state.file(CHECKPOINT_FILE), plan);
  return { new: EVENT_TYPES.reduce((sum, type) => sum + created(type), 0), ...counts, gone };
}

function countOpen({ tables }: Plan, type: EventType): number {
  return tables[type].counts.ready + tables[type].counts.retry;
}

const UNUSED_FIX: Issue = {
  severity: 'warning',
  kind: 'read',
  code: 'unused_fix',
  message: 'the record that this corrects is no longer in the input',
};
