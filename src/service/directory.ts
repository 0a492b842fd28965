/**
 * Reads what mapped names are resolved against. List shapes are not uniform (service interface, section 9) and most field
 * names are not documented, so everything plausible is understood and the rest is said.
 */
import { systemClock, type Clock } from '../clock.ts';
import { UserError } from '../errors.ts';
import type { Account, Pipeline, Stage, User } from './account.ts';
import type { Client } from './client.ts';
import { LIMITS, PATHS } from './contract.ts';
import { parseJson, type Reply } from './reply.ts';
import { retried } from './retry.ts';

type Fields = Readonly<Record<string, unknown>>;

/** No account comes near; a list that never ends is a mistake somewhere. */
const MOST_PAGES = 1_000;

/**
 * The deal pipelines with their stages, and the users. Throws a `UserError` where the service refuses, stays silent
 * through five retries, or answers something that is no such list.
 */
export async function readAccount(
  client: Client,
  options: { readonly clock?: Clock; readonly signal?: AbortSignal } = {},
): Promise<Account> {
  const pipelines = await readList(client, PATHS.pipelines, { type: 'DEAL' }, options);
  const users = await readList(client, PATHS.platformUsers, {}, options);
  return { pipelines: pipelines.filter(isForDeals).map(readPipeline), users: users.map(readUser) };
}

/**
 * All pages of a list (`page`, `pageSize`), until one brings no new id. Every item has an `id`, as text. Errors as in
 * `readAccount`.
 */
export async function readList(
  client: Client,
  path: string,
  query: Readonly<Record<string, string>>,
  { clock = systemClock, signal }: { readonly clock?: Clock; readonly signal?: AbortSignal } = {},
): Promise<(Fields & { readonly id: string })[]> {
  const found = new Map<string, Fields & { readonly id: string }>();
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const size = found.size;
    const asked = { ...query, page, pageSize: LIMITS.pageSize };
    for (const item of await readPage(client, path, asked, clock, signal)) {
      const id = idOf(item);
      if (id === undefined) throw unknownShape(path, `an item without \`id\`, but with ${keysOf(item)}`);
      if (!found.has(id)) found.set(id, { ...item, id });
    }
    if (found.size === size) return [...found.values()];
  }
  throw unknownShape(path, `more than ${MOST_PAGES} pages`);
}

