import { randomUUID } from 'node:crypto';
import { parseJson, type JsonObject, type JsonValue } from '../json.ts';
import type { Policies } from '../mapping/policies.ts';
import { isUpdate, type EventType } from '../model.ts';
import { fieldsOf, type FieldHasher } from '../store/field-hashes.ts';
import type { Database } from '../store/sqlite.ts';
import { dataWith, isListed, updatedTypeOf } from './changes.ts';
import { readEvent, setState } from './events.ts';
import { compareRecord, type Comparison, type Difference, type KnownRequest, type WantedEvent } from './knowledge.ts';
import { addOmissions, addProblem } from './problems.ts';
import { originalText } from '../mapping/result.ts';

export interface RecordKey {
  readonly entity: 'lead' | 'deal';
  readonly external_id: string;
}

/** An event of the record as it is judged. */
interface Judged extends WantedEvent {
  readonly type: EventType;
  readonly record: number;
  readonly entry: number;
  readonly content: string;
  readonly data: JsonObject;
}

/** A record that earlier runs sent something about. */
export interface KnownRecord extends RecordKey {
  readonly requests: readonly StoredRequest[];
  readonly events: readonly Judged[];
  readonly comparison: Comparison;
}

interface StoredRequest extends KnownRequest {
  readonly forId: string;
  readonly forType: EventType;
  readonly content: string;
}

/** Differences that no update may repair; read back from the service where that is possible. */
export interface Doubt {
  readonly key: RecordKey;
  readonly event: number;
  /** What the input wants of them: the event may go out without these fields. */
  readonly wanted: ReadonlyMap<string, JsonValue>;
}

/**
 * Compares each record about which earlier runs sent something with what the input wants now. Updates that go out lose the
 * fields that later ones have set; what else differs becomes an update of its own (`if_changed`), or is reported. Returns the
 * fields of which nobody knows whether they have the right value, and which no update may set.
 */
export function judgeChanged(db: Database, policies: readonly Policies[], hasher: FieldHasher): readonly Doubt[] {
  findRecords(db);
  const doubts: Doubt[] = [];
  let last: RecordKey = { entity: 'deal', external_id: '' };
  for (;;) {
    const page = db.all<RecordKey>(
      `select entity, external_id from compared where (entity, external_id) > (?, ?)
       order by entity, external_id limit 500`,
      last.entity,
      last.external_id,
    );
    if (page.length === 0) break;
    for (const key of page) doubts.push(...judgeRecord(db, policies, hasher, key));
    last = page.at(-1)!;
  }
  db.exec('drop table compared');
  return doubts;
}

/**
 * The records of the input of which it is not plain that they are as the input wants them: that is so where a single
 * request was acknowledged, or several in the order of the input, each with the content that its event still has.
 */
function findRecords(db: Database): void {
  db.exec(`
    create temp table compared as
      with requests as (
        select entity, external_id, count(*) as count, min(status) as least, max(status) as most, min(n) as first
        from checkpoint.request
        where external_id is not null and entity <> 'comment' and had_no_effect = 0
        group by entity, external_id)
      select q.entity, q.external_id from requests q
      where case
          when q.least <> 'acknowledged' or q.most <> 'acknowledged' then 1
          when q.count = 1 then not exists (
            select 1 from checkpoint.request r join event e on e.entity = r.entity and e.external_id = r.external_id
            where r.n = q.first and r.origin in ('input', 'second') and e.state = 'acknowledged' and e.content = r.content
              and e.type = r.for_type and e.type in ('lead/created', 'deal/created'))
          else (
            select group_concat(for_type || content order by n) from checkpoint.request r
            where r.entity = q.entity and r.external_id = q.external_id and r.had_no_effect = 0
          ) is not (
            select group_concat(type || content order by type, id) from event e
            where e.entity = q.entity and e.external_id = q.external_id and e.state not in ('duplicate'))
        end
        and exists (select 1 from event e where e.entity = q.entity and e.external_id = q.external_id);
    create index temp.compared_key on compared (entity, external_id);
  `);
}

function judgeRecord(
  db: Database,
  policies: readonly Policies[],
  hasher: FieldHasher,
  key: RecordKey,
): readonly Doubt[] {
  const record = readRecord(db, hasher, key);
  const { events, comparison } = record;
  const unmapped = lastUnmapped(db, record);
  if (unmapped !== undefined) {
    blockBefore(db, policies, record, unmapped);
    return [];
  }
  const isDelicate = events.length > 1 && events.some(({ isSettled }) => !isSettled);
  for (const event of events) {
    if (isDelicate && !event.isSettled) markDelicate(db, record, event);
    if (!event.isCreated) leaveOut(db, event, comparison.superseded.get(event.id), comparison.overtaken.get(event.id));
  }
  const repaired: Difference[] = [];
  const doubts: Doubt[] = [];
  for (const event of events) {
    const differences = comparison.differences.filter(({ by }) => by === event.id);
    const policy = policies[event.entry]!.if_changed;
    const left = differences.filter((difference) => !isRepaired(policies, record, difference));
    repaired.push(...differences.filter((difference) => !left.includes(difference)));
    const uncertain = left.filter((difference) => difference.isUncertain);
    if (uncertain.length > 0) doubts.push({ key, event: event.id, wanted: valuesOf(uncertain) });
    if (policy !== 'report') continue;
    if (left.length > uncertain.length || (differences.length === 0 && hasLostValues(record, event))) {
      reportChanged(db, event.id);
    }
  }
  if (repaired.length > 0) addChange(db, record, repaired);
  return doubts;
}

