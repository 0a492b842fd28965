/**
 * Compares the records in the service with what was sent:
 *
 *     checkpoint (which records) -> plan (what they should be) -> service (what they are) -> verify.csv
 */
import { CHECKED, STAGED } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import { readBack } from '../../plan/compare/read-back.ts';
import { connect, type Target } from '../../connect.ts';
import type { RestCredentials } from '../../settings/credentials.ts';
import { EXIT, UserError, type ExitCode } from '../../errors.ts';
import { Lock } from '../../store/lock.ts';
import { runOf } from '../../settings/command-line.ts';
import { loadMapping } from '../../mapping/load.ts';
import type { Mapping } from '../../mapping/mapping.ts';
import type { Account } from '../../service/account.ts';
import { RecordRefused } from '../../service/lists.ts';
import type { Pace } from '../../settings/run-settings.ts';
import { StateDir, statePath } from '../../files/state-dir.ts';
import { assertBound, bindingOf, openCheckpoint } from '../../store/checkpoint.ts';
import { storedDigest } from '../../plan/digest.ts';
import { storeVerification, type StoredVerification } from '../../report/verification.ts';
import { writeReport } from '../../pages/html/page.ts';
import { planIn } from '../../store/stored-plans.ts';
import { readState } from '../../store/open.ts';
import type { Database } from '../../store/sqlite.ts';
import { RecordComparison } from './compare.ts';
import { isBalanced, StageTotals, type StageTotal } from './control-totals.ts';
import {
  Differences,
  newResult,
  VERDICT_NAMES,
  VERIFY_FILE,
  type FieldDifference,
  type EntityResult,
} from './differences.ts';
import { hasherOf } from './expected.ts';
import { populationOf, type SampleSize } from './population.ts';

export interface Verification {
  readonly migration: string;
  readonly base_url: string;
  readonly exit: {
    readonly code: ExitCode;
    readonly reason: 'same' | 'different' | 'missing' | 'refused' | 'other_form' | 'totals';
  };
  readonly sample: SampleSize;
  readonly finished_at: string;
  readonly entities: Readonly<Record<Entity, EntityResult>>;
  /** Of the deals that were read back. */
  readonly totals: readonly StageTotal[];
  /** Comments that were acknowledged: the service has no route that shows with which text and parent. */
  readonly comments_not_compared: number;
  /** The first differences of each field and kind. */
  readonly first_differences: readonly FieldDifference[];
  readonly requests: number;
  /** The plan that was compared with: that of the run, or where there is none, of the dry run. */
  readonly plan: StoredVerification['plan'];
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
  reading?(entity: Entity, records: number): void;
  progress?(entity: Entity, done: number, records: number): void;
}

/** Reads acknowledged leads and deals back and compares them. Throws a `UserError` if that is not possible. */
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
        throw new UserError(`there is nothing to verify: according to ${state.path}, no event has been sent yet`, {
          hint: `send events first: ${runOf(rehearsed)}`,
        });
      }
      if (!plan) {
        throw new UserError(`there is no plan to compare with in ${state.path}`, {
          hint: `create one, which sends nothing: ${runOf(rehearsed, '--dry-run')}`,
        });
      }
      const found = await verifyWith(job, mapping, state, db, plan.isDryRun);
      keep(state, found);
      // The page of the run shows it.
      if (!plan.isDryRun) await writeReport(state, state, { withValues: false });
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

