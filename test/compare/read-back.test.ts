// Lost without it: a record could be called gone although the service has it.
import { expect, it } from 'vitest';
import { readBack } from '../../src/plan/account/read-back.ts';
import { connectTo, serve } from '../service/scripted-server.ts';

interface Listing {
  /** The records of the service by number, ours included. */
  readonly records: number;
  readonly total?: boolean;
  /** The service has no route for a single record. */
  readonly hasNoRoute?: boolean;
  /** The service says that the list has more records than it returns. */
  readonly isCut?: boolean;
}

/** Reads some leads back from a service with this many; returns the requested paths and the numbers found. */
async function readLeads(listing: Listing, wanted: readonly number[], atLeast: number) {
  const server = await serve(({ url }) => {
    const { pathname, searchParams } = new URL(url, 'http://service');
    const [, , id] = pathname.split('/');
    if (id !== undefined) {
      const exists = Number(id) < listing.records && !listing.hasNoRoute;
      return exists ? { status: 200, body: { id } } : { status: 404, body: { error: 'Lead not found' } };
    }
    const from = (Number(searchParams.get('page')) - 1) * 100;
    const size = Math.max(0, Math.min(100, listing.records - from));
    const leads = Array.from({ length: size }, (_, index) => ({ id: String(from + index) }));
    const total = listing.records + (listing.isCut ? 1 : 0);
    return { status: 200, body: listing.total || listing.isCut ? { leads, total } : leads };
  });
  const client = connectTo(server.baseUrl);
  const found: number[] = [];
  const missing: number[] = [];
  for await (const { serviceId, record } of readBack(client, 'lead', wanted.map(String), { atLeast, concurrency: 5 })) {
    (record ? found : missing).push(Number(serviceId));
  }
  const pages = server.arrived.filter(({ url }) => url.includes('pageSize')).length;
  return { found: found.sort((a, b) => a - b), missing, pages, singles: server.arrived.length - pages };
}

const numbers = (count: number, every = 1): number[] => Array.from({ length: count }, (_, index) => index * every);

it('reads records one by one if there are fewer than list pages', async () => {
  const read = await readLeads({ records: 1_000 }, [1, 500, 999], 1_000);
  expect(read).toEqual({ found: [1, 500, 999], missing: [], pages: 0, singles: 3 });
});

it('switches to single requests if the total of the list is much larger than the sample', async () => {
  const wanted = numbers(50, 2_000);
  const read = await readLeads({ records: 100_000, total: true }, wanted, 1_000);
  expect(read).toEqual({ found: wanted, missing: [], pages: 1, singles: 49 });
});

it('reads records missing from the pages one by one, and reports those that do not exist', async () => {
  const read = await readLeads({ records: 199 }, numbers(201), 201);
  expect(read.found).toHaveLength(199);
  expect(read.missing).toEqual([199, 200]);
  expect(read.singles).toBe(2);
});

it('reads the list where the route of a single record does not exist, instead of calling every record gone', async () => {
  const read = await readLeads({ records: 1_000, hasNoRoute: true }, [1, 500, 5_000], 1_000);
  expect(read).toMatchObject({ found: [1, 500], missing: [5_000], singles: 3 });
});

it('refuses to call records gone after an incomplete list', async () => {
  const reading = readLeads({ records: 10, hasNoRoute: true, isCut: true }, [5_000], 1);
  await expect(reading).rejects.toThrow('GET /leads returned only a part of the list');
});

it('reads list pages for many records, and stops when all are found', async () => {
  expect(await readLeads({ records: 350 }, numbers(250), 250)).toMatchObject({ missing: [], pages: 3, singles: 0 });
});

it('never reads more pages than single requests would take if the list has no total', async () => {
  const wanted = numbers(50, 2_000);
  const read = await readLeads({ records: 100_000 }, wanted, 1_000);
  expect(read.found).toEqual(wanted);
  expect(read.pages + read.singles).toBeLessThanOrEqual(100);
});