/** Everything that is known of a record, and the events of the input about it. */
export function readRecord(db: Database, hasher: FieldHasher, key: RecordKey): KnownRecord {
  const { entity, external_id: externalId } = key;
  const events = db
    .all<{
      id: number;
      event_id: string;
      type: EventType;
      record: number;
      entry: number;
      content: string;
      data: string;
      state: string;
    }>(
      `select id, event_id, type, record, entry, content, data, state from event
       where entity = ? and external_id = ? and is_change = 0 and data is not null
         and state in ('ready', 'retry', 'acknowledged', 'held', 'waiting', 'blocked', 'rejected')
       order by type, id`,
      entity,
      externalId,
    )
    .map((row): Judged => {
      const data = parseJson(row.data) as JsonObject;
      return {
        ...row,
        data,
        eventId: row.event_id,
        isCreated: !isUpdate(row.type),
        isSettled: row.state === 'acknowledged',
        fields: new Map(fieldsOf(data)),
      };
    });
  const requests = db
    .all<{
      n: number;
      id: string;
      origin: KnownRequest['origin'];
      for_id: string;
      for_type: EventType;
      content: string;
      fields: string;
      status: string;
      field_key: string;
    }>(
      `select r.n, r.id, r.origin, r.for_id, r.for_type, r.content, r.fields, r.status, u.field_key
       from checkpoint.request r join checkpoint.run u on u.id = r.run
       where r.entity = ? and r.external_id = ? and r.had_no_effect = 0 order by r.n`,
      entity,
      externalId,
    )
    .map((row): StoredRequest => {
      const isFor = (event: Judged): boolean =>
        event.content === row.content &&
        event.type === row.for_type &&
        (event.isCreated || event.eventId === row.for_id);
      const same = row.field_key === hasher.keyId ? undefined : events.find(isFor);
      const stored = row.field_key === hasher.keyId ? (JSON.parse(row.fields) as Record<string, string>) : undefined;
      return {
        ...row,
        forId: row.for_id,
        forType: row.for_type,
        isApplied: row.status === 'acknowledged',
        fields: same ? hasher.hashesOf(same.data) : stored,
      };
    });
  const comparison = compareRecord(requests, events, (field, value) => hasher.hashOf(field, value));
  return { ...key, requests, events, comparison };
}

/**
 * Updates that were sent, but whose rows can no longer be mapped, stay acknowledged. Returns the number of the last of them in the
 * plan; undefined if there are none.
 */
function lastUnmapped(
  db: Database,
  { entity, external_id: externalId, requests, events }: KnownRecord,
): number | undefined {
  const sent = requests.filter(
    ({ origin, forId, forType }) =>
      (origin === 'input' || origin === 'second') &&
      isUpdate(forType) &&
      !events.some(({ eventId }) => eventId === forId),
  );
  if (sent.length === 0) return undefined;
  const invalid = db.all<{ id: number }>(
    `select id from event where entity = ? and external_id = ? and type = ? and data is null and state = 'invalid' order by id`,
    entity,
    externalId,
    `${entity}/updated`,
  );
  const applied = sent.filter(({ isApplied }) => isApplied).length;
  for (const { id } of invalid.slice(0, applied)) setState(db, id, 'acknowledged', 'unmapped');
  return invalid.at(-1)?.id;
}

/** What comes before an update that can no longer be mapped waits: it could overwrite its fields. */
function blockBefore(db: Database, policies: readonly Policies[], record: KnownRecord, unmapped: number): void {
  for (const { id, entry, isSettled, isCreated } of record.events) {
    const isBefore = isCreated ? policies[entry]!.if_exists === 'update' : id < unmapped;
    if (isBefore && !isSettled) setState(db, id, 'blocked', 'later_update_invalid');
  }
  const repaired = record.comparison.differences.filter((difference) => isRepaired(policies, record, difference));
  if (repaired.length > 0) setState(db, addChange(db, record, repaired), 'blocked', 'later_update_invalid');
}

/** Whether `if_changed` sends the value that the input wants. */
function isRepaired(policies: readonly Policies[], { events }: KnownRecord, { by, field }: Difference): boolean {
  const policy = policies[events.find(({ id }) => id === by)!.entry]!.if_changed;
  return policy === 'update' || (typeof policy === 'object' && isListed(field, policy));
}

