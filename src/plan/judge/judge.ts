/** Decides the state of every event of a complete plan, and which events a run sends. Each step depends on the ones before it. */
import { isUpdate } from '../../kinds/index.ts';
import type { StateDir } from '../../files/state-dir.ts';
import type { CompiledEntry } from '../../mapping/mapping.ts';
import type { Policies } from '../../mapping/policies.ts';
import type { ChangeCounts, DueCounts } from '../../report/files/summary.ts';
import type { Account } from '../../service/account.ts';
import type { Client } from '../../service/client.ts';
import type { Selection } from '../../settings/run-settings.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import { UNACKNOWLEDGED, UNACKNOWLEDGED_INDEX, PLAN_INDEXES } from '../../store/plan-schema.ts';
import type { Database } from '../../store/sqlite.ts';
import { CHANGES_FILE, countChanges, writeChanges } from './changes-file.ts';
import { combineComments } from './combine.ts';
import { deriveCommentIds } from './comment-ids.ts';
import { judgeContacts, MATCHES_FILE } from './contacts.ts';
import type { Cover } from '../cover.ts';
import { judgeDuplicates } from './duplicates.ts';
import { foldRows } from './fold.ts';
import { GONE_FILE, listGone } from './gone.ts';
import { warnOfInactive, warnOfCustomFields } from './warnings.ts';
import { judgeKnown } from './judge-known.ts';
import { omitMissingParents, skipOrphans } from './left-out.ts';
import { keepComments, noteSurvey } from '../older.ts';
import { writeOrder } from '../order.ts';
import { judgeParents, reportBlocked } from '../parents.ts';
import { liftPriorities } from '../priorities.ts';
import { readSubjects } from '../read-back.ts';
import { select } from '../selection.ts';
import { hasRecords } from '../records.ts';

interface JudgingJob {
  /** The plan with all events as they were read, and the checkpoint attached. */
  readonly db: Database;
  readonly entries: readonly CompiledEntry[];
  readonly hasher: FieldHasher;
  /** The country of national phone numbers that the service may show. */
  readonly region: string | undefined;
  /** `defaults.timezone` of the mapping. */
  readonly timezone: string | undefined;
  /** Undefined if it is unknown. */
  readonly account: Account | undefined;
  /** Undefined if the network must not be used. */
  readonly client: Client | undefined;
  /** How many leads of the account were read; undefined if they are not looked for. */
  readonly contacts: number | undefined;
  readonly concurrency: number;
  /** Where the lists for people go. */
  readonly output: StateDir;
}

/** Returns how the records of earlier runs differ; undefined if nothing was sent before. */
export async function judgePlan(job: JudgingJob): Promise<ChangeCounts | undefined> {
  const { db, entries, hasher, output, client, contacts, concurrency, timezone } = job;
  const policies = entries.map((entry) => entry.policies);
  db.exec(PLAN_INDEXES);
  deriveCommentIds(db);
  judgeDuplicates(db, policies, hasher);
  if (entries.some(({ type }) => isUpdate(type))) foldRows(db);
  combineComments({ db, hasher, entries, timezone });
  omitMissingParents(db, policies);
  skipOrphans(db, policies);
  noteSurvey(db);
  const known = hasRecords(db) ? await compareWithKnown(job, policies) : undefined;
  if (contacts !== undefined) {
    const service = client && { client, leads: contacts, concurrency };
    await judgeContacts({ db, hasher, policies, path: output.file(MATCHES_FILE), service });
  }
  judgeParents(db, entries);
  warnOfCustomFields(db, entries);
  warnOfInactive(db, job.account);
  reportBlocked(db);
  return known && { ...countDueAgain(db), ...known };
}

/** Knowledge from earlier runs, and the records of the service that differ. Without the network, nothing is read. */
async function compareWithKnown(
  { db, hasher, output, client, concurrency, region }: JudgingJob,
  policies: readonly Policies[],
): Promise<Omit<ChangeCounts, keyof DueCounts>> {
  db.exec(UNACKNOWLEDGED_INDEX);
  const subjects = judgeKnown(db, policies, hasher, client !== undefined);
  if (client) await readSubjects({ db, hasher, client, concurrency, region }, subjects);
  writeChanges(db, output.file(CHANGES_FILE));
  keepComments(db);
  const missing = listGone(db, output.file(GONE_FILE));
  return { ...countChanges(db), ...missing };
}

/** Events that can be sent and about whose records nothing was sent before. */
function countDueAgain(db: Database): DueCounts {
  return db.get(`
    select count(*) filter (where r.entity is null or (r.existence = 'no' and r.rejected is null)) as new,
      count(*) filter (where r.open is not null) as unanswered,
      count(*) filter (where r.existence = 'no' and r.rejected is not null and r.open is null) as rejected
    from event e left join checkpoint.record r on r.entity = e.entity and r.external_id = e.external_id
    where e.state in ('ready', 'retry') and e.${UNACKNOWLEDGED}`)!;
}

/** The events of this run, and their order. Returns the features that the records chosen by `--pilot` cover. */
export function choosePlan(
  plan: Pick<JudgingJob, 'db' | 'entries' | 'account'>,
  selection: Selection,
): Cover | undefined {
  const { db } = plan;
  const cover = select(plan, selection);
  liftPriorities(db);
  writeOrder(db);
  return cover;
}
