import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { codeOf, messageOf, UserError } from './errors.ts';
import { ENTITIES, EVENT_TYPES, entityOf, type EventType } from './model.ts';
import { didYouMean } from './problem.ts';
import { Secret } from './redact.ts';
import { LIMITS, PATHS } from './service/contract.ts';

/** Requests per sliding window. */
export interface Rate {
  readonly requests: number;
  readonly seconds: number;
}

export type Tolerance = { readonly count: number } | { readonly percent: number };

export interface Pick {
  readonly entity: 'lead' | 'deal';
  readonly externalId: string;
}

/** A value of the command line, given once and not empty. */
export function option<T>(expected: string, parse: (text: string) => T | undefined) {
  return z.preprocess(
    (given) => (typeof given === 'number' ? String(given) : given),
    z.union([z.string(), z.array(z.unknown())]).transform((given, context): T => {
      if (typeof given !== 'string') {
        context.addIssue({ code: 'custom', message: 'is given more than once' });
        return z.NEVER;
      }
      const value = given.trim() === '' ? undefined : parse(given.trim());
      if (value !== undefined) return value;
      context.addIssue({ code: 'custom', message: `\`${given}\` is not ${expected}` });
      return z.NEVER;
    }),
  );
}

export function number(expected: string, least: number, whole = true) {
  return option(expected, (text) => {
    const value = Number(text);
    return /^\d+(\.\d+)?$/.test(text) && value >= least && (!whole || Number.isInteger(value)) ? value : undefined;
  });
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `30m`, `12h`, `2d` in milliseconds. */
export const duration = option('a duration like `90s`, `30m`, `12h` or `2d`', (text) => {
  const match = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text);
  return match ? Number(match[1]) * UNITS[match[2]!]! : undefined;
});

export const rate = option('a rate like `100/60s`', (text): Rate | undefined => {
  const match = /^(\d+)\/(\d+(?:\.\d+)?)s$/.exec(text);
  const parsed = match && { requests: Number(match[1]), seconds: Number(match[2]) };
  return parsed && parsed.requests > 0 && parsed.seconds > 0 ? parsed : undefined;
});

const tolerance = option('a number or a percentage like `5%`', (text): Tolerance | undefined => {
  const match = /^(\d+(?:\.\d+)?)(%?)$/.exec(text);
  if (!match) return undefined;
  const value = Number(match[1]);
  if (match[2] === '%') return value <= 100 ? { percent: value } : undefined;
  return Number.isInteger(value) ? { count: value } : undefined;
});

/** `06:00`: the next time it is that late here; or an ISO 8601 time. */
const until = option('a time like `06:00` or `2026-01-31T06:00:00+01:00`', (text): Date | undefined => {
  const clock = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text);
  if (clock) {
    const time = new Date();
    time.setHours(Number(clock[1]), Number(clock[2]), 0, 0);
    if (time.getTime() <= Date.now()) time.setDate(time.getDate() + 1);
    return time;
  }
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? new Date(text) : new Date(Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time;
});

export const many = z.preprocess((given) => (given === undefined ? [] : [given].flat()), z.array(z.coerce.string()));

/** `NAME=PATH`, repeatable. */
export const pairs = many.transform((texts, context): ReadonlyMap<string, string> => {
  const map = new Map<string, string>();
  for (const text of texts) {
    const at = text.indexOf('=');
    if (at < 1 || at === text.length - 1) context.addIssue({ code: 'custom', message: `\`${text}\` is not NAME=PATH` });
    else if (map.has(text.slice(0, at)))
      context.addIssue({ code: 'custom', message: `\`${text}\` names a source twice` });
    else map.set(text.slice(0, at), resolve(text.slice(at + 1)));
  }
  return map;
});

const picks = many.transform((texts, context): readonly Pick[] =>
  texts.flatMap((text) => {
    const match = /^(lead|deal):(.+)$/.exec(text);
    if (match) return [{ entity: match[1] as Pick['entity'], externalId: match[2]! }];
    context.addIssue({ code: 'custom', message: `\`${text}\` is neither lead:ID nor deal:ID` });
    return [];
  }),
);

const only = many.transform((texts, context): readonly EventType[] => {
  const names = texts.flatMap((text) => text.split(',')).map((name) => name.trim());
  const types = names.flatMap((name) => {
    const found = EVENT_TYPES.filter((type) => type === name || entityOf(type) === name);
    if (found.length > 0) return found;
    const near = didYouMean(name, [...EVENT_TYPES, ...ENTITIES]) ?? `known are ${[...EVENT_TYPES].join(', ')}`;
    context.addIssue({ code: 'custom', message: `\`${name}\` is no event type; ${near}` });
    return [];
  });
  return names.length === 0 ? EVENT_TYPES : EVENT_TYPES.filter((type) => types.includes(type));
});

