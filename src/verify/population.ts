import type { Checked } from '../compare/fields.ts';
import { contentSha } from '../identity.ts';
import type { Database } from '../store/sqlite.ts';

/** How many records of each type are read back. */
export type SampleSize = number | 'all';

/** The acknowledged records of one entity, according to the checkpoint. */
export interface Population {
  readonly acknowledged: number;
  /** Records whose service id is unknown, so that they cannot be read back. */
  readonly withoutId: number;
  /** The sample: always the same for the same checkpoint, and spread over all records. */
  readonly chosen: readonly SentRecord[];
}

export interface SentRecord {
  readonly externalId: string;
  readonly serviceId: string;
}

export function populationOf(db: Database, entity: Checked, sample: SampleSize): Population {
  const { number: acknowledged } = db.get<{ number: number }>(
    `select count(distinct external_id) as number from checkpoint.request
      where entity = ? and status = 'acknowledged' and origin <> 'read'`,
    entity,
  )!;
  // Of the columns beside max(), SQLite takes those of the same row: the service id that was answered last.
  const known = db.each<SentRecord>(
    `select external_id as externalId, service_id as serviceId, max(n) from checkpoint.request
      where entity = ? and status = 'acknowledged' and origin <> 'read' and external_id is not null and service_id <> ''
      group by external_id`,
    entity,
  );
  const most = sample === 'all' ? Infinity : sample;
  let chosen: (SentRecord & { readonly order: number })[] = [];
  const cut = (): void => {
    chosen = chosen.sort((a, b) => a.order - b.order).slice(0, most);
  };
  let withId = 0;
  for (const { externalId, serviceId } of known) {
    withId += 1;
    chosen.push({ externalId, serviceId, order: orderOf(externalId) });
    if (chosen.length > 2 * most) cut();
  }
  cut();
  return { acknowledged, withoutId: acknowledged - withId, chosen };
}

/** A fixed order that is independent of the order in the export, so that a sample is spread over it. */
function orderOf(externalId: string): number {
  return Number.parseInt(contentSha(`sample:${externalId}`).slice(0, 8), 16);
}
