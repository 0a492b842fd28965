import { COMBINED } from '../../kinds/index.ts';
import type { Policies } from '../../mapping/policies.ts';
import type { EventType } from '../../model.ts';
import { RECORD } from '../../report/files/findings.ts';
import type { Database } from '../../store/sqlite.ts';
import { setState } from '../events.ts';
import { addOmissions, addProblem } from '../problems.ts';
import { issueOf } from '../../report/words/words.ts';

/** An event whose external id several of its type have. */
interface Repeated {
  readonly id: number;
  readonly record: number;
  readonly type: EventType;
  readonly external_id: string;
  readonly content: string;
  readonly entry: number;
  readonly source: string;
  /** An earlier run created the record. */
  readonly is_created: number;
}

/**
 * Created events, and comments with an id, that occur several times: with the same content all but the first are duplicates;
 * with other content the `duplicates` policy decides.
 */
export function judgeDuplicates(db: Database, policies: readonly Policies[]): void {
  db.exec(`
    create temp table repeated as
      select entity, external_id from event where external_id is not null and type = entity || '/created'
      group by entity, external_id having count(*) > 1;
    create temp table repeated_event as
      select e.id, e.entity, e.external_id, e.content,
        row_number() over (partition by e.entity, e.external_id order by e.id) as nth
      from repeated p join event e on e.entity = p.entity and e.external_id = p.external_id
      where e.data is not null and e.type = e.entity || '/created';
    create temp table in_conflict as
      select entity, external_id from repeated_event group by entity, external_id having min(content) <> max(content);
    create unique index temp.in_conflict_key on in_conflict (entity, external_id);
    update event set state = 'duplicate' where id in (
      select r.id from repeated_event r where r.nth > 1 and not exists (
        select 1 from in_conflict c where c.entity = r.entity and c.external_id = r.external_id));
  `);
  let group: Repeated[] = [];
  for (const event of db.all<Repeated>(`
    select e.id, e.record, e.type, e.external_id, e.content, e.entry, r.source, exists (
      select 1 from checkpoint.record r where r.entity = e.entity and r.external_id = e.external_id
        and r.is_acknowledged = 1) or exists (
      select 1 from checkpoint.carried c where c.external_id = e.external_id and e.entity = '${COMBINED}' and c.is_certain = 1) as is_created
    from in_conflict c join repeated_event p on p.entity = c.entity and p.external_id = c.external_id
    join event e on e.id = p.id join row r on r.id = e.record
    order by c.entity, c.external_id, e.id`)) {
    const [first] = group;
    if (first && (first.type !== event.type || first.external_id !== event.external_id)) {
      judgeConflict(db, policies, group);
      group = [];
    }
    group.push(event);
  }
  if (group.length > 0) judgeConflict(db, policies, group);
  db.exec('drop table repeated; drop table repeated_event; drop table in_conflict');
}

/** Events with one external id, and not all with the same content. */
function judgeConflict(db: Database, policies: readonly Policies[], group: readonly Repeated[]): void {
  const policy = policies[group[0]!.entry]!.duplicates;
  if (policy === 'reject') return rejectAll(db, group);
  const kept = policy === 'first' ? group[0]! : group.at(-1)!;
  for (const event of group) {
    if (event === kept) continue;
    setState(db, event.id, 'duplicate');
    if (event.content !== kept.content) {
      addOmissions(db, { event: event.id, record: event.record }, [{ ...DROPPED, original: event.external_id }]);
    }
  }
}

const { code, message: reason } = issueOf('duplicates');
const DROPPED = { field: RECORD, code, reason } as const;

/** What was created by an earlier run stays. */
function rejectAll(db: Database, group: readonly Repeated[]): void {
  const isOfSeveral = new Set(group.map(({ source }) => source)).size > 1;
  for (const [index, event] of group.entries()) {
    if (index === 0 && event.is_created) continue;
    setState(db, event.id, 'invalid', 'duplicate_external_id');
    const key = isOfSeveral ? 'duplicate_external_id/sources' : 'duplicate_external_id';
    const issue = { ...issueOf(key, event.external_id), field: 'external_id' };
    addProblem(db, { event: event.id, record: event.record }, issue);
  }
}
