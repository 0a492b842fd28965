import type { Entity } from '../../model.ts';
import { shortSha } from '../../core/identity.ts';
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
