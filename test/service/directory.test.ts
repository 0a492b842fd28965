// Lost without it: names could be resolved from half a list.
import { describe, expect, onTestFinished, test } from 'vitest';
import { UserError } from '../../src/errors.ts';
import type { Account } from '../../src/service/account.ts';
import { readAccount } from '../../src/service/directory.ts';
import { connectTo, serve, type Answer } from './scripted-server.ts';
import { VirtualClock } from './virtual-clock.ts';

type Pages = (page: number, query: URLSearchParams) => unknown;
const none: Pages = () => [];

/** An account as it is read from a server with these lists. */
async function read(pipelines: Pages, users: Pages = none): Promise<Account & { asked: string[]; warnings: string[] }> {
  const asked: string[] = [];
  const account = await readFrom(({ url }) => {
    asked.push(url);
    return { status: 200, body: answerOf(url, pipelines, users) };
  });
  return { ...account, asked };
}

function answerOf(url: string, pipelines: Pages, users: Pages): unknown {
  const { pathname, searchParams } = new URL(url, 'http://host');
  return (pathname === '/pipelines' ? pipelines : users)(Number(searchParams.get('page')), searchParams);
}

async function readFrom(
  answer: (request: { url: string }, nth: number) => Answer,
): Promise<Account & { warnings: string[] }> {
  const clock = new VirtualClock();
  onTestFinished(() => clock.stop());
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  return { ...(await readAccount(connectTo((await serve(answer)).baseUrl, { clock }), { clock, warn })), warnings };
}

const sales = { id: 'p1', name: 'Sales', type: 'DEAL', stages: [{ id: 's1', name: 'New' }] };

