import type { Policies } from '../mapping/policies.ts';
import { subjectsOf } from '../plan/judge/judge-known.ts';
import { appendTurns } from '../plan/order.ts';
import { readSubjects, rememberShown, type ReadBackJob } from '../plan/read-back.ts';
import type { Commits } from '../store/commits.ts';

/**
 * Reads back the records of which an answer said that they are there, but not with which values (`deduplicated` after several
 * bodies, or by a checkpoint that is lost). Returns whether something is left to be sent of them.
 */
export async function readLeft(
  job: ReadBackJob & {
    readonly commits: Commits;
    readonly policies: readonly Policies[];
    readonly writeChanges: () => Promise<void>;
  },
): Promise<boolean> {
  const { db, commits, policies, hasher } = job;
  const subjects = [...subjectsOf(db, policies, hasher, `e.state = 'ready' and e.code = 'to_read'`)];
  if (subjects.length === 0) return false;
  await readSubjects(job, subjects);
  await job.writeChanges();
  await commits.commit(() => rememberShown(db, policies, hasher));
  const left = subjects.filter(
    ({ id }) => db.get(`select 1 from event where id = ? and state = 'ready'`, id) !== undefined,
  );
  appendTurns(
    db,
    left.map(({ id }) => id),
  );
  return left.length > 0;
}
