import { COMBINED } from '../../kinds/index.ts';
import type { Policies } from '../../mapping/policies.ts';
import type { EventType, State } from '../../model.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';
import { EXCLUDED, setState } from '../events.ts';
import { rejectEvent } from '../problems.ts';
import { issueOf } from '../../report/words/words.ts';
import { leaveOut, listUnused } from './left-out.ts';

/** An event whose external id several of its type have. */
interface Version {
  readonly id: number;
  readonly record: number;
  readonly type: EventType;
  readonly external_id: string;
  /** Both null where the row could not be mapped, or `when` excludes it. */
  readonly data: string | null;
  readonly content: string | null;
  readonly entry: number;
  readonly state: State | typeof EXCLUDED;
  readonly source: string;
  readonly place: string;
}

/**
 * Created events, and comments with an id, that occur several times: with the same content all but the first are duplicates;
 * with other content the `duplicates` policy decides. `first` and `last` choose before `when` is asked and whatever can be mapped: where the
 * newest version says deleted, or cannot be read, no older one is sent in its place.
 */
export function judgeDuplicates(db: Database, policies: readonly Policies[], hasher: FieldHasher): void {
  db.exec(`
    create temp table repeated as
      select entity, external_id from event where external_id is not null and type = entity || '/created'
      group by entity, external_id having count(*) > 1;
    create temp table version as
      select e.id, e.entity, e.external_id, e.content,
        row_number() over (partition by e.entity, e.external_id order by e.id) as nth
      from repeated p join event e on e.entity = p.entity and e.external_id = p.external_id
      where e.type = e.entity || '/created';
    create temp table in_conflict as
      select entity, external_id from version group by entity, external_id
      having min(content) <> max(content) or count(content) < count(*);
    create unique index temp.in_conflict_key on in_conflict (entity, external_id);
    update event set state = 'duplicate' where id in (
      select r.id from version r where r.nth > 1 and not exists (
        select 1 from in_conflict c where c.entity = r.entity and c.external_id = r.external_id));
  `);
  db.exec('create temp table dropped (event integer primary key, why text not null, is_left_out integer not null)');
  let group: Version[] = [];
  for (const version of db.all<Version>(`
    select e.id, e.record, e.type, e.external_id, e.data, e.content, e.entry, e.state, r.source, r.place
    from in_conflict c join version p on p.entity = c.entity and p.external_id = c.external_id
    join event e on e.id = p.id join row r on r.id = e.record
    order by c.entity, c.external_id, e.id`)) {
    const [first] = group;
    if (first && (first.type !== version.type || first.external_id !== version.external_id)) {
      judgeConflict(db, policies, hasher, group);
      group = [];
    }
    group.push(version);
  }
  if (group.length > 0) judgeConflict(db, policies, hasher, group);
  db.exec(`delete from event where state = '${EXCLUDED}'`);
  const dropped = (isLeftOut: 0 | 1) => ({
    events: `e.id in (select event from temp.dropped where is_left_out = ${isLeftOut})`,
    code: 'duplicates' as const,
    why: '(select why from temp.dropped d where d.event = e.id)',
  });
  listUnused(db, dropped(0));
  leaveOut(db, dropped(1));
  db.exec('drop table repeated; drop table version; drop table in_conflict; drop table dropped');
}

/** Events with one external id, and not all with the same content. */
function judgeConflict(
  db: Database,
  policies: readonly Policies[],
  hasher: FieldHasher,
  group: readonly Version[],
): void {
  const policy = policies[group[0]!.entry]!.duplicates;
  if (policy === 'reject') return reject(db, hasher, group);
  const chosen = policy === 'first' ? group[0]! : group.at(-1)!;
  const isExcluded = chosen.state === EXCLUDED;
  const why = isExcluded ? `${chosen.place}, which \`when\` excludes` : chosen.place;
  for (const { id, state, content } of group) {
    // What cannot be mapped is reported, whichever version is chosen.
    if (id === chosen.id || state === EXCLUDED || (content === null && !isExcluded)) continue;
    setState(db, id, 'duplicate');
    if (content !== chosen.content || isExcluded)
      db.run('insert into temp.dropped values (?, ?, ?)', id, why, Number(isExcluded));
  }
}

/** Nobody says which of them is the record: the one whose content was sent stays, or none. */
function reject(db: Database, hasher: FieldHasher, group: readonly Version[]): void {
  const mapped = group.filter(({ content }) => content !== null);
  const isConflict = mapped.some(({ content }) => content !== mapped[0]!.content);
  const kept = isConflict ? mapped.find((version) => wasSent(db, hasher, version)) : mapped[0];
  const isOfSeveral = new Set(mapped.map(({ source }) => source)).size > 1;
  for (const version of mapped) {
    if (version === kept) continue;
    const { id, record, external_id: externalId, content } = version;
    if (content === kept?.content) {
      setState(db, id, 'duplicate');
      continue;
    }
    const key = isOfSeveral ? 'duplicate_external_id/sources' : 'duplicate_external_id';
    rejectEvent(db, { id, record }, issueOf(key, externalId).with({ field: 'external_id' }));
  }
}

/** Alone, or as a part of a combined comment. */
function wasSent(db: Database, hasher: FieldHasher, { type, external_id: externalId, state, data }: Version): boolean {
  if (state === 'acknowledged') return true;
  if (type !== `${COMBINED}/created`) return false;
  const carried = 'select 1 from checkpoint.carried where external_id = ? and is_certain = 1 and content = ?';
  return db.get(carried, externalId, hasher.hashOf(COMBINED, data)) !== undefined;
}
