import { contentSha, eventId } from '../core/identity.ts';
import { canonicalJson, parseJson, type JsonObject } from '../json.ts';
import type { Policies } from '../mapping/policies.ts';
import type { Database } from '../store/sqlite.ts';
import { EVENT_ROWS, pagesOf, plannedOf, type EventRow } from './events.ts';

/** `if_parent_missing: omit`: an event whose parent is in neither the input nor the checkpoint goes out without naming it. */
export function omitMissingParents(db: Database, policies: readonly Policies[], migration: string): void {
  const entries = policies.flatMap(({ if_parent_missing: policy }, entry) => (policy === 'omit' ? [entry] : []));
  if (entries.length === 0) return;
  const lacking = `${EVENT_ROWS}
    where e.entry in (select value from json_each(?)) and e.data is not null and e.parent_id is not null
      and not exists (select 1 from event p where p.entity = e.parent_entity and p.external_id = e.parent_id)
      and not exists (select 1 from checkpoint.record q where q.entity = e.parent_entity and q.external_id = e.parent_id
        and q.is_acknowledged = 1)
      and e.id > ? order by e.id limit 500`;
  for (const page of pagesOf<EventRow>(db, lacking, JSON.stringify(entries))) {
    for (const row of page) {
      const { id, type, externalId } = plannedOf(row);
      const { lead_external_id: _lead, ...data } = parseJson(row.data) as JsonObject;
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
