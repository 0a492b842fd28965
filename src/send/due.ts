import { randomUUID } from 'node:crypto';
import { parseJson, type JsonObject, type JsonValue } from '../json.ts';
import type { Policies } from '../mapping/policies.ts';
import { entityOf, isUpdate, type EventType, type Planned } from '../model.ts';
import { dropFields, supersede } from '../plan/changed.ts';
import { dataWith, dataWithout, updatedTypeOf } from '../plan/changes.ts';
import { plannedOf, readEvent, setState } from '../plan/events.ts';
import type { DueEvent } from '../plan/order.ts';
import { blockedIssue, dependenceOf, type BlockedCode } from '../plan/parents.ts';
import { addProblem } from '../plan/problems.ts';
import { parentOf } from '../survey/prepare.ts';
import { fieldsOf } from '../store/field-hashes.ts';
import type { Database } from '../store/sqlite.ts';
import type { Delivery, EarlierRequest } from './delivery.ts';

/**
 * What an event sends now that everything it depends on has ended. Undefined if it must not be sent: the plan then says why.
 * To be called in a transaction.
 */
export function dueNow(db: Database, due: DueEvent, policies: Policies): Planned | undefined {
  const { own, parent } = dependenceOf(db, due.id);
  const lacksParent = parent === 'missing' && policies.if_parent_missing !== 'send';
  if (own === 'failed' || parent === 'failed' || lacksParent) {
    const code: BlockedCode =
      own === 'failed' ? 'own_created_failed' : lacksParent ? 'parent_missing' : 'parent_failed';
    setState(db, due.id, 'blocked', code);
    addProblem(db, { event: due.id, record: due.record_id }, blockedIssue(db, due, code));
    return undefined;
  }
  if (own === 'held' || own === 'expected' || parent === 'held' || parent === 'expected') {
    setState(db, due.id, 'held');
    return undefined;
  }
  return due.is_delicate === 1 ? leftOf(db, due) : plannedOf(due);
}

/** An update goes out without the fields that later ones have set, and not while it is unknown whether one has arrived. */
function leftOf(db: Database, due: DueEvent): Planned | undefined {
  const event = plannedOf(due);
  if (!isUpdate(event.type)) return event;
  const later = db.all<{ state: string; data: string; is_unknown: number }>(
    `select e.state, e.data, exists (select 1 from checkpoint.request r where r.for_id = e.event_id
       and r.status <> 'acknowledged' and r.had_no_effect = 0) as is_unknown
     from event e where e.entity = ? and e.external_id = ? and e.type = ? and e.is_change = 0 and e.id > ?
       and e.data is not null and e.state not in ('invalid', 'duplicate')`,
    entityOf(event.type),
    event.externalId!,
    event.type,
    event.id,
  );
  const set = setBy(later.filter(({ state }) => state === 'acknowledged'));
  if (set.size > 0) {
    const fields = [...fieldsOf(event.data)];
    const left = dataWith(
      event.externalId!,
      fields.filter(([name]) => !set.has(name)),
    );
    if (left === undefined) {
      supersede(db, event);
      return undefined;
    }
    if (fields.some(([name]) => set.has(name))) dropFields(db, event, left, set);
  }
  if (later.some(({ state, is_unknown: isUnknown }) => state !== 'acknowledged' && isUnknown === 1)) {
    setState(db, event.id, 'held', 'later_update_open');
    return undefined;
  }
  return readEvent(db, event.id);
}

/** The delivery of an event: what it sends, and what policies may send in its place. */
export function deliveryOf(db: Database, event: Planned, policies: Policies, place: number): Delivery {
  const second = secondOf(db, event, policies);
  return {
    event,
    policies,
    earlierRequests: earlierRequests(db, event),
    place,
    ...(second && { second }),
  };
}

function secondOf(db: Database, event: Planned, policies: Policies): Delivery['second'] {
  const type = secondType(event, policies);
  if (type === undefined) return undefined;
  const ready = isUpdate(type) ? asUpdate(db, event) : { ...event, type };
  const open = db.get<{ id: string; fields: string }>(
    `select id, fields from checkpoint.request
     where for_id = ? and origin = 'second' and content = ? and status <> 'acknowledged' and had_no_effect = 0
       and n = (select max(n) from checkpoint.request where entity = ? and external_id = ? and had_no_effect = 0)`,
    event.eventId,
    event.sha,
    entityOf(event.type),
    event.externalId!,
  );
  // An id stands for what it went out with: the service would ignore further fields.
  const isSame =
    open !== undefined &&
    [...fieldsOf(ready.data)].every(([name]) => Object.hasOwn(JSON.parse(open.fields) as object, name));
  return { type, id: isSame ? open.id : randomUUID(), ready };
}

/** What `if_exists: update` sends for a created event: it comes before all updates, also those acknowledged already. */
function asUpdate(db: Database, event: Planned): Planned {
  const type = updatedTypeOf(event.type);
  const updates = db.all<{ data: string }>(
    `select data from event where entity = ? and external_id = ? and type = ? and state = 'acknowledged' and data is not null`,
    entityOf(event.type),
    event.externalId!,
    type,
  );
  const set = setBy(updates);
  if (set.size === 0) return { ...event, type };
  const left = [...fieldsOf(event.data)].filter(([name]) => !set.has(name));
  return withData({ ...event, type }, dataWith(event.externalId!, left) ?? dataWithout(event.externalId!));
}

function withData(event: Planned, content: string): Planned {
  const data = parseJson(content) as JsonObject;
  const { parent: _parent, ...rest } = event;
  const parent = parentOf(event, data);
  return { ...rest, ...(parent && { parent }), data, content };
}

function setBy(events: readonly { readonly data: string }[]): ReadonlySet<string> {
  return new Set(
    events.flatMap(({ data }) => Array.from(fieldsOf(JSON.parse(data) as Record<string, JsonValue>), ([name]) => name)),
  );
}

function secondType({ type }: Planned, policies: Policies): EventType | undefined {
  const entity = entityOf(type);
  if (entity === 'comment') return undefined;
  if (isUpdate(type)) return policies.if_missing === 'create' ? `${entity}/created` : undefined;
  return policies.if_exists === 'update' ? `${entity}/updated` : undefined;
}

/** Requests of earlier runs to create the record, without a definite answer. */
function earlierRequests(db: Database, { type, externalId, eventId }: Planned): readonly EarlierRequest[] {
  if (isUpdate(type)) return [];
  return db.all<EarlierRequest>(
    `select id, content as sha from checkpoint.request
     where (for_id = ? or (entity = ? and external_id = ?)) and type = ? and origin in ('input', 'second')
       and status <> 'acknowledged' and had_no_effect = 0 order by n`,
    eventId,
    entityOf(type),
    externalId ?? null,
    type,
  );
}
