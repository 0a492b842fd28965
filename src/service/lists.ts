/** Reads what the REST routes answer: single bodies, and lists whose shapes are not uniform (service interface, section 9). */
import { systemClock, type Clock } from '../clock.ts';
import { UserError } from '../errors.ts';
import type { Client } from './client.ts';
import { LIMITS } from './contract.ts';
import { parseJson, type Reply, type RestAttempt } from './reply.ts';
import { retried } from './retry.ts';

/** An object as some route shows it: nothing is certain of it. */
export type Fields = Readonly<Record<string, unknown>>;

export interface ReadOptions {
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** One page of a list. */
export interface Page {
  /** Items that no page before had. */
  readonly fresh: readonly unknown[];
  /** How many the whole list has, where the service says. */
  readonly total: number | undefined;
  /** The page says that more comes by another way than page numbers: the member's name (`nextCursor`). */
  readonly cursor: string | undefined;
  readonly headers: Reply['headers'];
}

/**
 * The pages of a list (`page`, `pageSize`; section 4.3), until one brings no new id. Items without an `id` are known by
 * their whole content. A `UserError` as from `read`, or where the answer is no list.
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
      const known = seen.size;
      return seen.add((isFields(item) ? idOf(item) : undefined) ?? JSON.stringify(item)).size > known;
    });
    if (fresh.length === 0 && page > 1) return;
    yield { fresh, total: totalIn(body), cursor: cursorIn(body), headers: reply.headers };
    if (fresh.length === 0) return;
  }
}

/** One GET that must be answered with a 2xx; retried five times. A `UserError` says why it was not. */
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

/** The same for one record: undefined where the service has none of this id. */
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
      return new UserError(`GET ${path}: the service refuses the API key (${attempt.status}): ${attempt.message}`, {
        hint: 'check BACKFILL_API_KEY',
      });
    case 'refused':
      return new UserError(`GET ${path} was refused (${attempt.status} ${attempt.code}): ${attempt.message}`, {
        hint: attempt.status === 404 ? 'is the base URL complete, and the right one?' : 'see the message',
      });
    case 'rate_limited':
      return new UserError(`GET ${path} was refused again and again: the rate limit of this key is used up`, {
        hint: 'something else uses the same key: stop it, or leave it room with --reserve',
      });
    case 'unanswered':
      return new UserError(`GET ${path} got no answer: ${attempt.message}`, {
        hint: attempt.setup
          ? 'check the base URL, and that this machine trusts its certificate'
          : 'is the base URL right, and the service up?',
      });
    case 'withdrawn':
      return new UserError(`GET ${path} was given up: the run is stopping`);
  }
}

const ITEM_KEYS = ['data', 'items', 'results', 'pipelines', 'users', 'platformUsers', 'records', 'content', 'rows'];

/** A bare array, or the one list in an object, `{success, data}` taken off; or in words what came instead of one. */
function listIn(value: unknown): readonly unknown[] | string {
  if (Array.isArray(value)) return value as unknown[];
  if (!isFields(value)) return describe(value);
  const known = ITEM_KEYS.find((key) => Array.isArray(value[key]));
  if (known !== undefined) return value[known] as unknown[];
  const lists = Object.values(value).filter((member): member is unknown[] => Array.isArray(member));
  if (lists.length === 1) return lists[0]!;
  if (lists.length === 0 && isFields(value.data)) return listIn(value.data);
  return `an object with ${keysOf(value)}, in which ${lists.length === 0 ? 'no list' : 'more than one list'} was found`;
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
  return value === undefined ? 'an empty answer' : `\`${JSON.stringify(value).slice(0, 60)}\``;
}

export function unknownShape(path: string, came: string, expected = 'a list of objects with ids'): UserError {
  return new UserError(`GET ${path} answered ${came}`, {
    hint: `expected ${expected}; is the base URL that of the API?`,
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
