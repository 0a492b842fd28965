/** What the service should show of a record, and what was sent of it. */
import type { LastWrite } from '../compare/edited.ts';
import { COMPARED, textOf, type Checked } from '../compare/fields.ts';
import { parseJson, type JsonObject } from '../json.ts';
import type { Account } from '../service/account.ts';
import { FieldHasher, type FieldHashes } from '../store/field-hashes.ts';
import type { Database } from '../store/sqlite.ts';

/** What the service should show for a field, and the value of the event that determines it. */
export interface Expected {
  readonly value: string;
  readonly sent: string;
}

/** In the order of `COMPARED`; undefined where the mapping sends no value. */
export type ExpectedFields = readonly (Expected | undefined)[];

/** Pipeline ids by stage id, the latter in lower case. */
export function stagePipelinesOf({ pipelines }: Account): ReadonlyMap<string, string> {
  return new Map(
    pipelines.flatMap(({ id, stages }) => stages.map((stage): [string, string] => [stage.id.toLowerCase(), id])),
  );
}

/**
 * According to the plan: the data of the created event, and over it the updates in their order. What `if_changed` makes is
 * part of them. Undefined if the input has no valid event of the record.
 */
export function expectedOf(
  db: Database,
  entity: Checked,
  externalId: string,
  stagePipelines: ReadonlyMap<string, string>,
): ExpectedFields | undefined {
  const events = db.all<{ data: string }>(
    `select data from event
      where entity = ? and external_id = ? and data is not null and state <> 'invalid'
        and (state <> 'duplicate' or type like '%/updated')
      order by type like '%/updated', id`,
    entity,
    externalId,
  );
  if (events.length === 0) return undefined;
  const wanted = events.reduce<JsonObject>((below, { data }) => ({ ...below, ...(parseJson(data) as JsonObject) }), {});
  return COMPARED[entity].map(({ name, sent }) => {
    const text = textOf(wanted[sent]);
    const value = name === 'pipeline' && text !== undefined ? stagePipelines.get(text.toLowerCase()) : text;
    return value === undefined || text === undefined ? undefined : { value, sent: text };
  });
}

/** A record that we wrote. */
export interface WrittenRecord extends LastWrite {
  /** Empty if no answer had it. */
  readonly serviceId: string;
  /** What was last sent of each field, unless the service refused it. */
  readonly sent: FieldHashes;
  /** What the service may show of each field if nobody edited it: acknowledged last, or sent since without an answer. */
  readonly ours: Readonly<Record<string, readonly string[]>>;
}

interface RequestFields {
  readonly status: 'open' | 'acknowledged' | 'rejected';
  readonly outcome: string | null;
  readonly service_id: string | null;
  readonly settled_at: string | null;
  readonly fields: string;
  readonly field_key: string;
}

/** What the checkpoint knows of a record. Hashes with another key than that of `hasher` say nothing. */
export function writtenOf(db: Database, hasher: FieldHasher, entity: Checked, externalId: string): WrittenRecord {
  const requests = db.all<RequestFields>(
    `select q.status, q.outcome, q.service_id, q.settled_at, q.fields, r.field_key
      from checkpoint.request q join checkpoint.run r on r.id = q.run
      where q.entity = ? and q.external_id = ? and q.origin <> 'read'
        and not (q.status <> 'acknowledged' and q.had_no_effect = 1)
      order by q.n`,
    entity,
    externalId,
  );
  const sent: Record<string, string> = {};
  const ours: Record<string, string[]> = {};
  for (const { status, fields, field_key: key } of requests) {
    if (key !== hasher.keyId) continue;
    for (const [name, hash] of Object.entries(JSON.parse(fields) as FieldHashes)) {
      sent[name] = hash;
      ours[name] = status === 'acknowledged' ? [hash] : [...(ours[name] ?? []), hash];
    }
  }
  const acknowledged = requests.filter(({ status }) => status === 'acknowledged');
  return {
    serviceId: acknowledged.findLast(({ service_id: id }) => id)?.service_id ?? '',
    at: Date.parse(acknowledged.at(-1)?.settled_at ?? ''),
    onlyCreated: requests.length === 1 && acknowledged[0]?.outcome === 'created',
    sent,
    ours,
  };
}

/** The service id of a lead of this migration. */
export function leadIdOf(db: Database, externalId: string): string | undefined {
  return db.get<{ id: string }>(
    `select service_id as id from checkpoint.request
      where entity = 'lead' and external_id = ? and status = 'acknowledged' and service_id <> '' order by n desc limit 1`,
    externalId,
  )?.id;
}

/** With the key of the checkpoint; without one, no hash in it says anything. */
export function hasherOf(db: Database): FieldHasher {
  const key = db.get<{ value: string }>(`select value from checkpoint.setting where name = 'field_key'`)?.value;
  return key === undefined ? FieldHasher.random() : new FieldHasher(key);
}
