/** Records of the input that become no events of the plan. Why is a code of `OMISSION_REASONS`. */
import { RECORD } from '../../report/files/findings.ts';
import type { Database, SqlValue } from '../../store/sqlite.ts';
import { ORPHAN } from '../../report/words/terms.ts';
import { issueOf } from '../../report/words/words.ts';
import { kindOfType, KINDS } from '../../kinds/index.ts';
import { parseJson, type JsonObject } from '../../json.ts';
import type { Policies } from '../../mapping/policies.ts';
import { EVENT_ROWS, pagesOf, setContent, type EventRow } from '../events.ts';

/** Takes the events that a condition on `event e` selects out of the plan, and lists their rows, or their parts, as left out. */
function leaveOutOrphans(db: Database, where: string, ...values: readonly string[]): void {
  db.run(`create temp table gone as select e.id as event from event e where ${where}`, ...values);
  db.define('why_orphan', (parent, id, place, code) => whyOrphan(`${parent} \`${id}\``, place, code));
  // The row of the parent, if it has one: an index has it by its id.
  const row = (what: string): string =>
    `(select ${what} from unused_row u join row r on r.id = u.record
      where u.entity = e.parent_entity and u.external_id = e.parent_id limit 1)`;
  db.exec(
    `insert into omission (record, field, original, entity, code, reason)
     select ifnull(w.record, e.record), '${RECORD}', coalesce(w.external_id, e.external_id, ''), e.entity, '${ORPHAN}',
       why_orphan(e.parent_entity, e.parent_id, ${row('r.place')}, ${row('u.code')})
     from temp.gone o join event e on e.id = o.event left join (
       select event, record, null as external_id from row_of where event not in (select event from part)
       union all select event, record, external_id from part) w on w.event = e.id`,
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

/** `place`, `code`: of a row that would have been the parent, and why it is not. */
function whyOrphan(parent: string, place: SqlValue, code: SqlValue): string {
  if (place === null) return issueOf('orphan', parent).message;
  const fate = code === 'unread' ? 'could not be read' : code === ORPHAN ? 'is left out, too' : 'is skipped';
  return issueOf('orphan/row', parent, fate, String(place)).message;
}

/** How many records of the input have no event any more. */
export function countLeftOut(db: Database): number {
  return db.get<{ count: number }>(`
    select count(*) as count from (select distinct record from omission where field = '${RECORD}')
    where record not in (select record from event) and record not in (select record from row_of)`)!.count;
}

const entriesWith = (policies: readonly Policies[], wanted: Policies['if_parent_missing']): number[] =>
  policies.flatMap(({ if_parent_missing: policy }, entry) => (policy === wanted ? [entry] : []));

/** The parent of an event `e` is in neither the input nor the checkpoint. */
const LACKS_PARENT = `e.parent_id is not null
  and not exists (select 1 from event p where p.entity = e.parent_entity and p.external_id = e.parent_id)
  and not exists (select 1 from checkpoint.record q where q.entity = e.parent_entity and q.external_id = e.parent_id
    and q.is_acknowledged = 1)`;

/** `if_parent_missing: omit`: an event whose parent is in neither the input nor the checkpoint goes out without naming it. */
export function omitMissingParents(db: Database, policies: readonly Policies[]): void {
  const entries = entriesWith(policies, 'omit');
  if (entries.length === 0) return;
  const lacking = `${EVENT_ROWS}
    where e.entry in (select value from json_each(?)) and e.data is not null and ${LACKS_PARENT}
      and e.id > ? order by e.id limit 500`;
  for (const page of pagesOf<EventRow>(db, lacking, JSON.stringify(entries))) {
    for (const row of page) {
      const parents = kindOfType(row.type).parents.map(({ field }) => field);
      const given = parseJson(row.data) as JsonObject;
      const data = Object.fromEntries(Object.entries(given).filter(([field]) => !parents.includes(field)));
      setContent(db, row, data);
    }
  }
}

/**
 * `if_parent_missing: skip`: an event whose parent is in neither the input nor the checkpoint is no event of the plan, unless it was
 * acknowledged before. An event that depends on a skipped one lacks its parent, too.
 */
export function skipOrphans(db: Database, policies: readonly Policies[]): void {
  const entries = entriesWith(policies, 'skip');
  if (entries.length === 0) return;
  for (const { name, parents } of KINDS) {
    if (parents.length === 0) continue;
    const where = `e.entity = ? and e.entry in (select value from json_each(?)) and e.data is not null and ${LACKS_PARENT}
      and not exists (select 1 from checkpoint.record r where r.entity = e.entity and r.external_id = e.external_id
        and r.is_acknowledged = 1)`;
    leaveOutOrphans(db, where, name, JSON.stringify(entries));
  }
}
