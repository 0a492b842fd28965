/** Compares a new plan with the plans of earlier surveys. */
import { UserError } from '../errors.ts';
import { PLAN } from '../store/plan-schema.ts';
import { readSetting, storeSetting } from '../store/setting.ts';
import { Database } from '../store/sqlite.ts';
import { issueOf } from '../report/words/words.ts';
import type { Problem } from '../problem.ts';

/**
 * `--plan DIGEST` sends exactly what was approved after a dry run, or nothing. Throws a `UserError` (exit 2) unless the plan's `digest` is the `approved` one. `stored`: paths of earlier plans. If the
 * approved one is among them, the message says how many events were added, removed or changed since.
 */
export function assertApproved(db: Database, digest: string, approved: string, stored: readonly string[]): void {
  if (digest === approved) return;
  throw new UserError(`the plan has the digest ${digest}, not ${approved}: ${differenceText(db, approved, stored)}`, {
    hint: 'nothing was sent; check the new plan with --dry-run, then pass its digest',
  });
}

function differenceText(db: Database, approved: string, stored: readonly string[]): string {
  const path = stored.find((each) => settingOf(each, 'digest') === approved);
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

/**
 * Marks warnings that the previous survey of the same mapping gave too (same record, same message), so that a rerun can highlight new ones.
 * `earlier`: the path of its plan.
 */
export function markRepeated(db: Database, mappingSha256: string, earlier: string | undefined): void {
  storeSetting(db, 'mapping_sha256', mappingSha256);
  if (earlier === undefined || settingOf(earlier, 'mapping_sha256') !== mappingSha256) return;
  try {
    db.attach(earlier, 'earlier', PLAN);
    db.exec(`
      update plan.problem as p set is_repeated = 1
      where p.severity = 'warning'
        and (p.code, p.message, ifnull((select e.external_id from plan.event e where e.id = p.event), '')) in (
          select w.code, w.message, ifnull(w.external_id, '') from earlier.problems w where w.severity = 'warning')`);
  } catch {
    // A damaged plan: all warnings count as new.
  }
}

/** A source with less than half of the records that it had in the last run, whose plan is at `earlier`, in words. */
export function shrunkSource(db: Database, earlier: string): Problem | undefined {
  const recordsIn = (plan: Database) =>
    plan.all<{ name: string; records: number }>('select name, records from source order by id');
  const before = new Map(askPlan(earlier, recordsIn)?.map(({ name, records }) => [name, records]));
  const shrunk = recordsIn(db).find(({ name, records }) => records * 2 < (before.get(name) ?? 0));
  return shrunk && issueOf('source_shrunk', shrunk.name, shrunk.records, before.get(shrunk.name)!);
}

function settingOf(path: string, name: string): string | undefined {
  return askPlan(path, (plan) => readSetting(plan, name));
}

/** The plan at `path`; undefined if there is none, or if it is damaged or written by another version of the program. */
export function askPlan<T>(path: string, ask: (plan: Database) => T): T | undefined {
  try {
    return Database.ask(path, PLAN, ask);
  } catch {
    return undefined;
  }
}
