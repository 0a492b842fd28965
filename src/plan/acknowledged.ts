import type { Policies } from '../mapping/policies.ts';
import type { Database } from '../store/sqlite.ts';

/** Whether earlier runs have sent anything. */
export function hasRequests(db: Database): boolean {
  return db.get('select 1 from checkpoint.request limit 1') !== undefined;
}

/**
 * What earlier runs have settled. Created events, and comments with an id, are found by type and external id, whatever their
 * content is now; updates, and comments without an id, by their own ids. A record that `if_missing: create` made is ours, too:
 * what its created event says otherwise is a change. What was skipped is sent again once the mapping no longer says so.
 */
export function judgeAcknowledged(db: Database, policies: readonly Policies[]): void {
  db.run(
    `update event set state = 'acknowledged'
     where state = 'ready' and external_id is not null and type in ('lead/created', 'deal/created', 'comment/created')
       and exists (select 1 from checkpoint.request r where r.entity = event.entity and r.external_id = event.external_id
         and event.type in (r.for_type, r.type) and r.status = 'acknowledged' and r.origin in ('input', 'second')
         and not (r.code is 'already_exists' and event.entry not in (select value from json_each(?))))`,
    entriesThatSkip(policies, 'if_exists'),
  );
  db.run(
    `update event set state = 'acknowledged'
     where state = 'ready' and (external_id is null or type in ('lead/updated', 'deal/updated'))
       and exists (select 1 from checkpoint.request r where r.for_id = event.event_id
         and r.status = 'acknowledged' and r.origin in ('input', 'second')
         -- Skipped by \`if_missing\`, because there was no record: now there is one, or the input has it.
         and not (r.code is 'not_found' and (
           event.entry not in (select value from json_each(?))
           or exists (select 1 from event c where c.entity = event.entity and c.external_id = event.external_id
             and c.type = event.entity || '/created' and c.data is not null)
           or exists (select 1 from checkpoint.request q where q.entity = event.entity and q.external_id = event.external_id
             and q.status = 'acknowledged' and q.had_no_effect = 0))))`,
    entriesThatSkip(policies, 'if_missing'),
  );
  db.exec(`
    -- Later updates of its record may go before it now.
    update event set state = 'retry', is_delicate = type in ('lead/updated', 'deal/updated')
    where state = 'ready' and exists (
      select 1 from checkpoint.request r where r.for_id = event.event_id and r.status = 'rejected');

    -- Created by an earlier run, but its record can no longer be mapped.
    update event set state = 'acknowledged', code = 'unmapped'
    where state = 'invalid' and data is null and external_id is not null
      and type in ('lead/created', 'deal/created', 'comment/created')
      and exists (select 1 from checkpoint.request r where r.entity = event.entity and r.external_id = event.external_id
        and r.for_type = event.type and r.status = 'acknowledged' and r.origin in ('input', 'second'))
      and not exists (select 1 from event o where o.entity = event.entity and o.external_id = event.external_id
        and o.type = event.type and (o.data is not null or o.id < event.id));
  `);
}

/** As JSON, for `json_each`. */
function entriesThatSkip(policies: readonly Policies[], name: 'if_exists' | 'if_missing'): string {
  return JSON.stringify(policies.flatMap((policy, entry) => (policy[name] === 'skip' ? [entry] : [])));
}