describe('lists', () => {
  test.each([
    ['a bare array', (items: unknown[]) => items],
    ['an object with a named key', (items: unknown[]) => ({ pipelines: items, total: 1 })],
    ['an object with any one list', (items: unknown[]) => ({ whatever: items, page: 1 })],
    ['a wrapped array', (items: unknown[]) => ({ success: true, data: items })],
    ['a wrapped object', (items: unknown[]) => ({ success: true, data: { items, total: 1 } })],
  ])('%s', async (_name, wrap) => {
    const { pipelines } = await read((page) => wrap(page === 1 ? [sales] : []));
    expect(pipelines).toEqual([sales]);
  });

  test('all pages are read, 100 at a time, until one has no new id', async () => {
    const user = (index: number) => ({ id: `u${index}`, name: `User ${index}` });
    const all = Array.from({ length: 230 }, (_, index) => user(index));
    const { users, asked } = await read(none, (page) => all.slice((page - 1) * 100, page * 100));
    expect(users).toHaveLength(230);
    expect(asked.filter((url) => url.startsWith('/platform-users'))).toEqual(
      [1, 2, 3, 4].map((page) => `/platform-users?page=${page}&pageSize=100`),
    );
    expect(asked[0]).toBe('/pipelines?type=DEAL&page=1&pageSize=100');
  });

  test('a route that ignores the page is read to the end too', async () => {
    const { users } = await read(none, () => [{ id: 1, name: 'Ada' }]);
    expect(users).toEqual([{ id: '1', names: ['Ada'] }]);
  });

  test('a `total` that is about the page alone does not end the list', async () => {
    const all = Array.from({ length: 230 }, (_, index) => ({ id: `u${index}`, name: `User ${index}` }));
    const { users } = await read(none, (page) => {
      const users = all.slice((page - 1) * 100, page * 100);
      return { users, total: users.length };
    });
    expect(users).toHaveLength(230);
  });

  const people = Array.from({ length: 45 }, (_, index) => ({ id: `u${index}`, name: `User ${index}` }));

  type Wrap = (items: unknown[], next: string | null) => unknown;
  const link = (next: string): string => `https://elsewhere.test/platform-users?limit=100&cursor=${next}`;
  test.each<[string, Wrap]>([
    ['nextCursor', (users, next) => ({ users, nextCursor: next })],
    ['next_cursor', (users, next) => ({ users, next_cursor: next })],
    ['data.nextCursor', (items, next) => ({ data: { items, nextCursor: next } })],
    ['cursor.next', (data, next) => ({ data, cursor: { next } })],
    ['pagination.nextCursor', (data, next) => ({ data, pagination: { nextCursor: next } })],
    ['meta.next', (items, next) => ({ items, meta: next === null ? {} : { next } })],
    ['endCursor', (items, next) => ({ items, pageInfo: { endCursor: next ?? 'last', hasNextPage: next !== null } })],
    ['a link', (items, next) => ({ items, links: { next: next && link(next) } })],
  ])('the cursor is followed: %s', async (_name, wrap) => {
    const { users, asked } = await read(none, (_page, query) => {
      const from = Number(query.get('cursor')?.slice(1) ?? 0);
      return wrap(people.slice(from, from + 25), from + 25 < people.length ? `c${from + 25}` : null);
    });
    expect(users).toHaveLength(45);
    expect(asked.slice(-2)).toEqual(['/platform-users?page=1&pageSize=100', '/platform-users?limit=100&cursor=c25']);
  });

  test.each([400, 422])('a route that answers %i to `page` is asked with `limit` and `cursor`', async (status) => {
    const asked: string[] = [];
    const account = await readFrom(({ url }) => {
      asked.push(url);
      const query = new URL(url, 'http://host').searchParams;
      if (url.startsWith('/pipelines')) return { status: 200, body: [] };
      if (query.has('page')) return { status, body: { error: 'unknown parameter: page' } };
      const from = Number(query.get('cursor') ?? 0);
      return { status: 200, body: { items: people.slice(from, from + 25), nextCursor: from === 0 ? 25 : null } };
    });
    expect(account.users).toHaveLength(45);
    expect(asked.slice(-3)).toEqual([
      '/platform-users?page=1&pageSize=100',
      '/platform-users?limit=100',
      '/platform-users?limit=100&cursor=25',
    ]);
  });

  test('a route that refuses `limit` too is an error with the first refusal', async () => {
    const reading = readFrom(({ url }) => ({
      status: 400,
      body: { error: url.includes('limit') ? 'no limit' : 'no page' },
    }));
    await expect(reading).rejects.toThrow('GET /pipelines was refused (400 http_400): no page');
  });

  test.each([
    ['total', { total: 45 }, '25 of 45 items'],
    ['meta.total', { meta: { total: '45' } }, '25 of 45 items'],
    ['hasMore', { hasMore: true }, '25 items although more seem to follow'],
  ])('nothing is resolved from a list that is shorter than its `%s` says', async (_name, says, message) => {
    const reading = read(none, () => ({ users: people.slice(0, 25), ...says }));
    await expect(reading).rejects.toMatchObject({
      exitCode: 2,
      message: `GET /platform-users returned only ${message}`,
      hint: expect.stringContaining('GET /platform-users') as string,
    });
  });

  test.each([
    ['an object without a list', { total: 3 }, 'an object with `total`, which contains no list'],
    ['several lists', { a: [], b: [] }, 'more than one list'],
    ['items without id', [{ name: 'x' }], 'an item without `id` (it has `name`)'],
    ['items that are not objects', ['x'], 'a list of `"x"`'],
    ['text', '"x"', '`"x"`'],
  ])('%s is an error that says what was returned', async (_name, body, message) => {
    const reading = read(() => body);
    await expect(reading).rejects.toThrow(UserError);
    await expect(reading).rejects.toThrow('GET /pipelines returned ');
    await expect(reading).rejects.toThrow(message);
  });

  test('paging stops when as many items were seen as `total` says', async () => {
    const all = Array.from({ length: 130 }, (_, index) => ({ id: `u${index}`, name: `User ${index}` }));
    const { users, asked } = await read(
      (page) => ({ pipelines: page === 1 ? [sales] : [], total: 1 }),
      (page) => ({ users: all.slice((page - 1) * 100, page * 100), total: 130 }),
    );
    expect(users).toHaveLength(130);
    expect(asked.map((url) => url.replace(/\?.*page=/, ' '))).toEqual([
      '/pipelines 1&pageSize=100',
      '/platform-users 1&pageSize=100',
      '/platform-users 2&pageSize=100',
    ]);
  });

  test('what only looks like a cursor does not end the list early', async () => {
    const { users } = await read(none, (page) => ({
      users: people.slice((page || 1) * 20 - 20, (page || 1) * 20),
      next: '2',
    }));
    expect(users).toHaveLength(45);
  });

  test('a full page of a route without pages, cursor and total may not be the whole list', async () => {
    const hundred = Array.from({ length: 100 }, (_, index) => ({ id: index, name: `User ${index}` }));
    const reading = readFrom(({ url }) =>
      url.includes('page=') ? { status: 422 } : { status: 200, body: url.startsWith('/pipelines') ? [] : hundred },
    );
    // No name is looked up in a list that may be cut.
    expect((await reading).users).toEqual([]);
  });

  test('a route that ignores the page and repeats a full one may have more', async () => {
    const hundred = Array.from({ length: 100 }, (_, index) => ({ id: `u${index}`, name: `User ${index}` }));
    expect((await read(none, () => hundred)).users).toEqual([]);
  });
});