export const flag = z.boolean().default(false);
export const text = option('a text', (value) => value);

/** Where the rate limit is shared. What is on a command line anybody on the machine can read, so no password. */
const redis = text.transform((url, context): Secret => {
  const { fault, secrets } = readRedisUrl(url);
  const problem =
    fault ?? (secrets.length > 0 ? 'holds a password: put the URL into BACKFILL_REDIS_URL instead' : undefined);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: `the URL ${problem}` });
  return new Secret(url);
});

/** How every command that asks the service reaches it, and how fast. */
export const connection = z.object({
  baseUrl: text.optional(),
  envFile: text.optional(),
  rate: rate.optional(),
  reserve: number('a whole number, 0 or more', 0).default(0),
  concurrency: number('a whole number above 0', 1).default(10),
  timeout: number('a number of seconds above 0', 0.001, false).default(30),
  redis: redis.optional(),
});

/** Every option of `run`, as yargs hands them in, checked; defaults are those of the README's table. */
const runOptions = z.object({
  mapping: z.string(),
  source: pairs,
  fix: pairs,
  state: text.optional(),
  dryRun: flag,
  offline: flag,
  sandbox: flag,
  ...connection.shape,
  maxErrors: tolerance.default({ count: 100 }),
  maxOutage: duration.default(12 * UNITS.h!),
  limit: number('a whole number above 0', 1).optional(),
  plan: option('the 12 hexadecimal digits that a dry run printed', (given) =>
    /^[0-9a-f]{12}$/i.test(given) ? given.toLowerCase() : undefined,
  ).optional(),
  pick: picks,
  only,
  until: until.optional(),
  maxRequests: number('a whole number above 0', 1).optional(),
  maxRejectionsInARow: number('a whole number, 0 or more', 0).default(25),
  takeOver: flag,
  adopt: flag,
  json: flag,
  progress: z.boolean().default(true),
  verbose: flag,
  quiet: flag,
});
export type RunSettings = z.infer<typeof runOptions>;
/** What a connection to the service needs to know. */
export type Pace = Omit<z.infer<typeof connection>, 'baseUrl' | 'envFile'>;

/** Throws a `UserError` (exit 2) that names every option that is wrong. */
export function runSettings(argv: Readonly<Record<string, unknown>>): RunSettings {
  const settings = parseOptions(runOptions, argv);
  if (settings.limit !== undefined && settings.pick.length > 0) {
    throw new UserError('--limit and --pick are two ways to choose a pilot; give one of them');
  }
  if (settings.offline && !settings.dryRun)
    throw new UserError('--offline goes with --dry-run: sending needs the network');
  return settings;
}

