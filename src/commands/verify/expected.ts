/** Which records are read back, what the service should show of them, and what was sent of them. */
import { shortSha } from '../../core/identity.ts';
import { textOf } from '../../plan/account/fields.ts';
import { comparedFields, kindOf } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import { parseJson, type JsonObject, type JsonValue } from '../../json.ts';
import type { Account } from '../../service/account.ts';
import type { Known } from '../../core/known.ts';
import { readRecord } from '../../plan/known/records.ts';
import { WHOLE } from '../../plan/known/wanted.ts';
import { FieldHasher } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';

/** How many records of each type are read back. */
export type SampleSize = number | 'all';

/** The acknowledged records of one entity, according to the checkpoint. */
interface Population {
  readonly acknowledged: number;
  /** Records whose service id is unknown, so that they cannot be read back. */
  readonly withoutId: number;
  /** The sample: always the same for the same checkpoint, and spread over all records. */
  readonly chosen: readonly SentRecord[];
}

interface SentRecord {
  readonly externalId: string;
  readonly serviceId: string;
}

export function populationOf(db: Database, entity: Entity, sample: SampleSize): Population {
  const { number: acknowledged } = db.get<{ number: number }>(
    'select count(*) as number from checkpoint.record where entity = ? and is_acknowledged = 1',
    entity,
  )!;
  const known = db.all<SentRecord>(
    `select external_id as externalId, service_id as serviceId from checkpoint.record
      where entity = ? and is_acknowledged = 1 and service_id is not null`,
    entity,
  );
  const inOrder = known
    .map((record) => ({ ...record, order: orderOf(record.externalId) }))
    .sort((a, b) => a.order - b.order);
  const chosen = sample === 'all' ? inOrder : inOrder.slice(0, sample);
  return { acknowledged, withoutId: acknowledged - known.length, chosen };
}

/** A fixed order that is independent of the order in the export, so that a sample is spread over it. */
function orderOf(externalId: string): number {
  return Number.parseInt(shortSha(`sample:${externalId}`).slice(0, 8), 16);
}

/** What the service should show for a field, and the value of the event that determines it. */
export interface Expected {
  readonly value: string;
  /** The value of the event, as it is sent. */
  readonly wanted: JsonValue;
  /** What was sent is known by the hash of this value, under the name of this field. */
  readonly known: readonly [field: string, value: JsonValue];
}

/** In the order of `comparedFields`; undefined where the mapping sends no value. */
export type ExpectedFields = readonly (Expected | undefined)[];

/** Pipeline ids by stage id, the latter in lower case. */
export function stagePipelinesOf({ pipelines }: Account): ReadonlyMap<string, string> {
  return new Map(
    pipelines.flatMap(({ id, stages }) => stages.map((stage): [string, string] => [stage.id.toLowerCase(), id])),
  );
}

/** According to the plan: what the input wants of the record. Undefined if the input has no valid event of it. */
export function expectedOf(
  db: Database,
  entity: Entity,
  externalId: string,
  stagePipelines: ReadonlyMap<string, string>,
): ExpectedFields | undefined {
  const event = db.get<{ data: string }>(
    `select data from event
      where entity = ? and external_id = ? and data is not null and state not in ('invalid', 'duplicate')`,
    entity,
    externalId,
  );
  if (!event) return undefined;
  const wanted = parseJson(event.data) as JsonObject;
  const { isUpdatable } = kindOf(entity);
  return comparedFields(entity).map(({ name, sent }) => {
    const text = textOf(wanted[sent]);
    const value = name === 'pipeline' && text !== undefined ? stagePipelines.get(text.toLowerCase()) : text;
    if (value === undefined || text === undefined) return undefined;
    return { value, wanted: wanted[sent]!, known: isUpdatable ? [sent, wanted[sent]!] : [WHOLE, event.data] };
  });
}

/** A record that we wrote. */
export interface WrittenRecord {
  /** When its last write was settled, in milliseconds since 1970. */
  readonly at: number;
  /** It was written only once, by its created event: the service's createdAt is the time of our write. */
  readonly onlyCreated: boolean;
  /** Empty if no answer had it. */
  readonly serviceId: string;
  readonly known: Known;
}

/** What the checkpoint knows of a record. */
export function writtenOf(db: Database, hasher: FieldHasher, entity: Entity, externalId: string): WrittenRecord {
  const { known } = readRecord(db, hasher, { entity, external_id: externalId });
  const { count, last, outcome } = db.get<{ count: number; last: string | null; outcome: string | null }>(
    `select count(*) as count, max(settled_at) as last, max(outcome) as outcome from checkpoint.request
      where entity = ? and external_id = ? and status <> 'rejected'`,
    entity,
    externalId,
  )!;
  return {
    serviceId: known.serviceId ?? '',
    at: Date.parse(last ?? ''),
    onlyCreated: count === 1 && outcome === 'created',
    known,
  };
}

/** The service id of a record of this migration. */
export function serviceIdOf(db: Database, entity: Entity, externalId: string): string | undefined {
  return db.get<{ id: string }>(
    `select service_id as id from checkpoint.record where entity = ? and external_id = ? and service_id is not null`,
    entity,
    externalId,
  )?.id;
}

/** With the key of the checkpoint; without one, no hash in it says anything. */
export function hasherOf(db: Database): FieldHasher {
  const key = db.get<{ value: string }>(`select value from checkpoint.setting where name = 'field_key'`)?.value;
  return key === undefined ? FieldHasher.random() : new FieldHasher(key);
}
