/** Reads single records and lists from the REST routes. The shapes of lists vary (service interface, section 9). */
import { systemClock, type Clock } from '../clock.ts';
import { UserError } from '../errors.ts';
import type { Client } from './client.ts';
import { LIMITS } from './contract.ts';
import { parseJson, type Reply, type RestAttempt } from './reply.ts';
import { retried } from './retry.ts';

/** An object as returned by a route; its members are not known. */
export type Fields = Readonly<Record<string, unknown>>;

export interface ReadOptions {
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** One page of a list. */
export interface Page {
  /** Items that no earlier page had. */
  readonly fresh: readonly unknown[];
  /** Number of items in the whole list, if the service says. */
  readonly total: number | undefined;
  /** The name of the member by which the page announces a next page other than by number (`nextCursor`). */
  readonly cursor: string | undefined;
  readonly headers: Reply['headers'];
}

/**
 * The pages of a list (`page`, `pageSize`; section 4.3), until a page has no new ids. Items without an `id` are
 * compared by their content. Throws a `UserError` as `read` does, or if the answer is not a list.
 */
export async function* pagesOf(
  client: Client,
  path: string,
  query: Readonly<Record<string, string>>,
  options: ReadOptions = {},
): AsyncGenerator<Page, void, undefined> {
  const seen = new Set<string>();
  for (let page = 1; ; page += 1) {
    const reply = await read(client, path, { ...query, page, pageSize: LIMITS.pageSize }, options);
    const body = parseJson(reply.body);
    const items = listIn(body);
    if (typeof items === 'string') throw unknownShape(path, items);
    const fresh = items.filter((item) => {
      const key = (isFields(item) ? idOf(item) : undefined) ?? JSON.stringify(item);
      return !seen.has(key) && seen.add(key);
    });
    if (fresh.length === 0 && page > 1) return;
    yield { fresh, total: totalIn(body), cursor: cursorIn(body), headers: reply.headers };
    if (fresh.length === 0) return;
  }
}

/** One GET, retried up to five times. Throws a `UserError` if it is not answered with a 2xx. */
export async function read(
  client: Client,
  path: string,
  query: Readonly<Record<string, string | number>>,
  options: ReadOptions = {},
): Promise<Reply> {
  const attempt = await attemptToRead(client, path, query, options);
  if (attempt.kind === 'answered') return attempt.reply;
  throw failureOf(path, attempt);
}

/** Reads one record; undefined if the service has no record with this id. */
export async function readRecord(client: Client, path: string, options: ReadOptions = {}): Promise<Fields | undefined> {
  const attempt = await attemptToRead(client, path, {}, options);
  if (attempt.kind === 'refused' && (attempt.status === 404 || attempt.status === 410)) return undefined;
  if (attempt.kind !== 'answered') throw failureOf(path, attempt);
  const body = parseJson(attempt.reply.body);
  const record = isFields(body) && isFields(body.data) && body.id === undefined ? body.data : body;
  if (isFields(record)) return record;
  throw unknownShape(path, describe(body), 'an object');
}

function attemptToRead(
  client: Client,
  path: string,
  query: Readonly<Record<string, string | number>>,
  { clock = systemClock, signal }: ReadOptions,
): Promise<RestAttempt> {
  const waiting = signal ? { signal } : {};
  return retried(() => client.get(path, query, waiting), { clock, ...waiting });
}

function failureOf(path: string, attempt: Exclude<RestAttempt, { kind: 'answered' }>): UserError {
  switch (attempt.kind) {
    case 'unauthorised':
      return new UserError(`GET ${path}: the service refused the API key (${attempt.status}): ${attempt.message}`, {
        hint: 'check BACKFILL_API_KEY',
      });
    case 'refused':
      return new UserError(`GET ${path} was refused (${attempt.status} ${attempt.code}): ${attempt.message}`, {
        hint: attempt.status === 404 ? 'check that the base URL is complete' : 'check the base URL and the API key',
      });
    case 'rate_limited':
      return new UserError(
        `GET ${path} was rate-limited on every attempt: the rate limit of this API key is exhausted`,
        {
          hint: 'another program uses the same API key: stop it, or leave room for it with --reserve',
        },
      );
    case 'unanswered':
      return new UserError(`GET ${path} failed: ${attempt.message}`, {
        hint: attempt.setup
          ? 'check the base URL, and that this machine trusts its certificate'
          : 'check the base URL, and whether the service is up',
      });
    case 'withdrawn':
      return new UserError(`GET ${path} was cancelled: the run is stopping`);
  }
}

const ITEM_KEYS = ['data', 'items', 'results', 'pipelines', 'users', 'platformUsers', 'records', 'content', 'rows'];

/**
 * A bare array, or the only list in an object, with or without a `{success, data}` wrapper; else a description of the
 * value.
 */
function listIn(value: unknown): readonly unknown[] | string {
  if (Array.isArray(value)) return value as unknown[];
  if (!isFields(value)) return describe(value);
  const known = ITEM_KEYS.find((key) => Array.isArray(value[key]));
  if (known !== undefined) return value[known] as unknown[];
  const lists = Object.values(value).filter((member): member is unknown[] => Array.isArray(member));
  if (lists.length === 1) return lists[0]!;
  if (lists.length === 0 && isFields(value.data)) return listIn(value.data);
  return `an object with ${keysOf(value)}, which contains ${lists.length === 0 ? 'no list' : 'more than one list'}`;
}

function totalIn(body: unknown): number | undefined {
  const total = isFields(body) ? (body.total ?? (isFields(body.data) ? body.data.total : undefined)) : undefined;
  return typeof total === 'number' && Number.isInteger(total) && total >= 0 ? total : undefined;
}

function cursorIn(body: unknown): string | undefined {
  if (!isFields(body)) return undefined;
  return ['nextCursor', 'next_cursor', 'cursor'].find((name) => typeof body[name] === 'string' && body[name] !== '');
}

function describe(value: unknown): string {
  return value === undefined ? 'an empty body' : `\`${JSON.stringify(value).slice(0, 60)}\``;
}

export function unknownShape(path: string, found: string, expected = 'a list of objects with ids'): UserError {
  return new UserError(`GET ${path} returned ${found}`, {
    hint: `expected ${expected}: check that the base URL is that of the API`,
  });
}

export function idOf(item: Fields): string | undefined {
  const { id } = item;
  if (typeof id === 'number') return String(id);
  return typeof id === 'string' && id !== '' ? id : undefined;
}

export function keysOf(fields: Fields): string {
  const keys = Object.keys(fields);
  return keys.length === 0
    ? 'no members'
    : keys
        .slice(0, 12)
        .map((key) => `\`${key}\``)
        .join(', ');
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