/**
 * What goes out of it is decided again when it is sent. What may have arrived already, itself or the second request for it, goes
 * before the others.
 */
function markDelicate(db: Database, { requests }: KnownRecord, { id, eventId }: Judged): void {
  const mayHaveArrived = requests.some(({ isApplied, forId }) => !isApplied && forId === eventId);
  db.run('update event set is_delicate = 1, goes_first = ? where id = ?', Number(mayHaveArrived), id);
}

/** An event goes out without these fields; without any left it is not sent. */
function leaveOut(
  db: Database,
  event: Judged,
  superseded: ReadonlySet<string> = new Set(),
  overtaken: ReadonlySet<string> = new Set(),
): void {
  if (superseded.size + overtaken.size === 0) return;
  const externalId = event.data.external_id as string;
  const fields = [...event.fields].filter(([field]) => !superseded.has(field) && !overtaken.has(field));
  const left = dataWith(externalId, fields);
  if (left !== undefined) dropFields(db, event, left, superseded);
  else if (overtaken.size > 0) setState(db, event.id, 'acknowledged', 'overtaken');
  else supersede(db, event);
}

/** Puts what is left of an event in its place, and lists what later updates have set. */
export function dropFields(
  db: Database,
  { id, record, data }: Pick<Judged, 'id' | 'record' | 'data'>,
  left: string,
  fields: ReadonlySet<string>,
): void {
  db.run('update event set data = ? where id = ?', left, id);
  const reason = 'a later update of this record, already acknowledged, has set it (`superseded`)';
  const lost = [...fieldsOf(data)].filter(([field]) => fields.has(field));
  const omissions = lost.map(([field, value]) => ({
    field,
    original: originalText(value),
    code: 'superseded',
    reason,
  }));
  addOmissions(db, { event: id, record }, omissions);
}

/** Later updates have set all fields of an event: it counts as a duplicate. */
export function supersede(db: Database, { id, record }: Pick<Judged, 'id' | 'record'>): void {
  const reason = 'later updates of this record, already acknowledged, have set all its fields (`superseded`)';
  setState(db, id, 'duplicate', 'superseded');
  const externalId = db.get<{ external_id: string }>('select external_id from event where id = ?', id)!.external_id;
  const message = `${externalId}: ${reason}`;
  addProblem(db, { event: id, record }, { severity: 'warning', kind: 'map', code: 'superseded', message });
  addOmissions(db, { event: id, record }, [{ field: '(record)', original: externalId, code: 'superseded', reason }]);
}

/** A created event whose content has changed although every field that it still has is right: it has lost values. */
function hasLostValues({ requests }: KnownRecord, { isCreated, isSettled, content }: Judged): boolean {
  if (!isCreated || !isSettled) return false;
  return !requests.some(({ isApplied, content: settled }) => isApplied && settled === content);
}

/** Acknowledged with other content than it has now. */
export function reportChanged(db: Database, id: number): void {
  const { external_id: externalId, record } = db.get<{ external_id: string; record: number }>(
    'select external_id, record from event where id = ?',
    id,
  )!;
  db.run(`update event set code = 'changed' where id = ?`, id);
  const message = `${externalId} has changed since it was acknowledged`;
  addProblem(db, { event: id, record }, { severity: 'warning', kind: 'map', code: 'changed', message });
}

function valuesOf(differences: readonly Difference[]): ReadonlyMap<string, JsonValue> {
  return new Map(differences.map(({ field, value }) => [field, value]));
}

/** Adds the update that `if_changed` makes; returns its number in the plan. */
function addChange(db: Database, { events, comparison }: KnownRecord, differences: readonly Difference[]): number {
  const event = events.find(({ id }) => id === differences[0]!.by)!;
  const wanted = valuesOf(differences);
  const data = dataWith(event.data.external_id as string, wanted)!;
  const { resend } = comparison;
  const isResent =
    resend?.fields !== undefined && differences.every(({ field }) => Object.hasOwn(resend.fields!, field));
  const parent = readEvent(db, event.id).parent;
  const hasParent = parent !== undefined && wanted.has(`${parent.entity}_external_id`);
  return db.insert(
    `insert into event (event_id, type, entity, external_id, record, entry, data, content, parent_entity, parent_id,
       own_priority, state, is_change, goes_first)
     select ?, ?, entity, external_id, record, entry, ?, content, ?, ?, own_priority, 'ready', 1, ? from event where id = ?`,
    isResent ? resend.id : randomUUID(),
    isUpdate(event.type) ? event.type : updatedTypeOf(event.type),
    data,
    hasParent ? parent.entity : null,
    hasParent ? parent.externalId : null,
    Number(isResent),
    event.id,
  );
}
