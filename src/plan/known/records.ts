/** What the checkpoint knows of records: rows of `checkpoint.record`, and the core's `Known`. */
import { isAsWanted, NOTHING_KNOWN, UNKNOWN, type Known, type Request } from '../../core/known.ts';
import type { Wanted } from '../../core/next.ts';
import type { Entity, EventType } from '../../model.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';

export interface RecordKey {
  readonly entity: Entity;
  readonly external_id: string;
}

interface KnownRecord {
  readonly known: Known;
  /** An event about it was acknowledged. */
  readonly isAcknowledged: boolean;
  /** The hash of the wanted values when its event was last rejected. */
  readonly rejected: string | undefined;
}

interface RecordRow extends RecordKey {
  readonly existence: Known['exists'];
  readonly whose: Known['whose'];
  readonly is_acknowledged: number;
  readonly service_id: string | null;
  readonly fields: string;
  readonly creation: string | null;
  readonly open: string | null;
  readonly others: string | null;
  readonly missing: string | null;
  readonly rejected: string | null;
  readonly field_key: string;
}

const UNKNOWN_RECORD: KnownRecord = { known: NOTHING_KNOWN, isAcknowledged: false, rejected: undefined };

/** Hashes with another key (after `purge`) cannot be compared: their fields may have any value. */
export function readRecord(db: Database, hasher: FieldHasher, { entity, external_id: id }: RecordKey): KnownRecord {
  const row = db.get<RecordRow>('select * from checkpoint.record where entity = ? and external_id = ?', entity, id);
  if (!row) return UNKNOWN_RECORD;
  const isReadable = row.field_key === hasher.keyId;
  const fields = JSON.parse(row.fields) as Known['fields'];
  const known: Known = {
    exists: row.existence,
    whose: isReadable || Object.keys(fields).length === 0 ? row.whose : 'ours',
    fields: isReadable ? fields : unreadable(fields),
    create: parse<NonNullable<Known['create']>>(row.creation, isReadable),
    open: parse<Request>(row.open, isReadable),
    others: parse<Known['fields']>(row.others, isReadable),
    serviceId: row.service_id ?? undefined,
    missing: row.missing ?? undefined,
  };
  return { known, isAcknowledged: row.is_acknowledged === 1, rejected: row.rejected ?? undefined };
}

function parse<T>(text: string | null, isReadable: boolean): T | undefined {
  if (text === null || !isReadable) return undefined;
  return JSON.parse(text) as T;
}

function unreadable(fields: Known['fields']): Known['fields'] {
  return Object.fromEntries(Object.keys(fields).map((field) => [field, [UNKNOWN]]));
}

/** How an event about the record ended; absent while it is being sent. */
export interface Ended {
  readonly isAcknowledged: boolean;
  /** Of a rejection, or why it was skipped. */
  readonly code: string | undefined;
}

/** Stores the knowledge of a record. `type`: of its event. In a transaction of the caller. */
export function writeRecord(
  db: Database,
  hasher: FieldHasher,
  key: RecordKey,
  known: Known,
  wanted: Pick<Wanted, 'content' | 'fields'> & { readonly type: EventType },
  ended?: Ended,
): void {
  const json = (value: object | undefined): string | null => (value === undefined ? null : JSON.stringify(value));
  const isSkipped = ended?.isAcknowledged === true && ended.code !== undefined;
  const { exists, whose, serviceId, fields, create, open, others, missing } = known;
  db.run(
    UPSERT,
    ...[key.entity, key.external_id, wanted.type, exists, whose],
    Number(ended?.isAcknowledged === true && ended.code !== 'not_found'),
    ...[serviceId ?? null, JSON.stringify(fields), json(create), json(open), json(others), missing ?? null],
    isSkipped || isAsWanted(known, wanted.fields) ? wanted.content : null,
    ended?.isAcknowledged === false ? wanted.content : null,
    ...[ended?.code ?? null, hasher.keyId],
  );
}

const UPSERT = `
  insert into checkpoint.record (entity, external_id, type, existence, whose, is_acknowledged, service_id, fields, creation,
    open, others, missing, content, rejected, code, field_key)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (entity, external_id) do update set type = excluded.type, existence = excluded.existence,
    whose = excluded.whose, is_acknowledged = max(is_acknowledged, excluded.is_acknowledged), service_id = excluded.service_id,
    fields = excluded.fields, creation = excluded.creation, open = excluded.open, others = excluded.others,
    missing = excluded.missing, content = excluded.content, rejected = excluded.rejected, code = excluded.code,
    field_key = excluded.field_key`;

/** Stores what was read back, and nothing else. In a transaction of the caller. */
export function storeKnown(
  db: Database,
  hasher: FieldHasher,
  { entity, external_id: id }: RecordKey,
  known: Known,
  wanted: Pick<Wanted, 'content' | 'fields'>,
): void {
  const content = isAsWanted(known, wanted.fields) ? wanted.content : null;
  db.run(
    'update checkpoint.record set fields = ?, whose = ?, content = ?, field_key = ? where entity = ? and external_id = ?',
    ...[JSON.stringify(known.fields), known.whose, content, hasher.keyId, entity, id],
  );
}

/** Whether earlier runs have sent anything. */
export function hasRecords(db: Database): boolean {
  return db.get('select 1 from checkpoint.record limit 1') !== undefined;
}

/**
 * Ids of the service that several records of ours have: it has one record for them. The index of ids alone tells which are there twice,
 * without reading every record.
 */
export function countSharedIds(db: Database): number {
  return db.get<{ count: number }>(`
    select count(*) as count from (
      select 1 from checkpoint.record
      where whose = 'ours' and is_acknowledged = 1 and service_id in (
        select service_id from checkpoint.record where service_id is not null group by service_id having count(*) > 1)
      group by service_id, entity having count(*) > 1)`)!.count;
}
