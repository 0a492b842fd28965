/**
 * Compares the records in the service with what was sent:
 *
 *     checkpoint (which records) -> plan (what they should be) -> service (what they are) -> verify.csv
 */
import { FieldHasher } from '../checkpoint/field-hashes.ts';
import { CHECKPOINT_FILE, type HeaderLine } from '../checkpoint/lines.ts';
import { readHeader } from '../checkpoint/read.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { loadMapping } from '../mapping/load.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { entityOf } from '../model.ts';
import { assertBound } from '../checkpoint/binding.ts';
import { connect, type Target } from '../connect.ts';
import type { RestCredentials } from '../credentials.ts';
import { readPlan, storedPlans } from '../plan/plan-file.ts';
import type { Account } from '../service/account.ts';
import type { Pace } from '../settings.ts';
import { Lock } from '../lock.ts';
import { StateDir, statePath } from '../state-dir.ts';
import { compareRecord, PARENT } from './compare.ts';
import { StageTotals, type StageTotal } from './control-totals.ts';
import { Differences, newResult, VERIFY_FILE, type Difference, type EntityResult } from './differences.ts';
import { Expectations, type ExpectedFields } from './expected.ts';
import { CHECKED, COMPARED, type Checked } from '../compare/fields.ts';
import { readBack } from '../compare/read-back.ts';
import { population, writtenRecords, type SampleSize } from './written.ts';

export interface Verification {
  readonly migration: string;
  readonly base_url: string;
  readonly exit: { readonly code: ExitCode; readonly reason: 'same' | 'different' | 'missing' };
  readonly sample: SampleSize;
  readonly finished_at: string;
  readonly entities: Readonly<Record<Checked, EntityResult>>;
  /** Of the deals that were read back. */
  readonly totals: readonly StageTotal[];
  /** The first differences of each field and kind. */
  readonly first_differences: readonly Difference[];
  readonly requests: number;
  readonly files: { readonly verify: string };
}

export interface VerifyJob {
  readonly settings: Pace & {
    readonly mapping: string;
    readonly state?: string | undefined;
    readonly sample: SampleSize;
  };
  readonly credentials: RestCredentials;
  readonly stateSuffix: string;
  connected?(account: Account): void;
  /** Called with problems that do not stop the comparison. */
  readonly trouble?: (message: string) => void;
  /** Called before the records of one type are read back. */
  reading?(entity: Checked, records: number): void;
  progress?(entity: Checked, done: number, records: number): void;
}

/** Reads acknowledged leads and deals back and compares them. Throws a `UserError` if that is not possible. */
export async function verifyMigration(job: VerifyJob): Promise<Verification> {
  const { settings } = job;
  const mapping = await loadMapping(settings.mapping, { sources: new Map() });
  const state = await StateDir.existing(statePath(settings, mapping, job.stateSuffix));
  // A concurrent run would use the same rate limit and change records while they are compared.
  const lock = await Lock.acquire(state, { takeOver: false, notify: job.trouble });
  try {
    const header = await headerOf(state);
    const rate = { ...settings.rate, timezone: mapping.timezone };
    const target = await connect({ ...settings, rate }, job.credentials, state, state, job.trouble);
    try {
      assertBound({ header, wholeBytes: 1 }, state.file(CHECKPOINT_FILE), mapping.migration, target);
      job.connected?.(target.account);
      return await compareAll(job, mapping, state, target);
    } finally {
      await target.close();
    }
  } finally {
    await lock.release();
  }
}

async function headerOf(state: StateDir): Promise<HeaderLine> {
  const header = await readHeader(state.file(CHECKPOINT_FILE));
  if (header) return header;
  throw new UserError(`there is nothing to verify: ${state.path} has no checkpoint`, {
    hint: 'nothing has been sent for this mapping yet',
  });
}