/** Counts and names of fields alone. */
export function storedOf(found: Verification): StoredVerification {
  const records = Object.entries(found.entities).map(([entity, each]) => {
    const hidden = Object.entries(each.fields).filter(([, counts]) =>
      VERDICT_NAMES.every((verdict) => (verdict === 'not_comparable') === counts[verdict] > 0),
    );
    const { acknowledged, read_back: read, equal, missing } = each;
    const counts = { acknowledged, read_back: read, equal, missing, different: read - equal - missing };
    return [entity, { ...counts, not_readable: hidden.map(([name]) => name) }];
  });
  const { finished_at: at, plan, exit, comments_not_compared: comments } = found;
  return {
    at,
    plan,
    reason: exit.reason,
    records: Object.fromEntries(records) as StoredVerification['records'],
    comments,
  };
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
  const totals = new StageTotals();
  const entities = {} as Record<Entity, EntityResult>;
  try {
    for (const entity of CHECKED) {
      entities[entity] = await compareEntity({ ...job, db, target, comparison, differences, totals }, entity);
    }
  } finally {
    differences.close();
  }
  const stageTotals = totals.list(target.account);
  return {
    migration: mapping.migration,
    base_url: target.baseUrl,
    exit: endingOf(Object.values(entities), stageTotals),
    sample: job.settings.sample,
    finished_at: new Date().toISOString(),
    entities,
    totals: stageTotals,
    comments_not_compared: acknowledgedComments(db),
    first_differences: differences.first,
    requests: target.client.requests,
    files: { verify: path },
  };
}

function acknowledgedComments(db: Database): number {
  return db.get<{ count: number }>(
    `select count(*) as count from checkpoint.record where entity not in (select value from json_each(?)) and is_acknowledged = 1`,
    JSON.stringify(CHECKED),
  )!.count;
}

function endingOf(results: readonly EntityResult[], totals: readonly StageTotal[]): Verification['exit'] {
  const counts = results.flatMap(({ fields }) => Object.values(fields));
  if (results.some(({ missing }) => missing > 0)) return { code: EXIT.finishedWithErrors, reason: 'missing' };
  const isDifferent = counts.some(({ different, changed }) => different + changed > 0);
  if (isDifferent) return { code: EXIT.finishedWithErrors, reason: 'different' };
  if (counts.some(({ other_form: forms }) => forms > 0)) {
    return { code: EXIT.finishedWithErrors, reason: 'other_form' };
  }
  if (totals.some((total) => !isBalanced(total))) return { code: EXIT.finishedWithErrors, reason: 'totals' };
  const isRefused = results.some(({ refused }) => refused > 0);
  return isRefused ? { code: EXIT.finishedWithErrors, reason: 'refused' } : { code: EXIT.done, reason: 'same' };
}

interface EntityJob extends VerifyJob {
  /** The checkpoint, and the newest plan: that of the last run, or of a later dry run. */
  readonly db: Database;
  readonly target: Target;
  readonly comparison: RecordComparison;
  readonly differences: Differences;
  readonly totals: StageTotals;
}

async function compareEntity(job: EntityJob, entity: Entity): Promise<EntityResult> {
  const { settings, target, comparison, differences, totals } = job;
  const all = populationOf(job.db, entity, settings.sample);
  const result = newResult(entity, all);
  const byServiceId = new Map<string, string[]>();
  for (const { externalId, serviceId } of all.chosen) {
    const sharing = byServiceId.get(serviceId);
    if (!comparison.expected(entity, externalId)) result.not_in_input += 1;
    else if (sharing) sharing.push(externalId);
    else byServiceId.set(serviceId, [externalId]);
  }
  if (all.chosen.length === 0) return result;
  job.reading?.(entity, byServiceId.size);
  const options = { atLeast: all.acknowledged, concurrency: settings.concurrency };
  for await (const { serviceId, record, instead } of readBack(target.client, entity, byServiceId.keys(), options)) {
    for (const externalId of byServiceId.get(serviceId)!) {
      if (instead instanceof RecordRefused) {
        differences.add(comparison.refused(result, { entity, externalId }, instead.message));
        continue;
      }
      const expected = comparison.expected(entity, externalId)!;
      if (entity === STAGED) totals.add(expected, record);
      const found = comparison.record(result, { entity, externalId, expected }, record, instead?.into);
      for (const each of found) differences.add(each);
    }
    job.progress?.(entity, result.read_back, byServiceId.size);
  }
  return result;
}
