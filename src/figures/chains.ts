/** Blocked events, by the record at the head of their chain. */
import { EVENT_TYPES, KINDS } from '../kinds/index.ts';
import type { Entity } from '../model.ts';
import type { Database } from '../store/sqlite.ts';

const MOST_CHAINS = 20;

/** A record that was not accepted, and the events that depend on it, directly or indirectly. */
interface BlockedChain {
  readonly entity: Entity;
  readonly externalId: string;
  /** Why it was not accepted; null if it is neither in the input nor acknowledged. */
  readonly code: string | null;
  readonly count: number;
  readonly types: Readonly<Record<string, number>>;
}

export interface Chains {
  /** The longest first. */
  readonly longest: readonly BlockedChain[];
  readonly count: number;
}

/**
 * Counts every blocked event under the record at the head of its chain: the parent that it needs, or that parent's parent.
 * The `+` keep SQLite from looking for a record among all blocked ones.
 */
export function readChains(db: Database): Chains {
  const rows = db.all<Omit<BlockedChain, 'types'> & { readonly types: string; readonly of: number }>(`
    with recursive blocked as materialized (
      select id, type, entity, external_id, parent_entity as on_entity, parent_id as on_id
      from event where state = 'blocked' and type in (${EVENT_TYPES.map((type) => `'${type}'`).join(', ')})),
    step as (
      select type, on_entity as entity, on_id as id, count(*) as count, 1 as steps
      from blocked where on_id is not null group by 1, 2, 3
      union all
      select step.type, parent.on_entity, parent.on_id, step.count, steps + 1
      from step join event on event.entity = step.entity and event.external_id = step.id
          and +event.state = 'blocked'
        join blocked parent on parent.id = event.id
      where steps <= ${KINDS.length}),
    head as (
      select entity, id, type, sum(count) as count from step
      where not exists (
        select 1 from event where event.entity = step.entity and event.external_id = step.id
          and +event.state = 'blocked')
      group by 1, 2, 3)
    select longest.*, (
        select p.code from event e join problem p on p.event = e.id and p.severity = 'error'
        where e.entity = longest.entity and e.external_id = longest.externalId order by p.id limit 1) as code
    from (
      select entity, id as externalId, sum(count) as count, json_group_object(type, count) as types, count(*) over () as "of"
      from head group by entity, id order by 3 desc, 2 limit ${MOST_CHAINS}) longest`);
  return {
    longest: rows.map(({ types, of: _, ...chain }) => ({
      ...chain,
      types: JSON.parse(types) as BlockedChain['types'],
    })),
    count: rows[0]?.of ?? 0,
  };
}
