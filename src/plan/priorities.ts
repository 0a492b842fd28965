import type { Database } from '../store/sqlite.ts';

/**
 * The priority of every event. It belongs to the record: all events about one record have the same, so that they keep
 * their order.
 *
 * - A record has the highest priority that its events set, or else that of its parent, or else 0.
 * - A parent has at least the priority of what hangs on it.
 * - The comments of one parent have the highest priority that they set; where one sets none, that of the parent.
 *
 * Duplicates and invalid events do not count; events that were acknowledged, or that this run does not send, do: the
 * priority of a record is the same in every run.
 */
export function liftPriorities(db: Database): void {
  if (!db.get('select 1 from event where own_priority is not null limit 1')) return;
  db.exec(`
    create temp table family (
      entity text not null, external_id text not null, parent text, own integer, below integer,
      primary key (entity, external_id)) strict, without rowid;
    insert into family
      select entity, external_id, null, max(own_priority), null from event
      where entity <> 'comment' and external_id is not null and state not in ('invalid', 'duplicate')
      group by entity, external_id;
    create temp table comments as
      select parent_entity as entity, parent_id as external_id,
        case when count(own_priority) = count(*) then max(own_priority) end as priority, max(own_priority) as highest
      from event where entity = 'comment' and parent_id is not null and state not in ('invalid', 'duplicate')
      group by parent_entity, parent_id;
    create unique index temp.comments_of on comments (entity, external_id);

    -- Up: comments to their parents, then deals to their leads.
    update family set below = (
      select c.highest from comments c where c.entity = family.entity and c.external_id = family.external_id);
    create temp table deals as
      select distinct external_id, parent_id from event
      where entity = 'deal' and parent_id is not null and state not in ('invalid', 'duplicate');
    create index temp.deals_by_lead on deals (parent_id);
    create index temp.deals_by_id on deals (external_id);
    update family set below = nullif(max(ifnull(below, -3000000000), ifnull((
        select max(max(ifnull(f.own, -3000000000), ifnull(f.below, -3000000000)))
        from deals d join family f on f.entity = 'deal' and f.external_id = d.external_id
        where d.parent_id = family.external_id), -3000000000)), -3000000000)
      where entity = 'lead' and exists (select 1 from deals d where d.parent_id = family.external_id);

    -- Down: to deals that set none. An update may name another lead than the one from which the deal takes it, so up again.
    update family set own = (
        select max(ifnull(l.own, 0), ifnull(l.below, -3000000000)) from deals d join family l on l.entity = 'lead' and l.external_id = d.parent_id
        where d.external_id = family.external_id limit 1)
      where entity = 'deal' and own is null;
    update family set below = max(ifnull(below, -3000000000), ifnull((
        select max(max(ifnull(f.own, 0), ifnull(f.below, -3000000000)))
        from deals d join family f on f.entity = 'deal' and f.external_id = d.external_id
        where d.parent_id = family.external_id), -3000000000))
      where entity = 'lead' and exists (select 1 from deals d where d.parent_id = family.external_id);

    update event set priority = ifnull((
        select max(ifnull(f.own, 0), ifnull(f.below, -3000000000)) from family f
        where f.entity = event.entity and f.external_id = event.external_id), 0)
      where entity <> 'comment';
    update event set priority = ifnull((
        select ifnull(c.priority, (
          select max(ifnull(f.own, 0), ifnull(f.below, -3000000000)) from family f
          where f.entity = event.parent_entity and f.external_id = event.parent_id))
        from comments c where c.entity = event.parent_entity and c.external_id = event.parent_id), 0)
      where entity = 'comment';
    drop table family; drop table comments; drop table deals;
  `);
}
