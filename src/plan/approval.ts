/** `--plan DIGEST`: sends exactly what was approved after a dry run, or nothing. */
import { UserError } from '../errors.ts';
import { PLAN } from '../store/plan-schema.ts';
import { Database } from '../store/sqlite.ts';

/**
 * Throws a `UserError` (exit 2) unless the plan's `digest` is the `approved` one. `stored`: paths of earlier plans. If the
 * approved one is among them, the message says how many events were added, removed or changed since.
 */
export function assertApproved(db: Database, digest: string, approved: string, stored: readonly string[]): void {
  if (digest === approved) return;
  throw new UserError(`the plan has the digest ${digest}, not ${approved}: ${differenceText(db, approved, stored)}`, {
    hint: 'nothing was sent; check the new plan with --dry-run, then pass its digest',
  });
}

function differenceText(db: Database, approved: string, stored: readonly string[]): string {
  const path = stored.find((each) => digestOf(each) === approved);
  if (path === undefined) return 'no stored plan has that digest, so the difference is unknown';
  db.attach(path, 'approved', PLAN);
  const { added, removed, changed } = db.get<{ added: number; removed: number; changed: number }>(`
    with both (type, key, content, n) as (
        select type, ifnull('id ' || external_id, 'content ' || content), content || ifnull(occurred_at, ''), 1 from plan.listed
        union all
        select type, ifnull('id ' || external_id, 'content ' || content), content || ifnull(occurred_at, ''), -1 from approved.listed),
      different as (select type, key, sum(n) as n from both group by type, key, content having sum(n) <> 0),
      keys as (
        select sum(case when n > 0 then n else 0 end) as come, sum(case when n < 0 then -n else 0 end) as gone
        from different group by type, key)
    select ifnull(sum(max(come - gone, 0)), 0) as added, ifnull(sum(max(gone - come, 0)), 0) as removed,
      ifnull(sum(min(come, gone)), 0) as changed from keys`)!;
  if (added + removed + changed === 0) return 'the events are the same, but the policies of the mapping are not';
  return `events added: ${added}, removed: ${removed}, changed: ${changed}`;
}

/** Undefined if there is no such plan, or if another version of the program wrote it. */
function digestOf(path: string): string | undefined {
  let plan: Database | undefined;
  try {
    plan = Database.read(path, PLAN);
    return plan?.get<{ value: string }>(`select value from setting where name = 'digest'`)?.value;
  } catch {
    return undefined;
  } finally {
    plan?.close();
  }
}
