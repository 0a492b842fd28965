/**
 * Reads the pipelines, stages and users that names are resolved against. The shapes of lists vary (service interface,
 * section 9) and most field names are undocumented, so all plausible forms are accepted and anything else is an error.
 */
import type { Account, Pipeline, Stage, User } from './account.ts';
import type { Client } from './client.ts';
import { PATHS } from '../contract.ts';
import { describe, idOf, isFields, keysOf, type Fields } from './list-page.ts';
import { MaybeCut, unknownShape, wholeList, type ReadOptions } from './lists.ts';

interface AccountOptions extends ReadOptions {
  /** Called with what the user should know about the lists. */
  readonly warn?: (message: string) => void;
}

/**
 * The deal pipelines with their stages, and the users: none where their list may be cut, since a name that is unique in a part of it may
 * not be unique. Throws a `UserError` if the service refuses, does not answer after five retries, or returns something else than such a list.
 */
export async function readAccount(client: Client, { warn, ...options }: AccountOptions = {}): Promise<Account> {
  const pipelines = await readList(client, PATHS.pipelines, { type: 'DEAL' }, options);
  const users = await readList(client, PATHS.platformUsers, {}, options).catch((error: unknown) => {
    if (!(error instanceof MaybeCut)) throw error;
    warn?.(`${error.message}, so no owner is looked up`);
    return [];
  });
  return { pipelines: pipelines.filter(isForDeals).map(readPipeline), users: users.map(readUser) };
}

/** All items of a list, each with its `id` as text. Errors as in `readAccount`. */
async function readList(
  client: Client,
  path: string,
  query: Readonly<Record<string, string>>,
  options: ReadOptions = {},
): Promise<(Fields & { readonly id: string })[]> {
  const items = await wholeList(client, path, query, options);
  return items.map((item) => {
    if (!isFields(item)) throw unknownShape(path, `a list of ${describe(item)}`);
    const id = idOf(item);
    if (id === undefined) throw unknownShape(path, `an item without \`id\` (it has ${keysOf(item)})`);
    return { ...item, id };
  });
}

/** Drops other types even if the service ignored the filter; keeps a pipeline without a type. */
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
  if (key === undefined) throw unknownShape(PATHS.pipelines, `${where} without stages (it has ${keysOf(pipeline)})`);
  const stages = readStages(pipeline[key] as unknown[], where);
  return { id: pipeline.id, name, type: 'DEAL', stages, ...inactiveIn([pipeline]) };
}

/** In the order of their numbers if the service numbers all of them; otherwise in the order of the answer. */
function readStages(list: readonly unknown[], where: string): Stage[] {
  const stages = list.filter(isFields);
  const orderKey = ORDER_KEYS.find((key) => stages.every((stage) => typeof stage[key] === 'number'));
  const ordered = orderKey ? stages.toSorted((a, b) => (a[orderKey] as number) - (b[orderKey] as number)) : stages;
  return ordered.map((stage) => {
    const id = idOf(stage);
    const name = textIn(stage, NAME_KEYS);
    if (id !== undefined && name !== undefined) return { id, name, ...inactiveIn([stage]) };
    throw unknownShape(PATHS.pipelines, `${where} with a stage without id or name (it has ${keysOf(stage)})`);
  });
}

const USER_NAME_KEYS = ['fullName', 'name', 'displayName', 'full_name', 'display_name', 'username', 'userName'];
const FIRST_NAME_KEYS = ['firstName', 'first_name', 'givenName'];
const LAST_NAME_KEYS = ['lastName', 'last_name', 'surname', 'familyName'];
const EMAIL_KEYS = ['email', 'emailAddress', 'mail', 'userEmail'];

/** The names may be members of the user itself or of a nested `user` or `profile`. */
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
  return { id: user.id, names: [...unique], ...(email === undefined ? {} : { email }), ...inactiveIn(layers) };
}

/** What the names of members say, in any case and with or without `_`: `isActive`, `is_deleted`, `archivedAt`. */
const IN_USE = /^(?:is)?(?:active|enabled)$/;
const NOT_IN_USE = [
  ['deleted', /^(?:is)?deleted(?:at)?$/],
  ['archived', /^(?:is)?archived(?:at)?$/],
  ['closed', /^(?:is)?closed(?:at)?$/],
  ['inactive', /^(?:is)?(?:inactive|disabled|deactivated|suspended)(?:at)?$/],
] as const;
const STATUS = /^(?:status|state|userstatus|lifecycle)$/;
const INACTIVE =
  /^(?:inactive|disabled|deactivated|suspended|blocked|deleted|archived|removed|former|closed|retired|obsolete)$/;
/** A stage in which deals end: its deals are closed, not the stage. */
const OUTCOME = /^(?:is)?(?:won|lost|outcome|(?:win)?probability)$/;

/**
 * The keys and values that mean "not in use" for a user, stage or pipeline, in any plausible form: the form of the service is not
 * published.
 */
function inactiveIn(layers: readonly Fields[]): { readonly inactive?: string } {
  const members = layers.flatMap((layer) =>
    Object.entries(layer).map(([name, value]) => [name.toLowerCase().replaceAll('_', ''), value] as const),
  );
  const isOutcome = members.some(([name, value]) => OUTCOME.test(name) && value !== undefined && value !== null);
  const found = members.flatMap(([name, value]): string[] => {
    const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
    if (STATUS.test(name) && INACTIVE.test(text)) return [text];
    if (IN_USE.test(name) && value === false) return ['inactive'];
    const isSet = value === true || (text !== '' && text !== 'false');
    return isSet ? NOT_IN_USE.flatMap(([what, pattern]) => (pattern.test(name) ? [what] : [])) : [];
  });
  const order = ['archived', 'deleted'];
  const [inactive] = found
    .filter((what) => !(isOutcome && what === 'closed'))
    .sort((one, other) => order.indexOf(other) - order.indexOf(one));
  return inactive === undefined ? {} : { inactive };
}

function textIn(fields: Fields, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = fields[key];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return undefined;
}
