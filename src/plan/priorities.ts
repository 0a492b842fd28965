import { KINDS } from '../kinds/index.ts';
import type { Database } from '../store/sqlite.ts';

/** Below every priority: of what has none. */
const NONE = -3_000_000_000;

/** The kinds whose records have priorities of their own, parents first. */
const RANKED = KINDS.filter(({ isNote }) => !isNote).map(({ name }) => name);

/** The highest priority of the children of a record and of what hangs on them; `?2` for a child that has none. */
const LIFT = `
  update family set below = nullif(max(ifnull(below, ${NONE}), ifnull((
      select max(max(ifnull(f.own, ?2), ifnull(f.below, ${NONE})))
      from link l join family f on f.entity = l.entity and f.external_id = l.external_id
      where l.parent_entity = family.entity and l.parent_id = family.external_id), ${NONE})), ${NONE})
    where entity = ?1 and exists (
      select 1 from link l where l.parent_entity = family.entity and l.parent_id = family.external_id)`;

/** A record that sets none has that of its parent. */
const INHERIT = `
  update family set own = (
      select max(ifnull(p.own, 0), ifnull(p.below, ${NONE}))
      from link l join family p on p.entity = l.parent_entity and p.external_id = l.parent_id
      where l.entity = family.entity and l.external_id = family.external_id limit 1)
    where entity = ? and own is null`;

/** Of a row of `family`. */
const PRIORITY = `max(ifnull(f.own, 0), ifnull(f.below, ${NONE}))`;

/**
 * The priority of every event. It belongs to the record: all events about one record have the same, so that they keep
 * their order.
 *
 * - A record has the highest priority that its events set, or else that of its parent, or else 0.
 * - A parent has at least the priority of what hangs on it, directly or not.
 * - The notes about one parent have the highest priority that they set; where one sets none, that of the parent.
 *
 * Duplicates and invalid events do not count; events that were acknowledged, or that this run does not send, do: the
 * priority of a record is the same in every run.
 */
export function liftPriorities(db: Database): void {
  if (!db.get('select 1 from event where own_priority is not null limit 1')) return;
  db.exec(`
    create temp table note as
      select parent_entity as entity, parent_id as external_id,
        case when count(own_priority) = count(*) then max(own_priority) end as priority, max(own_priority) as highest
      from event join kind k on k.name = entity and k.is_note
      where parent_id is not null and state not in ('invalid', 'duplicate') group by parent_entity, parent_id;
    create unique index temp.note_on on note (entity, external_id);
    create temp table family (
      entity text not null, external_id text not null, own integer, below integer,
      primary key (entity, external_id)) strict, without rowid;
    insert into family
      select e.entity, e.external_id, max(e.own_priority),
        (select n.highest from note n where n.entity = e.entity and n.external_id = e.external_id)
      from event e join kind k on k.name = e.entity and not k.is_note
      where e.external_id is not null and e.state not in ('invalid', 'duplicate') group by e.entity, e.external_id;
    create temp table link as
      select distinct e.entity, e.external_id, e.parent_entity, e.parent_id
      from event e join kind k on k.name = e.entity and not k.is_note
      where e.parent_id is not null and e.state not in ('invalid', 'duplicate');
    create index temp.link_down on link (parent_entity, parent_id);
    create index temp.link_up on link (entity, external_id);
  `);
  for (const kind of RANKED.toReversed()) db.run(LIFT, kind, NONE);
  for (const kind of RANKED) db.run(INHERIT, kind);
  // An update may name another parent than the one whose priority its record has.
  for (const kind of RANKED.toReversed()) db.run(LIFT, kind, 0);
  db.exec(`
    update event set priority = ifnull((
        select ${PRIORITY} from family f where f.entity = event.entity and f.external_id = event.external_id), 0)
      where entity in (select name from kind where not is_note);
    update event set priority = ifnull((
        select ifnull(n.priority, (
          select ${PRIORITY} from family f where f.entity = event.parent_entity and f.external_id = event.parent_id))
        from note n where n.entity = event.parent_entity and n.external_id = event.parent_id), 0)
      where entity in (select name from kind where is_note);
    drop table family; drop table note; drop table link;
  `);
}
