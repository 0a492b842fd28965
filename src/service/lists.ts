/** Reads single records and lists from the REST routes. The shapes of lists vary (service interface, section 9). */
import { systemClock, type Clock } from '../clock.ts';
import { UserError } from '../errors.ts';
import type { Client } from './client.ts';
import { LIMITS, PATHS } from '../contract.ts';
import { tryParseJson } from '../json.ts';
import { describe, hasMore, idOf, isFields, itemsIn, nextIn, totalIn, type Fields, type Query } from './list-page.ts';
import type { RestAttempt } from './reply.ts';
import { longPause, LONGEST_RETRY_AFTER_MS, retried } from './retry.ts';
import { counted, numberText } from '../report/words/numbers.ts';
import { printable } from '../report/words/visible.ts';

export interface ReadOptions {
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** One page of a list. */
export interface Page {
  /** Items that no earlier page had; none on a page that was asked for in vain. */
  readonly fresh: readonly unknown[];
  /** Number of items in the whole list, if the service says. */
  readonly total: number | undefined;
  /** Whether more items seem to follow; `maybe` of a full page that says nothing. On the last page this means that there was no way to request them. */
  readonly more: boolean | 'maybe';
}

/** Far more than any list has: guards against one that never ends. */
const MAX_PAGES = 1_000;

/**
 * All items of a list. Throws a `UserError` as `read` does, if the answer is not a list, and (`MaybeCut` where it only seems so) if the service says that the
 * list has more items than it returned: a name that is unique among some of the users may not be unique among all.
 */
export async function wholeList(
  client: Client,
  path: string,
  query: Query,
  options: ReadOptions = {},
): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  let pages = 0;
  let total: number | undefined;
  let more: Page['more'] = false;
  for await (const page of pagesOf(client, path, query, options)) {
    total = page.total ?? total;
    more = page.more;
    if (page.fresh.length > 0) pages += 1;
    if (pages > MAX_PAGES) throw unknownShape(path, `more than ${MAX_PAGES} pages`);
    for (const item of page.fresh) items.push(item);
  }
  if (more || (total !== undefined && total > items.length)) {
    const of = total === undefined ? 'items although more seem to follow' : `of ${counted(total, 'item')}`;
    const refusal = more === 'maybe' ? MaybeCut : UserError;
    throw new refusal(`GET ${path} returned only ${numberText(items.length)} ${of}`, {
      hint: `names are never looked up in an incomplete list; look at the answer of GET ${path}`,
    });
  }
  return items;
}

/**
 * The pages of a list (`page`, `pageSize`; section 4.3), until as many items were seen as its `total` says, or one has no new ids. Items without an `id` are compared by
 * their content. Cursors and links to the next page are followed. A route that refuses `page` is asked with `limit` and
 * `cursor`. Throws a `UserError` as `read` does, or if the answer is not a list.
 */
export async function* pagesOf(
  client: Client,
  path: string,
  query: Query,
  options: ReadOptions = {},
): AsyncGenerator<Page, void, undefined> {
  const seen = new Set<string>();
  let page = 1;
  let step: Query = { page, pageSize: LIMITS.pageSize };
  let refusal: UserError | undefined;
  // Whether `step` is no page number, and whether cursors are followed: one that leads nowhere may be no cursor.
  let byCursor = false;
  let hasCursors = true;
  for (let isFirst = true; ;) {
    const attempt = await attemptToRead(client, path, { ...query, ...step }, options);
    if (attempt.kind !== 'answered') {
      const failure = failureOf(path, attempt);
      const isRefusedQuery = attempt.kind === 'refused' && (attempt.status === 400 || attempt.status === 422);
      if (byCursor || !isRefusedQuery) throw refusal ?? failure;
      refusal = failure;
      byCursor = true;
      step = { limit: LIMITS.pageSize };
      continue;
    }
    const body = tryParseJson(attempt.reply.body);
    const items = itemsIn(body);
    if (typeof items === 'string') throw unknownShape(path, items);
    const fresh = items.filter((item) => {
      const key = (isFields(item) ? idOf(item) : undefined) ?? JSON.stringify(item);
      return !seen.has(key) && seen.add(key);
    });
    const next = hasCursors ? nextIn(body) : undefined;
    const isEnd = fresh.length === 0 && !isFirst;
    const leadsNowhere = isEnd && byCursor && !refusal;
    if (leadsNowhere) {
      byCursor = false;
      hasCursors = false;
    }
    isFirst = false;
    byCursor ||= next !== undefined;
    if (!byCursor) page += 1;
    step = byCursor ? without(next ?? {}, path) : { page, pageSize: LIMITS.pageSize };
    if (leadsNowhere) continue;
    const total = totalIn(body);
    const isFull = total === undefined && !next && isFullPage(items);
    // A `total` that is the number of items of a full page may be about that page alone.
    const isWhole = total !== undefined && seen.size >= total && !(isFullPage(items) && items.length === total);
    const isLast = fresh.length === 0 || (byCursor ? !next : isWhole && hasMore(body) !== true);
    // A route that has no pages, or that repeats a full one, may have more items than it shows.
    const more = items.length > 0 && (hasMore(body) ?? (isFull && (refusal !== undefined || isEnd) && 'maybe'));
    yield { fresh, total, more };
    if (isLast) return;
  }
}

