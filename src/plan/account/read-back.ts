import { kindOf } from '../../kinds/index.ts';
import type { Client } from '../../service/client.ts';
import { LIMITS } from '../../contract.ts';
import { idOf, isFields, type Fields } from '../../service/list-page.ts';
import { NotShown, pagesOf, readRecord, RecordMerged, RecordRefused } from '../../service/lists.ts';
import type { Entity } from '../../model.ts';

/** A record as the service returns it now; `record` is undefined if it does not exist, or `instead` says why it is not shown. */
export interface Found {
  readonly serviceId: string;
  readonly record: Fields | undefined;
  readonly instead?: RecordMerged | RecordRefused;
}

interface ReadBackOptions {
  /** The minimum number of records in the list (our own). */
  readonly atLeast: number;
  readonly concurrency: number;
}

/**
 * Reads records back with as few requests as possible: list pages of 100 while those need fewer requests than reading
 * each record, then the rest one by one. A 404 means that a record is gone only where the route has answered another GET:
 * it may not exist (GET /deals/{id} is not published). Otherwise the list tells. Throws a `UserError` if neither can tell.
 */
export async function* readBack(
  client: Client,
  entity: Entity,
  serviceIds: Iterable<string>,
  options: ReadBackOptions,
): AsyncGenerator<Found, void, undefined> {
  const pending = new Set(serviceIds);
  const isAffordable = affordable(pending, options.atLeast);
  // Of an uncertain route, the list is tried first: a single record may be shown nowhere.
  const isListTried = kindOf(entity).isRouteUncertain === true;
  const mayRead: MayRead = (pagesRead, total) => (isListTried && pagesRead === 0) || isAffordable(pagesRead, total);
  let canTell = yield* fromPages(client, entity, pending, mayRead);
  const ids = [...pending];
  for (let from = 0; from < ids.length; from += options.concurrency) {
    const batch = await Promise.all(
      ids.slice(from, from + options.concurrency).map((serviceId) => readOne(client, entity, serviceId)),
    );
    canTell ||= batch.some(({ record, instead }) => record !== undefined || instead !== undefined);
    if (!canTell) return yield* fromWholeList(client, entity, pending);
    for (const found of batch) {
      pending.delete(found.serviceId);
      yield found;
    }
  }
}

function routeOf(entity: Entity): string {
  return kindOf(entity).route!;
}

async function readOne(client: Client, entity: Entity, serviceId: string): Promise<Found> {
  try {
    return { serviceId, record: await readRecord(client, { collection: routeOf(entity), id: serviceId }) };
  } catch (error) {
    if (error instanceof RecordRefused || error instanceof RecordMerged)
      return { serviceId, record: undefined, instead: error };
    if (error instanceof NotShown && kindOf(entity).isRouteUncertain) return { serviceId, record: undefined };
    throw error;
  }
}

async function* fromWholeList(client: Client, entity: Entity, pending: Set<string>): AsyncGenerator<Found, void> {
  const path = routeOf(entity);
  const isWhole = yield* fromPages(client, entity, pending, () => true);
  if (pending.size > 0 && !isWhole) {
    throw new NotShown(`GET ${path}/{id} answered 404, and GET ${path} returned only a part of the list`, {
      hint: `it is unknown whether records are gone: look at the answer of GET ${path}`,
    });
  }
  for (const serviceId of pending) yield { serviceId, record: undefined };
}

/** Reads list pages while `mayRead` allows one more; `total`: of the list, if the service says. */
type MayRead = (pagesRead: number, total: number | undefined) => boolean;

/** While the rest of the list takes fewer requests than reading each of the rest. */
function affordable(pending: ReadonlySet<string>, atLeast: number): MayRead {
  const most = pending.size;
  return (pagesRead, total) => {
    // One more, since only a page without new records shows that the list has ended.
    const known = total === undefined ? Math.ceil(atLeast / LIMITS.pageSize) + 1 : Math.ceil(total / LIMITS.pageSize);
    const left = total === undefined && pagesRead > 0 ? Math.max(1, known - pagesRead) : known - pagesRead;
    return pagesRead < most && left < pending.size;
  };
}

/** Removes the records that it finds from `pending`; returns whether it has read the whole list. */
async function* fromPages(
  client: Client,
  entity: Entity,
  pending: Set<string>,
  mayRead: MayRead,
): AsyncGenerator<Found, boolean> {
  if (!mayRead(0, undefined)) return false;
  let [pagesRead, seen, isCut]: [number, number, boolean] = [0, 0, false];
  let all: number | undefined;
  for await (const { fresh, total, more } of pagesOf(client, routeOf(entity), {})) {
    pagesRead += 1;
    seen += fresh.length;
    all = total ?? all;
    isCut = more !== false;
    for (const item of fresh) {
      const serviceId = isFields(item) ? idOf(item) : undefined;
      if (serviceId !== undefined && pending.delete(serviceId)) yield { serviceId, record: item as Fields };
    }
    if (pending.size === 0 || !mayRead(pagesRead, total)) return false;
  }
  return !isCut && (all === undefined || seen >= all);
}
