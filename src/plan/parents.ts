import type { EntryHead } from '../mapping/mapping.ts';
import { isUpdate, type Issue } from '../model.ts';
import type { Database } from '../store/sqlite.ts';
import { EVENT_ROWS, pagesOf, type EventRow } from './events.ts';
import { addProblem } from './problems.ts';

/** The status of the record that an event depends on. `expected`: it has yet to be sent. */
export type ParentStatus = 'exists' | 'expected' | 'held' | 'missing' | 'failed';

/**
 * The status of the record that is bound to two names: what an earlier run acknowledged about it, or else what becomes of its
 * events in the input, the created one first. An update that was skipped for want of a record has not made it.
 */
const standing = (entity: string, id: string): string => `
  case when exists (
    select 1 from checkpoint.request q where q.entity = ${entity} and q.external_id = ${id}
      and q.status = 'acknowledged' and q.code is not 'not_found') then 'exists'
  else coalesce((
    select case c.state when 'acknowledged' then iif(exists (
          select 1 from checkpoint.request s where s.for_id = c.event_id and s.code = 'not_found'), 'missing', 'exists')
      when 'ready' then 'expected' when 'retry' then 'expected' when 'held' then 'held' when 'waiting' then 'held'
      else 'failed' end
    from event c where c.entity = ${entity} and c.external_id = ${id} and c.state <> 'duplicate' and c.is_change = 0
    order by c.type, c.state = 'invalid', c.id limit 1), 'missing') end`;

/** The created event of an update's own record; null if the input has none and no earlier run made it. */
const OWN = `
  case when e.is_change = 1 or e.type not in ('lead/updated', 'deal/updated') then null
  when exists (
    select 1 from checkpoint.request q where q.entity = e.entity and q.external_id = e.external_id
      and q.for_type = e.entity || '/created' and q.status = 'acknowledged') then null
  else (
    select case c.state when 'acknowledged' then null when 'ready' then 'expected' when 'retry' then 'expected'
      when 'held' then 'held' when 'waiting' then 'held' else 'failed' end
    from event c where c.entity = e.entity and c.external_id = e.external_id and c.type = e.entity || '/created'
      and c.state <> 'duplicate'
    order by c.state = 'invalid', c.id limit 1) end`;

const PARENT = `case when e.parent_id is null then null else ${standing('e.parent_entity', 'e.parent_id')} end`;

const STATUS_OF_ONE = `select ${OWN} as own, ${PARENT} as parent from event e where e.id = ?`;

export interface Dependence {
  /** Of the created event of its own record. */
  readonly own: ParentStatus | null;
  readonly parent: ParentStatus | null;
}

/** What an event depends on, as it stands now. */
export function dependenceOf(db: Database, id: number): Dependence {
  return db.get<Dependence>(STATUS_OF_ONE, id)!;
}

/**
 * Blocks what depends on a record that failed or that nobody has, and lets wait what depends on one that this run leaves out.
 * Leads come before deals before comments: a child depends on what became of its parent.
 */
export function judgeParents(db: Database, entries: readonly EntryHead[]): void {
  const sendsWithout = entries
    .filter(({ policies }) => policies.if_parent_missing === 'send')
    .map(({ index }) => index);
  for (const type of ['lead/updated', 'deal/created', 'deal/updated', 'comment/created'] as const) {
    if (!entries.some((entry) => entry.type === type) && !isUpdate(type)) continue;
    db.run(
      `update event set (state, code) = (
         select case when own = 'failed' or parent = 'failed' then 'blocked'
             when parent = 'missing' and not isSent then 'blocked'
             when own = 'held' or parent = 'held' then 'waiting' else event.state end,
           case when own = 'failed' then 'own_created_failed' when parent = 'failed' then 'parent_failed'
             when parent = 'missing' and not isSent then 'parent_missing' end
         from (select ${OWN} as own, ${PARENT} as parent, e.entry in (select value from json_each(?)) as isSent
           from event e where e.id = event.id))
       where type = ? and state in ('ready', 'retry') and (parent_id is not null or type in ('lead/updated', 'deal/updated'))`,
      JSON.stringify(sendsWithout),
      type,
    );
  }
}

/** Reports every blocked event, and names the record that it depends on. */
export function reportBlocked(db: Database): void {
  const rows = `${EVENT_ROWS} where e.state = 'blocked' and e.id > ? order by e.id limit 500`;
  for (const page of pagesOf<EventRow & { readonly code: BlockedCode }>(db, rows)) {
    for (const event of page) {
      addProblem(db, { event: event.id, record: event.record_id }, blockedIssue(db, event, event.code));
    }
  }
}

export type BlockedCode = 'own_created_failed' | 'parent_failed' | 'parent_missing' | 'later_update_invalid';

/** Why an event cannot be sent, and the record that it depends on. */
export function blockedIssue(db: Database, event: EventRow, code: BlockedCode): Issue {
  const { entity, external_id: externalId, type } = event;
  const isOwn = code === 'own_created_failed' || code === 'later_update_invalid' || event.parent_id === null;
  const [needed, id] = isOwn ? [entity, externalId] : [event.parent_entity!, event.parent_id];
  const name = `${needed} \`${id ?? ''}\``;
  const common = {
    severity: 'error',
    kind: 'blocked',
    code,
    field: isOwn && isUpdate(type) ? 'external_id' : `${needed}_external_id`,
  } as const;
  switch (code) {
    case 'later_update_invalid':
      return {
        ...common,
        message:
          `a later update of the ${name} was sent earlier, but can no longer be mapped: ` +
          'this one could overwrite its fields',
      };
    case 'parent_missing':
      return wasSkipped(db, event)
        ? {
            ...common,
            message: `${name} does not exist in the service: its update was skipped`,
            hint: 'set `if_missing: create` on the entry that updates it, or `if_parent_missing` on this one',
          }
        : {
            ...common,
            message: `${name} is not in the input, or no entry takes it, and it was not acknowledged earlier`,
          };
    case 'own_created_failed':
    case 'parent_failed':
      return {
        ...common,
        message: `${name} was not accepted, so this event cannot be sent`,
      };
  }
}

/** Whether the parent that nobody has is in the input: then `if_missing: skip` ended its update without it. */
function wasSkipped(db: Database, { parent_entity: entity, parent_id: id }: EventRow): boolean {
  const parent = `select 1 from event where entity = ? and external_id = ? and state = 'acknowledged' limit 1`;
  return db.get(parent, entity, id) !== undefined;
}