/** A route that answers with more items than a page has, and not with a round number of them, has no pages. */
function isFullPage({ length }: readonly unknown[]): boolean {
  return length === LIMITS.pageSize || (length > LIMITS.pageSize && length % 50 === 0);
}

/** Leaves out what the path has already: a link to the next page repeats the whole query. */
function without(query: Query, path: string): Query {
  const given = new URLSearchParams(path.split('?')[1]);
  return Object.fromEntries(Object.entries(query).filter(([name]) => !given.has(name)));
}

/** A list that ends with a full page, and says neither how many items it has nor that more follow. */
export class MaybeCut extends UserError {}

/** The route refuses to be read, or answers with something else than records. */
export class NotShown extends UserError {}

/** The key may read others, but not this record: it belongs to another account (service interface, section 5). */
export class RecordRefused extends UserError {}

/** The service answered with another record: it has merged the two. */
export class RecordMerged extends UserError {
  /** The service id of that record. */
  readonly into: string;

  constructor(message: string, into: string) {
    super(message, { hint: 'compare the two in the service' });
    this.into = into;
  }
}

/**
 * Reads one record of a collection (`/leads`); undefined if the service has no record with this id, or no such route. Throws a `UserError` as `read`
 * does, or if the answer is no record; a `RecordRefused` after a 403, a `RecordMerged` if it has another id.
 */
export async function readRecord(
  client: Client,
  { collection, id }: { readonly collection: string; readonly id: string },
  options: ReadOptions = {},
): Promise<Fields | undefined> {
  const path = `${collection}/${encodeURIComponent(id)}`;
  const attempt = await attemptToRead(client, path, {}, options);
  if (attempt.kind === 'refused' && [404, 405, 410].includes(attempt.status)) return undefined;
  if (attempt.kind === 'unauthorised' && attempt.status === 403) {
    const message = `GET ${path} was refused (403 ${attempt.code}): ${attempt.message}`;
    throw new RecordRefused(message, { hint: 'the record may belong to another account' });
  }
  if (attempt.kind !== 'answered') throw failureOf(path, attempt);
  const body = tryParseJson(attempt.reply.body);
  const record = isFields(body) && isFields(body.data) && body.id === undefined ? body.data : body;
  if (!isFields(record)) throw unknownShape(path, describe(body), 'an object');
  const shown = idOf(record);
  if (shown?.toLowerCase() === id.toLowerCase()) return record;
  if (shown === undefined)
    throw unknownShape(path, 'a record without an id', `the record with the id \`${printable(id)}\``);
  const into = printable(shown);
  throw new RecordMerged(`GET ${path} returned another record, \`${into}\`: the service has merged the two`, into);
}

function attemptToRead(
  client: Client,
  path: string,
  query: Query,
  { clock = systemClock, signal }: ReadOptions,
): Promise<RestAttempt> {
  const waiting = signal ? { signal } : {};
  return retried(() => client.get(path, query, waiting), { clock, ...waiting });
}

function failureOf(path: string, attempt: Exclude<RestAttempt, { kind: 'answered' }>): UserError {
  const get = `GET ${path}`;
  switch (attempt.kind) {
    case 'unauthorised': {
      const message = `${get}: the service refused the API key (${attempt.status}): ${attempt.message}`;
      const refusal = attempt.status === 403 ? NotShown : UserError;
      return new refusal(message, { hint: 'check BACKFILL_API_KEY' });
    }
    case 'refused': {
      const hint =
        attempt.status === 404 ? 'check that the base URL is complete' : 'check the base URL and the API key';
      return new NotShown(`${get} was refused (${attempt.status} ${attempt.code}): ${attempt.message}`, { hint });
    }
    case 'rate_limited': {
      const { retryAfterMs = 0 } = attempt;
      if (retryAfterMs > LONGEST_RETRY_AFTER_MS) return longPause(retryAfterMs, Date.now());
      const hint = 'another program uses the same API key: stop it, or send fewer requests with --rate';
      const message = `${get} was rate-limited on every attempt: the rate limit of this API key is exhausted`;
      return new UserError(message, { hint });
    }
    case 'unanswered': {
      const doubt = attempt.setup ? 'that this machine trusts its certificate' : 'whether the service is up';
      return new UserError(`${get} failed: ${attempt.message}`, {
        hint: attempt.hint ?? `check the base URL, and ${doubt}`,
      });
    }
    case 'withdrawn':
      return new UserError(`${get} was cancelled: the run is stopping`);
  }
}

export function unknownShape(path: string, found: string, expected = 'a list of objects with ids'): NotShown {
  return new NotShown(`GET ${path} returned ${found}`, {
    hint: `expected ${expected}: check that the base URL belongs to the API; its routes are documented at {base URL}${PATHS.reference}`,
  });
}
