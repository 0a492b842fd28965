import type { Database } from '../../store/sqlite.ts';

/** An event that counts. After its rows were folded, a record has one. */
const counts = (event: 'e' | 'p'): string => `${event}.state not in ('invalid', 'duplicate')`;
const IS_NOTE = 'e.entity in (select name from kind where is_note)';

/** Of an event `e` with what is lifted to it, `l`. `inherited`: where it sets none. */
const priority = (inherited: string): string =>
  `max(ifnull(e.own_priority, ${inherited}), coalesce(l.priority, e.own_priority, ${inherited}))`;

/**
 * The priority of every event.
 *
 * - A record has the priority that its event sets, or else that of its parent, or else 0.
 * - A parent has at least the priority of its children, direct or not.
 * - The notes about one parent have the highest priority that they set; where one sets none, that of the parent.
 *
 * Duplicates and invalid events do not count, nor notes that can no longer be mapped; events that were acknowledged, or that this run does not send, do: the
 * priority of a record is the same in every run.
 */
export function liftPriorities(db: Database): void {
  db.exec(`
    -- The highest priority that is set by what hangs on a record: from every event that sets one, up to all its ancestors.
    create temp table lifted as
      with recursive lift (entity, external_id, priority) as (
        select e.parent_entity, e.parent_id, e.own_priority from event e
        where e.own_priority is not null and e.parent_id is not null and ${counts('e')}
        union
        select e.parent_entity, e.parent_id, l.priority
        from lift l join event e on e.entity = l.entity and e.external_id = l.external_id
        where e.parent_id is not null and ${counts('e')})
      select entity, external_id, max(priority) as priority from lift group by entity, external_id;
    create unique index temp.lifted_to on lifted (entity, external_id);

    -- From the records whose parent is not in the input down to what hangs on them.
    with recursive ranked (id, entity, external_id, priority) as (
      select e.id, e.entity, e.external_id, ${priority('0')}
      from event e left join lifted l on l.entity = e.entity and l.external_id = e.external_id
      where not ${IS_NOTE} and ${counts('e')} and not exists (
        select 1 from event p where p.entity = e.parent_entity and p.external_id = e.parent_id
          and ${counts('p')})
      union all
      select e.id, e.entity, e.external_id, ${priority('r.priority')}
      from ranked r join event e on e.parent_entity = r.entity and e.parent_id = r.external_id
        left join lifted l on l.entity = e.entity and l.external_id = e.external_id
      where not ${IS_NOTE} and ${counts('e')})
    update event set priority = ranked.priority from ranked where ranked.id = event.id;

    create temp table noted as
      select e.parent_entity as entity, e.parent_id as external_id, max(e.own_priority) as priority
      from event e where ${IS_NOTE} and ${counts('e')} and e.data is not null group by 1, 2 having count(e.own_priority) = count(*);
    create unique index temp.noted_on on noted (entity, external_id);
    update event as e set priority = coalesce(
        (select n.priority from noted n where n.entity = e.parent_entity and n.external_id = e.parent_id),
        (select p.priority from event p where p.entity = e.parent_entity and p.external_id = e.parent_id
          and ${counts('p')}), 0)
      where ${IS_NOTE} and e.data is not null;
    drop table lifted; drop table noted;
  `);
}
