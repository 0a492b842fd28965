/**
 * Compares the records in the service with what was sent:
 *
 *     checkpoint (which records) -> plan (what they should be) -> service (what they are) -> verify.csv
 */
import { ENTITIES, kindOf } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import { readBack, type Found } from '../../plan/account/read-back.ts';
import { connect, type Target } from '../../run/connect.ts';
import type { RestCredentials } from '../../settings/credentials.ts';
import { EXIT, UserError } from '../../errors.ts';
import { Lock } from '../../store/lock.ts';
import { runOf } from '../../settings/command-line.ts';
import { loadMapping } from '../../mapping/load.ts';
import type { Mapping } from '../../mapping/mapping.ts';
import type { Account } from '../../service/account.ts';
import { NotShown, RecordRefused } from '../../service/lists.ts';
import type { Pace } from '../../settings/run-settings.ts';
import { StateDir, statePath } from '../../files/state-dir.ts';
import { assertBound, bindingOf, openCheckpoint } from '../../store/checkpoint.ts';
import { storedDigest } from '../../plan/digest.ts';
import { storeVerification } from '../../report/files/documents.ts';
import { storedOf, type EntityResult, type Verification } from '../../report/figures/verification.ts';
import { writeReport } from '../../report/print/page.ts';
import { planIn } from '../../store/stored-plans.ts';
import { readState } from '../../store/open.ts';
import type { Database } from '../../store/sqlite.ts';
import { RecordComparison } from './compare.ts';
import { Differences, newResult, VERIFY_FILE } from './differences.ts';
import { hasherOf, populationOf, type SampleSize } from './expected.ts';
import { shortPath } from '../../files/paths.ts';

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
  reading?(entity: Entity, records: number): void;
  progress?(entity: Entity, done: number, records: number): void;
}

/** Reads acknowledged records back and compares them. Throws a `UserError` if that is not possible. */
export async function verifyMigration(job: VerifyJob): Promise<Verification> {
  const { settings } = job;
  const mapping = await loadMapping(settings.mapping, { sources: new Map() });
  const state = await StateDir.existing(statePath(settings, mapping, job.stateSuffix));
  const rehearsed = { ...settings, sandbox: job.stateSuffix !== '' };
  // A concurrent run would use the same rate limit and change records while they are compared.
  const lock = Lock.acquire(state);
  try {
    const plan = planIn(state, false) ?? planIn(state, true);
    const db = readState(state, plan?.output);
    try {
      if (!bindingOf(db)) {
        throw new UserError(
          `there is nothing to verify: according to ${shortPath(state.path)}, no event has been sent yet`,
          {
            hint: `send events first: ${runOf(rehearsed)}`,
          },
        );
      }
      if (!plan) {
        throw new UserError(`there is no plan to compare with in ${shortPath(state.path)}`, {
          hint: `create one, which sends nothing: ${runOf(rehearsed, '--dry-run')}`,
        });
      }
      const found = await verifyWith(job, mapping, state, db, plan.isDryRun);
      keep(state, found);
      // The page of the run shows it.
      if (!plan.isDryRun) writeReport(state, state, { withValues: false });
      return found;
    } finally {
      db.close();
    }
  } finally {
    lock.release();
  }
}

/** In the checkpoint, for the report. */
function keep(state: StateDir, found: Verification): void {
  const checkpoint = openCheckpoint(state);
  try {
    storeVerification(checkpoint, storedOf(found));
  } finally {
    checkpoint.close();
  }
}

async function verifyWith(
  job: VerifyJob,
  mapping: Mapping,
  state: StateDir,
  db: Database,
  isDryRun: boolean,
): Promise<Verification> {
  const target = await connect(job.settings, job.credentials, state, state, job.trouble);
  try {
    assertBound(db, mapping.migration, target);
    job.connected?.(target.account);
    const found = await compareAll(job, mapping, state, db, target);
    return { ...found, plan: { digest: storedDigest(db)?.digest ?? null, is_dry_run: isDryRun } };
  } finally {
    await target.close();
  }
}

