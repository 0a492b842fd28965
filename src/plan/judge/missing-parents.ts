import { kindOfType, KINDS } from '../../kinds/index.ts';
import { contentSha, eventId } from '../../core/identity.ts';
import { canonicalJson, parseJson, type JsonObject } from '../../json.ts';
import type { Policies } from '../../mapping/policies.ts';
import type { Database } from '../../store/sqlite.ts';
import { EVENT_ROWS, pagesOf, plannedOf, type EventRow } from '../events.ts';
import { issueOf } from '../../vocabulary/words.ts';

const ENTRIES_WITH = (policies: readonly Policies[], wanted: Policies['if_parent_missing']): number[] =>
  policies.flatMap(({ if_parent_missing: policy }, entry) => (policy === wanted ? [entry] : []));

/** The parent of an event `e` is in neither the input nor the checkpoint. */
const LACKS_PARENT = `e.parent_id is not null
  and not exists (select 1 from event p where p.entity = e.parent_entity and p.external_id = e.parent_id)
  and not exists (select 1 from checkpoint.record q where q.entity = e.parent_entity and q.external_id = e.parent_id
    and q.is_acknowledged = 1)`;

/** `if_parent_missing: omit`: an event whose parent is in neither the input nor the checkpoint goes out without naming it. */
export function omitMissingParents(db: Database, policies: readonly Policies[], migration: string): void {
  const entries = ENTRIES_WITH(policies, 'omit');
  if (entries.length === 0) return;
  const lacking = `${EVENT_ROWS}
    where e.entry in (select value from json_each(?)) and e.data is not null and ${LACKS_PARENT}
      and e.id > ? order by e.id limit 500`;
  for (const page of pagesOf<EventRow>(db, lacking, JSON.stringify(entries))) {
    for (const row of page) {
      const { id, type, externalId } = plannedOf(row);
      const parents = kindOfType(type).parents.map(({ field }) => field);
      const given = parseJson(row.data) as JsonObject;
      const data = Object.fromEntries(Object.entries(given).filter(([field]) => !parents.includes(field)));
      const content = canonicalJson(data);
      db.run(
        'update event set data = ?, content = ?, event_id = ?, parent_entity = null, parent_id = null where id = ?',
        content,
        contentSha(type, content),
        eventId({ migration, type, externalId: externalId!, content }),
        id,
      );
    }
  }
}

/**
 * `if_parent_missing: skip`: an event whose parent is in neither the input nor the checkpoint is no event of the plan, unless it was
 * acknowledged before; its rows are listed as left out. A comment on a deal that is skipped lacks its parent too. Returns how many
 * records of the input have no event any more.
 */
export function skipOrphans(db: Database, policies: readonly Policies[]): number {
  const entries = JSON.stringify(ENTRIES_WITH(policies, 'skip'));
  if (entries === '[]') return 0;
  db.exec('create temp table orphan (event integer primary key)');
  for (const { name: entity } of KINDS.filter(({ parents }) => parents.length > 0)) {
    db.run(
      `insert into temp.orphan select e.id from event e
       where e.entity = ? and e.entry in (select value from json_each(?)) and e.data is not null and ${LACKS_PARENT}
         and not exists (select 1 from checkpoint.record r where r.entity = e.entity and r.external_id = e.external_id
           and r.is_acknowledged = 1)`,
      entity,
      entries,
    );
    db.exec(`
      create temp table orphan_row as
        select e.id as event, ifnull(w.record, e.record) as record, ifnull(w.external_id, e.external_id) as external_id
        from temp.orphan o join event e on e.id = o.event left join (
          select event, record, null as external_id from row_of where event not in (select event from part)
          union all select event, record, external_id from part) w on w.event = e.id;
    `);
    const { code, message } = issueOf('orphan');
    db.run(
      `insert into omission (record, field, original, code, reason)
         select record, '(record)', ifnull(external_id, ''), ?, ? from temp.orphan_row`,
      code,
      message,
    );
    db.exec(`
      delete from problem where event in (select event from temp.orphan);
      delete from omission where event in (select event from temp.orphan);
      delete from part where event in (select event from temp.orphan);
      delete from row_of where event in (select event from temp.orphan);
      delete from event where id in (select event from temp.orphan);
      delete from temp.orphan;
    `);
    db.exec('drop table temp.orphan_row');
  }
  db.exec('drop table temp.orphan');
  return db.get<{ count: number }>(`
    select count(*) as count from (select distinct record from omission where code = 'orphan')
    where record not in (select record from event) and record not in (select record from row_of)`)!.count;
}
