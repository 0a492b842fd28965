import type { FieldHasher } from '../checkpoint/field-hashes.ts';
import { settledLines } from '../checkpoint/read.ts';
import type { LastWrite } from '../compare/edited.ts';
import { contentSha } from '../identity.ts';
import { entityOf } from '../model.ts';
import type { ExpectedFields } from './expected.ts';
import { COMPARED, type Checked } from '../compare/fields.ts';

/** How many records of each type are read back. */
export type SampleSize = number | 'all';

/** The acknowledged records of one entity, according to the checkpoint. */
export interface Population {
  readonly acknowledged: number;
  /** Records whose service id is unknown, so that they cannot be read back. */
  readonly withoutId: number;
  /** Whether a record is in the sample, which is always the same for the same checkpoint and spread over all records. */
  isChosen(externalId: string): boolean;
}

/** A record that we wrote. */
export interface WrittenRecord extends LastWrite {
  readonly serviceId: string;
  /** One bit per field of `COMPARED`, set if the current value in the input differs from what was sent. */
  readonly changed: number;
}

export async function population(checkpoint: string, entity: Checked, sample: SampleSize): Promise<Population> {
  /** Acknowledged records by external id, and whether their service id is known. */
  const records = new Map<string, boolean>();
  for await (const line of settledLines(checkpoint)) {
    if (line.status !== 'acknowledged' || line.external_id === null || entityOf(line.type) !== entity) continue;
    if (line.entity_id) records.set(line.external_id, true);
    else if (!records.has(line.external_id)) records.set(line.external_id, false);
  }
  const orders: number[] = [];
  for (const [externalId, hasId] of records) if (hasId) orders.push(orderOf(externalId));
  const last = sample === 'all' ? Infinity : (orders.sort((a, b) => a - b)[sample - 1] ?? Infinity);
  return {
    acknowledged: records.size,
    withoutId: records.size - orders.length,
    isChosen: (externalId) => orderOf(externalId) <= last,
  };
}

/** A fixed order that is independent of the order in the export, so that a sample is spread over it. */
function orderOf(externalId: string): number {
  return Number.parseInt(contentSha(`sample:${externalId}`).slice(0, 8), 16);
}

/**
 * What the checkpoint contains about the chosen records, and the service ids of the leads in `parents`. `expected`
 * returns the expected fields of a record, or undefined if the input does not contain it.
 */
export async function writtenRecords(
  checkpoint: string,
  hasher: FieldHasher,
  entity: Checked,
  chosen: (externalId: string) => boolean,
  expected: (externalId: string) => ExpectedFields | undefined,
  parents: ReadonlySet<string>,
): Promise<{ records: ReadonlyMap<string, WrittenRecord>; leadIds: ReadonlyMap<string, string> }> {
  const records = new Map<string, WrittenRecord>();
  const leadIds = new Map<string, string>();
  for await (const line of settledLines(checkpoint, hasher.keyId)) {
    if (line.status !== 'acknowledged' || line.external_id === null) continue;
    const of = entityOf(line.type);
    if (of === 'lead' && line.entity_id && parents.has(line.external_id)) leadIds.set(line.external_id, line.entity_id);
    if (of !== entity || !chosen(line.external_id)) continue;
    const before = records.get(line.external_id);
    const fields = expected(line.external_id) ?? [];
    let changed = before?.changed ?? 0xffff;
    COMPARED[entity].forEach(({ sent }, index) => {
      const hash = line.fields?.[sent];
      if (hash === undefined) return;
      const now = fields[index]?.sent;
      const isSame = now !== undefined && hasher.matches(hash, sent, now);
      changed = isSame ? changed & ~(1 << index) : changed | (1 << index);
    });
    records.set(line.external_id, {
      serviceId: line.entity_id || (before?.serviceId ?? ''),
      at: Date.parse(line.at),
      onlyCreated: !before && line.outcome === 'created',
      changed,
    });
  }
  for (const [externalId, { serviceId }] of records) if (serviceId === '') records.delete(externalId);
  return { records, leadIds };
}