async function compareAll(
  job: VerifyJob,
  mapping: Mapping,
  state: StateDir,
  db: Database,
  target: Target,
): Promise<Omit<Verification, 'plan'>> {
  const comparison = new RecordComparison(db, hasherOf(db), target.account, mapping.region);
  const path = state.file(VERIFY_FILE);
  const differences = new Differences(path);
  const entities = {} as Record<Entity, EntityResult>;
  try {
    for (const entity of ENTITIES) {
      entities[entity] = await compareEntity({ ...job, db, target, comparison, differences }, entity);
    }
  } finally {
    differences.close();
  }
  return {
    migration: mapping.migration,
    base_url: target.baseUrl,
    exit: endingOf(Object.values(entities)),
    sample: job.settings.sample,
    finished_at: new Date().toISOString(),
    entities,
    first_differences: differences.first,
    requests: target.client.requests,
    files: { verify: path },
  };
}

function endingOf(results: readonly EntityResult[]): Verification['exit'] {
  const counts = results.flatMap(({ fields }) => Object.values(fields));
  if (results.some(({ missing }) => missing > 0)) return { code: EXIT.finishedWithErrors, reason: 'missing' };
  const isDifferent = counts.some(({ different, changed }) => different + changed > 0);
  if (isDifferent) return { code: EXIT.finishedWithErrors, reason: 'different' };
  if (counts.some(({ other_form: forms }) => forms > 0)) {
    return { code: EXIT.finishedWithErrors, reason: 'other_form' };
  }
  const isRefused = results.some(({ refused }) => refused > 0);
  return isRefused ? { code: EXIT.finishedWithErrors, reason: 'refused' } : { code: EXIT.done, reason: 'same' };
}

interface EntityJob extends VerifyJob {
  /** The checkpoint, and the newest plan: that of the last run, or of a later dry run. */
  readonly db: Database;
  readonly target: Target;
  readonly comparison: RecordComparison;
  readonly differences: Differences;
}

async function compareEntity(job: EntityJob, entity: Entity): Promise<EntityResult> {
  const { settings, target, comparison, differences } = job;
  const { route, isRouteUncertain = false } = kindOf(entity);
  const all = populationOf(job.db, entity, settings.sample);
  const result = newResult(entity, all);
  if (route === undefined) return { ...result, not_shown: 'the service has no route that shows them' };
  const byServiceId = new Map<string, string[]>();
  for (const { externalId, serviceId } of all.chosen) {
    const sharing = byServiceId.get(serviceId);
    if (!comparison.expected(entity, externalId)) result.not_in_input += 1;
    else if (sharing) sharing.push(externalId);
    else byServiceId.set(serviceId, [externalId]);
  }
  if (all.chosen.length === 0) return result;
  job.reading?.(entity, byServiceId.size);
  const compare = ({ serviceId, record, instead }: Found): void => {
    for (const externalId of byServiceId.get(serviceId)!) {
      if (instead instanceof RecordRefused) {
        differences.add(comparison.refused(result, { entity, externalId }, instead.message));
        continue;
      }
      const expected = comparison.expected(entity, externalId)!;
      const found = comparison.record(result, { entity, externalId, expected }, record, instead?.into);
      for (const each of found) differences.add(each);
    }
  };
  const missing: Found[] = [];
  let why = `GET ${route} shows none of them`;
  const options = { atLeast: all.acknowledged, concurrency: settings.concurrency };
  try {
    for await (const found of readBack(target.client, entity, byServiceId.keys(), options)) {
      if (found.record || found.instead) compare(found);
      else missing.push(found);
      job.progress?.(entity, result.read_back + missing.length, byServiceId.size);
    }
  } catch (error) {
    if (!isRouteUncertain || !(error instanceof NotShown)) throw error;
    why = error.message;
  }
  // A list that has none of them may be a list of something else.
  if (isRouteUncertain && result.read_back + result.refused === 0 && byServiceId.size > 0) {
    return { ...result, not_shown: why };
  }
  for (const each of missing) compare(each);
  return result;
}