export function parseOptions<S extends z.ZodType>(schema: S, argv: Readonly<Record<string, unknown>>): z.infer<S> {
  const parsed = schema.safeParse(argv, { jitless: true });
  if (parsed.success) return parsed.data;
  const wrong = parsed.error.issues.map(({ path, message }) => `--${kebab(String(path[0]))}: ${message}`);
  throw new UserError(wrong.join('\n'), { hint: 'see --help' });
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export const DEFAULT_RATE: Rate = { requests: LIMITS.requestsPerWindow, seconds: LIMITS.windowSeconds };

/** Where the service is, and the key that its REST routes ask for (service interface, section 5). */
export interface RestCredentials {
  readonly baseUrl: string;
  /** What a checkpoint is bound to instead of the base URL, where that is another one each time. */
  readonly boundTo?: string;
  readonly apiKey: Secret;
  /** Not asked for, but known: it must not be shown. */
  readonly ingestToken: Secret | undefined;
  /** Where the limit of the key is shared with other processes, unless `--redis` says so. */
  readonly redis?: Secret;
  /** What else must not be shown. */
  readonly otherSecrets?: readonly Secret[];
}

/** The webhook asks for a second secret. */
export interface Credentials extends RestCredentials {
  readonly ingestToken: Secret;
}

export interface Environment {
  readonly [name: string]: string | undefined;
}

/** The process's environment over a `.env` file: the one named, which must exist, or `.env` here, which may not. */
export function readEnvironment(envFile: string | undefined, env: Environment = process.env): Environment {
  try {
    return { ...parseEnv(readFileSync(envFile ?? '.env', 'utf8')), ...env };
  } catch (error) {
    if (envFile === undefined && codeOf(error) === 'ENOENT') return env;
    throw new UserError(`cannot read ${envFile ?? '.env'}: ${messageOf(error)}`, { cause: error });
  }
}

/** Throws a `UserError` that names what is missing, and never the value of what is wrong. */
export function credentials(baseUrlOption: string | undefined, env: Environment): Credentials {
  const found = given(baseUrlOption, env, { token: true });
  return { ...found, ingestToken: found.ingestToken! };
}

/** The same for commands that send no event. */
export function restCredentials(baseUrlOption: string | undefined, env: Environment): RestCredentials {
  return given(baseUrlOption, env, { token: false });
}

function given(baseUrlOption: string | undefined, env: Environment, needs: { token: boolean }): RestCredentials {
  const copied = env.BACKFILL_INGEST_URL ? splitIngestUrl(env.BACKFILL_INGEST_URL) : undefined;
  const base = baseUrlOption ?? env.BACKFILL_BASE_URL ?? copied?.baseUrl;
  const token = env.BACKFILL_INGEST_TOKEN || copied?.token;
  const key = env.BACKFILL_API_KEY;
  const missing = [
    ...(base ? [] : ['the base URL (--base-url, BACKFILL_BASE_URL or BACKFILL_INGEST_URL)']),
    ...(key ? [] : ['the API key (BACKFILL_API_KEY)']),
    ...(token || !needs.token ? [] : ['the ingestion token (BACKFILL_INGEST_TOKEN or BACKFILL_INGEST_URL)']),
  ];
  if (!base || !key || missing.length > 0) {
    throw new UserError(`missing: ${missing.join('; ')}`, {
      hint: 'set them in the environment or in a .env file; rehearse without any with --sandbox',
    });
  }
  for (const [name, value] of [['BACKFILL_API_KEY', key] as const, ['BACKFILL_INGEST_TOKEN', token] as const]) {
    if (value && !/^[\x21-\x7e]+$/.test(value))
      throw new UserError(`${name} holds white space or characters outside ASCII`);
  }
  const redisUrl = env.BACKFILL_REDIS_URL;
  const shared = redisUrl ? readRedisUrl(redisUrl) : undefined;
  if (shared?.fault !== undefined) throw new UserError(`BACKFILL_REDIS_URL ${shared.fault}`);
  return {
    baseUrl: checkBaseUrl(base),
    apiKey: new Secret(key),
    ingestToken: token ? new Secret(token) : undefined,
    ...(redisUrl && shared ? { redis: new Secret(redisUrl), otherSecrets: shared.secrets } : {}),
  };
}

/** What is wrong with a Redis URL, and what in it must not be shown. */
function readRedisUrl(given: string): { readonly fault?: string; readonly secrets: readonly Secret[] } {
  if (!URL.canParse(given)) return { fault: 'is not a URL; it looks like redis://host:6379', secrets: [] };
  const { protocol, password, hostname, searchParams } = new URL(given);
  if (!/^rediss?:$/.test(protocol) || hostname === '') {
    return { fault: 'is not a Redis URL; it looks like redis://host:6379 or rediss://host:6379', secrets: [] };
  }
  if (password === '' && searchParams.size === 0) return { secrets: [] };
  let plain = password;
  try {
    plain = decodeURIComponent(password);
  } catch {
    // Not encoded.
  }
  // What follows `?` are options of the client, and may be a password too.
  return { secrets: [given, password, plain, ...searchParams.values()].map((text) => new Secret(text)) };
}

/** The base URL without a slash at its end; https, or http to this machine. */
export function checkBaseUrl(given: string): string {
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    throw new UserError('the base URL is not a URL', { hint: 'it looks like https://api.example.com' });
  }
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && local)) {
    throw new UserError(`the base URL begins with ${url.protocol}//; the API key goes over https only`, {
      hint: 'plain http is taken for this machine alone',
    });
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new UserError('the base URL carries more than host and path', {
      hint: 'it looks like https://api.example.com',
    });
  }
  if (url.pathname.includes(PATHS.ingest)) {
    throw new UserError('the base URL is the ingestion URL', {
      hint: 'put the whole URL into BACKFILL_INGEST_URL instead',
    });
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function splitIngestUrl(copied: string): { baseUrl: string; token: string } {
  const match = /^(.*)\/webhooks\/ingest\/([^/?#\s]+)\/?$/.exec(copied.trim());
  if (match) return { baseUrl: match[1]!, token: decodeURIComponent(match[2]!) };
  throw new UserError('BACKFILL_INGEST_URL does not end in /webhooks/ingest/<token>', {
    hint: "copy the whole URL from the dashboard's developer section",
  });
}
