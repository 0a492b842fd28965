/** Interprets one page of a list. The shapes of lists vary (service interface, sections 4.3 and 9). Pure. */
import { LIMITS } from '../contract.ts';
import { printable, shortened } from '../report/words/visible.ts';

/** An object as returned by a route; its members are not known. */
export type Fields = Readonly<Record<string, unknown>>;

/** Parameters of a request. */
export type Query = Readonly<Record<string, string | number>>;

const ITEM_KEYS = ['data', 'items', 'results', 'pipelines', 'users', 'platformUsers', 'records', 'content', 'rows'];

/**
 * A bare array, or the only list in an object, with or without a `{success, data}` wrapper; else a description of the
 * value.
 */
export function itemsIn(value: unknown): readonly unknown[] | string {
  if (Array.isArray(value)) return value as unknown[];
  if (!isFields(value)) return describe(value);
  const known = ITEM_KEYS.find((key) => Array.isArray(value[key]));
  if (known !== undefined) return value[known] as unknown[];
  const lists = Object.values(value).filter((member): member is unknown[] => Array.isArray(member));
  if (lists.length === 1) return lists[0]!;
  if (lists.length === 0 && isFields(value.data)) return itemsIn(value.data);
  return `an object with ${keysOf(value)}, which contains ${lists.length === 0 ? 'no list' : 'more than one list'}`;
}

const TOTAL_KEYS = ['total', 'totalCount', 'total_count', 'totalItems', 'total_items', 'totalRecords', 'totalElements'];

/** Number of items in the whole list, if the page says. */
export function totalIn(body: unknown): number | undefined {
  for (const layer of layersOf(body)) {
    for (const key of TOTAL_KEYS) {
      const total = typeof layer[key] === 'string' && /^\d+$/.test(layer[key]) ? Number(layer[key]) : layer[key];
      if (typeof total === 'number' && Number.isInteger(total) && total >= 0) return total;
    }
  }
  return undefined;
}

const MORE_KEYS = ['hasMore', 'has_more', 'hasNextPage', 'has_next_page', 'hasNext', 'has_next'];

/** Whether the page says that more items follow; undefined if it does not say. */
export function hasMore(body: unknown): boolean | undefined {
  for (const layer of layersOf(body)) {
    const key = MORE_KEYS.find((each) => typeof layer[each] === 'boolean');
    if (key !== undefined) return layer[key] as boolean;
  }
  return undefined;
}

/** In order of precedence: a bare `cursor` may belong to the page itself. */
const CURSOR_KEYS = ['nextCursor', 'next_cursor', 'endCursor', 'end_cursor', 'next', 'cursor'];

/**
 * The parameters that request the next page, if the page announces one by a cursor or a link. The number of a page is no
 * cursor (`next: 2`).
 */
export function nextIn(body: unknown): Query | undefined {
  if (hasMore(body) === false) return undefined;
  const layers = layersOf(body);
  for (const key of CURSOR_KEYS) {
    for (const { [key]: member } of layers) {
      const value = isFields(member) ? (member.cursor ?? member.href ?? member.after) : member;
      if (typeof value === 'number' && key !== 'next') return byCursor(value);
      if (typeof value !== 'string' || value.trim() === '') continue;
      const link = /^(?:https?:\/\/|\/|\?)[^?]*(\?[^#]*)?/i.exec(value);
      if (!link) return byCursor(value);
      if (link[1] !== undefined) return Object.fromEntries(new URLSearchParams(link[1]));
    }
  }
  return undefined;
}

function byCursor(cursor: string | number): Query {
  return { limit: LIMITS.pageSize, cursor };
}

const WRAPPERS = ['data', 'pagination', 'paging', 'meta', 'cursor', 'cursors', 'page', 'pageInfo', 'page_info'];
const LINKS = ['links', '_links'];

/** The object of the page and the objects in it that may say something about the whole list. */
function layersOf(body: unknown, depth = 0): Fields[] {
  if (!isFields(body) || depth > 3) return [];
  return [body, ...[...WRAPPERS, ...LINKS].flatMap((key) => layersOf(body[key], depth + 1))];
}

export function describe(value: unknown): string {
  return value === undefined ? 'an empty body' : `\`${shortened(printable(JSON.stringify(value)), 60)}\``;
}

export function idOf(item: Fields): string | undefined {
  const { id } = item;
  if (typeof id === 'number') return String(id);
  return typeof id === 'string' && id !== '' ? id : undefined;
}

export function keysOf(fields: Fields): string {
  const keys = Object.keys(fields).slice(0, 12);
  return keys.length === 0 ? 'no members' : keys.map((key) => `\`${printable(key)}\``).join(', ');
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