describe('pipelines', () => {
  test.each(['stages', 'pipelineStages', 'columns', 'steps'])('stages are found under `%s`', async (key) => {
    const { pipelines } = await read(() => [{ id: 'p1', title: 'Sales', [key]: [{ id: 's1', label: 'New' }] }]);
    expect(pipelines).toEqual([sales]);
  });

  test.each(['order', 'position', 'sortOrder'])('stages are sorted by `%s`', async (key) => {
    const stages = [3, 1, 2].map((place) => ({ id: `s${place}`, name: `Stage ${place}`, [key]: place }));
    const { pipelines } = await read(() => [{ ...sales, stages }]);
    expect(pipelines[0]!.stages.map(({ id }) => id)).toEqual(['s1', 's2', 's3']);
  });

  test('a pipeline without stages is an error that lists its members', async () => {
    await expect(read(() => [{ id: 'p1', name: 'Sales', type: 'DEAL' }])).rejects.toThrow(
      'GET /pipelines returned the pipeline `Sales` without stages (it has `id`, `name`, `type`)',
    );
  });

  test('pipelines of other types are dropped even if the service ignores the filter', async () => {
    const { pipelines } = await read(() => [
      sales,
      { ...sales, id: 'p2', type: 'LEAD' },
      { ...sales, id: 'p3', type: 'deal' },
    ]);
    expect(pipelines.map(({ id }) => id)).toEqual(['p1', 'p3']);
  });

  test('stages keep their order if not all are numbered', async () => {
    const stages = [
      { id: 's2', name: 'B', order: 2 },
      { id: 's1', name: 'A' },
    ];
    const { pipelines } = await read(() => [{ ...sales, stages }]);
    expect(pipelines[0]!.stages.map(({ id }) => id)).toEqual(['s2', 's1']);
  });
});

describe('users', () => {
  test.each([
    [{ fullName: 'Ada Lovelace' }, ['Ada Lovelace']],
    [{ displayName: 'Ada', firstName: 'Ada', lastName: 'Lovelace' }, ['Ada', 'Ada Lovelace']],
    [{ first_name: 'Ada' }, ['Ada']],
    [{ name: ' Ada ', fullName: 'Ada' }, ['Ada']],
    [{ user: { name: 'Nested' } }, ['Nested']],
    [{ role: 'admin' }, []],
  ])('%j has the names %j', async (fields, names) => {
    const { users } = await read(none, () => [{ id: 'u1', ...fields }]);
    expect(users).toEqual([{ id: 'u1', names }]);
  });
});

describe('failures', () => {
  test.each([
    [401, 1, 'BACKFILL_API_KEY'],
    [403, 1, 'BACKFILL_API_KEY'],
    [404, 1, 'base URL'],
    [407, 1, 'HTTPS_PROXY'],
    [503, 6, 'whether the service is up'],
  ])('%i is asked %i times, and the hint names %s', async (status, times, hint) => {
    let requests = 0;
    const reading = readFrom(() => {
      requests += 1;
      return { status, body: { error: 'because' } };
    });
    await expect(reading).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('GET /pipelines') as string,
      hint: expect.stringContaining(hint) as string,
    });
    expect(requests).toBe(times);
  });
});