async function compareAll(job: VerifyJob, mapping: Mapping, state: StateDir, target: Target): Promise<Verification> {
  const [planPath] = await storedPlans(state);
  if (planPath === undefined) {
    throw new UserError(`there is no plan to compare with in ${state.path}`, {
      hint: 'create one with `backfill run MAPPING --dry-run`',
    });
  }
  const hasher = await FieldHasher.open(state, { store: undefined });
  const path = state.file(VERIFY_FILE);
  const differences = await Differences.open(path);
  const totals = new StageTotals();
  const entities = {} as Record<Checked, EntityResult>;
  try {
    for (const entity of CHECKED) {
      entities[entity] = await compareEntity({ ...job, state, target, hasher, planPath, differences, totals }, entity);
    }
  } finally {
    await differences.close();
  }
  return {
    migration: mapping.migration,
    base_url: target.baseUrl,
    exit: endingOf(Object.values(entities)),
    sample: job.settings.sample,
    finished_at: new Date().toISOString(),
    entities,
    totals: totals.list(target.account),
    first_differences: differences.first,
    requests: target.client.requests,
    files: { verify: path },
  };
}

function endingOf(results: readonly EntityResult[]): Verification['exit'] {
  const counts = results.flatMap(({ fields }) => Object.values(fields));
  if (results.some(({ missing }) => missing > 0)) return { code: EXIT.finishedWithErrors, reason: 'missing' };
  const isDifferent = counts.some(({ different, changed }) => different + changed > 0);
  return isDifferent ? { code: EXIT.finishedWithErrors, reason: 'different' } : { code: EXIT.done, reason: 'same' };
}

interface EntityJob extends VerifyJob {
  readonly state: StateDir;
  readonly target: Target;
  readonly hasher: FieldHasher;
  /** The newest plan: that of the last run, or of a later dry run. */
  readonly planPath: string;
  readonly differences: Differences;
  readonly totals: StageTotals;
}

async function compareEntity(job: EntityJob, entity: Checked): Promise<EntityResult> {
  const { settings, target, differences, totals } = job;
  const checkpoint = job.state.file(CHECKPOINT_FILE);
  const all = await population(checkpoint, entity, settings.sample);
  const result = newResult(entity, all);
  if (all.acknowledged === all.withoutId) return result;
  const chosen = (externalId: string): boolean => all.isChosen(externalId);
  const expectations = await expectedOf(job, entity, chosen);
  const expected = (externalId: string): ExpectedFields | undefined => expectations.get(externalId);
  const parents = parentsOf(entity, expectations);
  const { records, leadIds } = await writtenRecords(checkpoint, job.hasher, entity, chosen, expected, parents);

  const byServiceId = new Map<string, string[]>();
  for (const [externalId, { serviceId }] of records) {
    const sharing = byServiceId.get(serviceId);
    if (!expected(externalId)) result.not_in_input += 1;
    else if (sharing) sharing.push(externalId);
    else byServiceId.set(serviceId, [externalId]);
  }
  job.reading?.(entity, byServiceId.size);
  const options = { atLeast: all.acknowledged, concurrency: settings.concurrency };
  for await (const { serviceId, record } of readBack(target.client, entity, byServiceId.keys(), options)) {
    for (const externalId of byServiceId.get(serviceId)!) {
      const known = { entity, externalId, written: records.get(externalId)!, expected: expected(externalId)!, leadIds };
      if (entity === 'deal') totals.add(known.expected, record);
      for (const difference of compareRecord(result, known, record)) await differences.add(difference);
    }
    job.progress?.(entity, result.read_back, byServiceId.size);
  }
  return result;
}

/** The fields that the service should return, according to the plan. */
async function expectedOf(
  { planPath, target }: EntityJob,
  entity: Checked,
  isChosen: (externalId: string) => boolean,
): Promise<Expectations> {
  const expectations = new Expectations(entity, target.account);
  for await (const event of readPlan(planPath)) {
    const { type, externalId, isDerived } = event;
    // What `if_changed` derives is part of the created event's content.
    if (isDerived || entityOf(type) !== entity || externalId === undefined || !isChosen(externalId)) continue;
    expectations.add(event, externalId);
  }
  return expectations;
}

export function parentsOf(entity: Checked, expectations: Expectations): ReadonlySet<string> {
  const parents = new Set<string>();
  const index = COMPARED[entity].findIndex(({ sent }) => sent === PARENT);
  if (index < 0) return parents;
  for (const externalId of expectations.externalIds()) {
    const parent = expectations.get(externalId)?.[index];
    if (parent) parents.add(parent.value);
  }
  return parents;
}
