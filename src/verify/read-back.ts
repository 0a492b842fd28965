import type { Client } from '../service/client.ts';
import { LIMITS, PATHS } from '../service/contract.ts';
import { idOf, isFields, pagesOf, readRecord, type Fields } from '../service/lists.ts';
import type { Checked } from './fields.ts';

const COLLECTION: Readonly<Record<Checked, string>> = { lead: PATHS.leads, deal: PATHS.deals };

/** A record as the service shows it now; undefined where it has none of this id. */
export interface Found {
  readonly serviceId: string;
  readonly record: Fields | undefined;
}

/**
 * Reads records back with as few requests as can be foreseen: by list pages of 100 while that takes fewer than asking
 * for each, and one by one for the rest. `atLeast`: records that the list has at least, ours.
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

/** Takes what it finds out of `pending`. */
async function* fromPages(
  client: Client,
  entity: Checked,
  pending: Set<string>,
  atLeast: number,
): AsyncGenerator<Found, void, undefined> {
  const affordable = pending.size;
  // One more, as a list has ended only when a page brings nothing new.
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
