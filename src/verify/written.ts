import { createReadStream } from 'node:fs';
import { settledLines } from '../checkpoint/read.ts';
import { contentSha } from '../identity.ts';
import { ByteColumn, KeyTable, keyWords } from '../keys.ts';
import { entityOf } from '../model.ts';
import type { ExpectedFields } from './expected.ts';
import { COMPARED, type Checked } from './fields.ts';

/** How many records of each type are read back. */
export type SampleSize = number | 'all';

/** Acknowledged records of one entity, by the checkpoint. */
export interface Population {
  readonly acknowledged: number;
  /** Those that the service never named an id of: they cannot be asked for. */
  readonly withoutId: number;
  /** Whether a record is among those chosen: always the same ones of the same checkpoint, spread over all. */
  isChosen(externalId: string): boolean;
}

/** A record that we wrote. */
export interface Written {
  readonly serviceId: string;
  /** When its last write was settled, in milliseconds since 1970. */
  readonly at: number;
  /** The only write created it, so the service's own createdAt is the time of our write. */
  readonly onlyCreated: boolean;
  /** Bit per field of `COMPARED`: what the input says now is not what was sent. */
  readonly changed: number;
}

const ACKNOWLEDGED = 1;
const HAS_ID = 2;

export async function population(checkpoint: string, entity: Checked, sample: SampleSize): Promise<Population> {
  const keys = new KeyTable();
  const marks = new ByteColumn();
  const orders: number[] = [];
  for await (const line of settledLines(checkpoint)) {
    if (line.status !== 'acknowledged' || line.external_id === null || entityOf(line.type) !== entity) continue;
    const key = keys.intern(keyWords(line.external_id));
    const before = marks.get(key);
    marks.set(key, before | ACKNOWLEDGED | (line.entity_id ? HAS_ID : 0));
    if (line.entity_id && !(before & HAS_ID)) orders.push(orderOf(line.external_id));
  }
  const last = sample === 'all' ? Infinity : (orders.sort((a, b) => a - b)[sample - 1] ?? Infinity);
  return {
    acknowledged: keys.size,
    withoutId: keys.size - orders.length,
    isChosen: (externalId) => orderOf(externalId) <= last,
  };
}

/** Any order will do that has nothing to do with that of the export. */
function orderOf(externalId: string): number {
  return Number.parseInt(contentSha(`sample:${externalId}`).slice(0, 8), 16);
}

/**
 * What the checkpoint says of the records chosen, and the service ids of the leads in `parents`. `expected` yields what
 * a record should be; undefined where the input does not say.
 */
export async function writtenRecords(
  checkpoint: string,
  entity: Checked,
  chosen: (externalId: string) => boolean,
  expected: (externalId: string) => ExpectedFields | undefined,
  parents: ReadonlySet<string>,
): Promise<{ records: ReadonlyMap<string, Written>; leadIds: ReadonlyMap<string, string> }> {
  const records = new Map<string, Written>();
  const leadIds = new Map<string, string>();
  for await (const line of settledLines(checkpoint)) {
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
      changed = hash === fields[index]?.hash ? changed & ~(1 << index) : changed | (1 << index);
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

/** The first line, which says what the checkpoint belongs to. */
export async function firstLine(path: string): Promise<string> {
  let text = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 16 })) {
    text += chunk as string;
    const end = text.indexOf('\n');
    if (end >= 0) return text.slice(0, end);
  }
  return text;
}