async function readPage(
  client: Client,
  path: string,
  query: Readonly<Record<string, string | number>>,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<readonly Fields[]> {
  const waiting = signal ? { signal } : {};
  const attempt = await retried(() => client.get(path, query, waiting), { clock, ...waiting });
  switch (attempt.kind) {
    case 'answered':
      return itemsOf(path, attempt.reply);
    case 'unauthorised':
      throw new UserError(`GET ${path}: the service refuses the API key (${attempt.status}): ${attempt.message}`, {
        hint: 'check BACKFILL_API_KEY',
      });
    case 'refused':
      throw new UserError(`GET ${path} was refused (${attempt.status} ${attempt.code}): ${attempt.message}`, {
        hint: attempt.status === 404 ? 'is the base URL complete, and the right one?' : 'see the message',
      });
    case 'rate_limited':
      throw new UserError(`GET ${path} was refused again and again: the rate limit of this key is used up`, {
        hint: 'something else uses the same key: stop it, or leave it room with --reserve',
      });
    case 'unanswered':
      throw new UserError(`GET ${path} got no answer: ${attempt.message}`, {
        hint: attempt.setup
          ? 'check the base URL, and that this machine trusts its certificate'
          : 'is the base URL right, and the service up?',
      });
    case 'withdrawn':
      throw new UserError(`GET ${path} was given up: the run is stopping`);
  }
}

/** A bare array, or the one list in an object, `{success, data}` taken off. */
function itemsOf(path: string, reply: Reply): readonly Fields[] {
  const list = listIn(parseJson(reply.body));
  if (typeof list === 'string') throw unknownShape(path, list);
  const odd = list.find((item) => !isFields(item));
  if (odd !== undefined) throw unknownShape(path, `a list of \`${JSON.stringify(odd)?.slice(0, 60)}\``);
  return list as readonly Fields[];
}

const ITEM_KEYS = ['data', 'items', 'results', 'pipelines', 'users', 'platformUsers', 'records', 'content', 'rows'];

/** The list, or in words what came instead of one. */
function listIn(value: unknown): readonly unknown[] | string {
  if (Array.isArray(value)) return value as unknown[];
  if (!isFields(value)) return value === undefined ? 'an empty answer' : `\`${JSON.stringify(value)}\``;
  const known = ITEM_KEYS.find((key) => Array.isArray(value[key]));
  if (known !== undefined) return value[known] as unknown[];
  const lists = Object.values(value).filter((member): member is unknown[] => Array.isArray(member));
  if (lists.length === 1) return lists[0]!;
  if (lists.length === 0 && isFields(value.data)) return listIn(value.data);
  return `an object with ${keysOf(value)}, in which ${lists.length === 0 ? 'no list' : 'more than one list'} was found`;
}

function unknownShape(path: string, came: string): UserError {
  return new UserError(`GET ${path} answered ${came}`, {
    hint: 'expected a list of objects with ids; is the base URL that of the API?',
  });
}

/** Other types are dropped whatever was asked for; one without a type is taken at the filter's word. */
function isForDeals(pipeline: Fields): boolean {
  const type = textIn(pipeline, ['type', 'pipelineType']);
  return type === undefined || type.toUpperCase() === 'DEAL';
}

const STAGE_KEYS = ['stages', 'pipelineStages', 'stageList', 'columns', 'steps', 'phases', 'statuses'];
const ORDER_KEYS = ['order', 'position', 'index', 'sortOrder', 'displayOrder', 'orderIndex', 'sequence', 'rank'];
const NAME_KEYS = ['name', 'title', 'label', 'displayName'];

function readPipeline(pipeline: Fields & { readonly id: string }): Pipeline {
  const name = textIn(pipeline, NAME_KEYS) ?? pipeline.id;
  const where = `the pipeline \`${name}\``;
  const key = STAGE_KEYS.find((candidate) => Array.isArray(pipeline[candidate]));
  if (key === undefined) throw unknownShape(PATHS.pipelines, `${where} without stages, but with ${keysOf(pipeline)}`);
  return { id: pipeline.id, name, type: 'DEAL', stages: readStages(pipeline[key] as unknown[], where) };
}

/** In the order that the service numbers them in, where it numbers them all; else as they came. */
function readStages(list: readonly unknown[], where: string): Stage[] {
  const stages = list.filter(isFields);
  const orderKey = ORDER_KEYS.find((key) => stages.every((stage) => typeof stage[key] === 'number'));
  const ordered = orderKey ? stages.toSorted((a, b) => (a[orderKey] as number) - (b[orderKey] as number)) : stages;
  return ordered.map((stage) => {
    const id = idOf(stage);
    const name = textIn(stage, NAME_KEYS);
    if (id !== undefined && name !== undefined) return { id, name };
    throw unknownShape(PATHS.pipelines, `${where} with a stage without id or name, but with ${keysOf(stage)}`);
  });
}

const USER_NAME_KEYS = ['fullName', 'name', 'displayName', 'full_name', 'display_name', 'username', 'userName'];
const FIRST_NAME_KEYS = ['firstName', 'first_name', 'givenName'];
const LAST_NAME_KEYS = ['lastName', 'last_name', 'surname', 'familyName'];
const EMAIL_KEYS = ['email', 'emailAddress', 'mail', 'userEmail'];

/** What names a user may stand in the user itself or in a nested `user` or `profile`. */
function readUser(user: Fields & { readonly id: string }): User {
  const layers = [user, user.user, user.profile].filter(isFields);
  const names = layers.flatMap((layer) => {
    const first = textIn(layer, FIRST_NAME_KEYS);
    const last = textIn(layer, LAST_NAME_KEYS);
    const joined = [first, last].filter((part) => part !== undefined).join(' ');
    return [...USER_NAME_KEYS.map((key) => textIn(layer, [key])), joined === '' ? undefined : joined];
  });
  const email = layers.map((layer) => textIn(layer, EMAIL_KEYS)).find((text) => text !== undefined);
  const unique = new Set(names.filter((name) => name !== undefined));
  return { id: user.id, names: [...unique], ...(email === undefined ? {} : { email }) };
}

function idOf(item: Fields): string | undefined {
  const { id } = item;
  if (typeof id === 'number') return String(id);
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function textIn(fields: Fields, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = fields[key];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return undefined;
}

function keysOf(fields: Fields): string {
  const keys = Object.keys(fields);
  return keys.length === 0
    ? 'no members'
    : keys
        .slice(0, 12)
        .map((key) => `\`${key}\``)
        .join(', ');
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
