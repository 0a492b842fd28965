import { kindOfType, KINDS } from '../../kinds/index.ts';
import { contentSha, eventId } from '../../core/identity.ts';
import { canonicalJson, parseJson, type JsonObject } from '../../json.ts';
import type { Policies } from '../../mapping/policies.ts';
import type { Database } from '../../store/sqlite.ts';
import { EVENT_ROWS, pagesOf, plannedOf, type EventRow } from '../events.ts';
import { leaveOut } from './left-out.ts';

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
 * acknowledged before. An event that depends on a skipped one lacks its parent, too.
 */
export function skipOrphans(db: Database, policies: readonly Policies[]): void {
  const entries = ENTRIES_WITH(policies, 'skip');
  if (entries.length === 0) return;
  for (const { name, parents } of KINDS) {
    if (parents.length === 0) continue;
    const where = `e.entity = ? and e.entry in (select value from json_each(?)) and e.data is not null and ${LACKS_PARENT}
      and not exists (select 1 from checkpoint.record r where r.entity = e.entity and r.external_id = e.external_id
        and r.is_acknowledged = 1)`;
    leaveOut(db, 'orphan', where, name, JSON.stringify(entries));
  }
}
