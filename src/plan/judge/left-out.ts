/** Records of the input that become no events of the plan. Why is a code of `OMISSION_REASONS`. */
import { RECORD } from '../../report/findings.ts';
import type { Database } from '../../store/sqlite.ts';
import type { OMISSION_REASONS } from '../../vocabulary/records.ts';
import { issueOf } from '../../vocabulary/words.ts';

/** Takes the events that a condition on `event e` selects out of the plan, and lists their rows, or their parts, as left out. */
export function leaveOut(
  db: Database,
  reason: keyof typeof OMISSION_REASONS,
  where: string,
  ...values: readonly string[]
): void {
  db.run(`create temp table gone as select e.id as event from event e where ${where}`, ...values);
  const { code, message } = issueOf(reason);
  db.run(
    `insert into omission (record, field, original, code, reason)
     select ifnull(w.record, e.record), '${RECORD}', coalesce(w.external_id, e.external_id, ''), ?, ?
     from temp.gone o join event e on e.id = o.event left join (
       select event, record, null as external_id from row_of where event not in (select event from part)
       union all select event, record, external_id from part) w on w.event = e.id`,
    code,
    message,
  );
  db.exec(`
    delete from problem where event in (select event from temp.gone);
    delete from omission where event in (select event from temp.gone);
    delete from part where event in (select event from temp.gone);
    delete from row_of where event in (select event from temp.gone);
    delete from event where id in (select event from temp.gone);
    drop table temp.gone;
  `);
}

/** How many records of the input have no event any more. */
export function countLeftOut(db: Database): number {
  return db.get<{ count: number }>(`
    select count(*) as count from (select distinct record from omission where field = '${RECORD}')
    where record not in (select record from event) and record not in (select record from row_of)`)!.count;
}
