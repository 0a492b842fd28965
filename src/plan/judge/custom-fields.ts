import { CUSTOM_FIELDS } from '../../kinds/index.ts';
import type { Policies } from '../../mapping/policies.ts';
import type { Database } from '../../store/sqlite.ts';
import { addProblem } from '../problems.ts';
import { issueOf } from '../../vocabulary/words.ts';

/**
 * Says of records that somebody else made, or may have made, that custom fields which the export does not have may go: they are
 * sent as a whole, and it is not published whether an update replaces or merges them (service interface, section 2).
 */
export function warnOfCustomFields(db: Database, policies: readonly Policies[]): void {
  const updating = policies.flatMap(({ if_exists: policy }, entry) => (policy === 'update' ? [entry] : []));
  const { count } = db.get<{ count: number }>(
    `select count(*) as count from event
     where state in ('ready', 'retry')
       and (type like '%/updated' or entry in (select value from json_each(?)))
       and coalesce(${CUSTOM_FIELDS.map((field) => `json_extract(data, '$.${field}')`).join(', ')}) is not null`,
    JSON.stringify(updating),
  )!;
  if (count > 0) addProblem(db, {}, issueOf('custom_fields_may_go', count));
}
