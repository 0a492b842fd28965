import type { Client } from '../service/client.ts';
import { LIMITS, PATHS } from '../service/contract.ts';
import { idOf, isFields, type Fields } from '../service/list-page.ts';
import { pagesOf, readRecord } from '../service/lists.ts';
import type { Checked } from './fields.ts';

const COLLECTION: Readonly<Record<Checked, string>> = { lead: PATHS.leads, deal: PATHS.deals };

/** A record as the service returns it now; `record` is undefined if it does not exist. */
export interface Found {
  readonly serviceId: string;
  readonly record: Fields | undefined;
}

/**
 * Reads records back with as few requests as possible: list pages of 100 while those need fewer requests than reading
 * each record, then the rest one by one. `atLeast`: the minimum number of records in the list (our own).
 */
export async function* readBack(
  client: Client,
  entity: Checked,
  serviceIds: Iterable<string>,
  options: { readonly atLeast: number; readonly concurrency: number },
): AsyncGenerator<Found, void, undefined> {
  const pending = new Set(serviceIds);
  yield* fromPages(client, entity, pending, options.atLeast);
  const ids = [...pending];
  for (let from = 0; from < ids.length; from += options.concurrency) {
    const batch = ids.slice(from, from + options.concurrency);
    yield* await Promise.all(
      batch.map(async (serviceId) => ({
        serviceId,
        record: await readRecord(client, `${COLLECTION[entity]}/${encodeURIComponent(serviceId)}`),
      })),
    );
  }
}

/** Removes the records that it finds from `pending`. */
async function* fromPages(
  client: Client,
  entity: Checked,
  pending: Set<string>,
  atLeast: number,
): AsyncGenerator<Found, void, undefined> {
  const affordable = pending.size;
  // One more, since only a page without new records shows that the list has ended.
  let pagesLeft = Math.ceil(atLeast / LIMITS.pageSize) + 1;
  if (pagesLeft >= pending.size) return;
  let page = 0;
  for await (const { fresh, total } of pagesOf(client, COLLECTION[entity], {})) {
    page += 1;
    for (const item of fresh) {
      const serviceId = isFields(item) ? idOf(item) : undefined;
      if (serviceId !== undefined && pending.delete(serviceId)) yield { serviceId, record: item as Fields };
    }
    pagesLeft = total === undefined ? Math.max(1, pagesLeft - 1) : Math.ceil(total / LIMITS.pageSize) - page;
    if (pending.size <= pagesLeft || pending.size === 0 || page >= affordable) return;
  }
}
