import { statSync } from 'node:fs';
import { readEnvFile, type Environment } from './env-file.ts';
import { UserError } from '../errors.ts';
import { Secret } from '../redact.ts';
import { PATHS } from '../contract.ts';

/** Replaces the base URL of a rehearsal, because the sandbox has another port each time. */
export const SANDBOX = 'sandbox';

/** The base URL of the service and the key of its REST routes (service interface, section 5). */
export interface RestCredentials {
  readonly baseUrl: string;
  /** The checkpoint is bound to this instead of the base URL, for a service whose URL changes with each run. */
  readonly boundTo?: string;
  readonly apiKey: Secret;
  /** Not needed by REST routes, but if it is known it must not be shown. */
  readonly ingestToken: Secret | undefined;
}

/** The ingestion webhook needs a second secret. */
export interface Credentials extends RestCredentials {
  readonly ingestToken: Secret;
}

/** Common servers accept 8 KiB for a header or a URL as a whole. */
const MAX_SECRET = 4096;

/** Where the service is, and what opens it. */
const SERVICE = ['BACKFILL_BASE_URL', 'BACKFILL_INGEST_URL', 'BACKFILL_API_KEY', 'BACKFILL_INGEST_TOKEN'] as const;

/**
 * The process's environment, which takes precedence, and a file: `named`, which must exist, or `.env` in the
 * working directory, which need not. URL, key and token come from one of the two: otherwise a `.env` in the working directory
 * could send the key of the environment to another host. `warn` is called if the ones in the file are ignored.
 */
export function readEnvironment(
  named: string | undefined,
  warn: (message: string) => void,
  env: Environment = process.env,
): Environment {
  if (named === undefined && !statSync('.env', { throwIfNoEntry: false })?.isFile()) return env;
  const path = named ?? '.env';
  const file = readEnvFile(path);
  const present = SERVICE.find((name) => env[name]);
  const ignored = SERVICE.filter((name) => file[name] && file[name] !== env[name]);
  if (present !== undefined && ignored.length > 0) {
    warn(
      `${ignored.join(', ')} in ${path} ${ignored.length === 1 ? 'is' : 'are'} ignored, because the environment has ${present}: ` +
        'the URL, the key and the token are taken from one place',
    );
  }
  const source = present === undefined ? file : env;
  return { ...file, ...env, ...Object.fromEntries(SERVICE.map((name) => [name, source[name]])) };
}

/** Throws a `UserError` with the lines that are missing, and never repeats a value. */
export function credentials(baseUrlOption: string | undefined, env: Environment): Credentials {
  return read(baseUrlOption, env, true) as Credentials;
}

/** The same for commands that send no events. */
export function restCredentials(baseUrlOption: string | undefined, env: Environment): RestCredentials {
  return read(baseUrlOption, env, false);
}

const COPY = 'copy it again from the developer section of the dashboard';

function read(baseUrlOption: string | undefined, env: Environment, needsToken: boolean): RestCredentials {
  const copied = env.BACKFILL_INGEST_URL ? splitIngestUrl(env.BACKFILL_INGEST_URL) : undefined;
  const base = baseUrlOption ?? (env.BACKFILL_BASE_URL || copied?.baseUrl);
  const token = env.BACKFILL_INGEST_TOKEN || copied?.token;
  const key = env.BACKFILL_API_KEY ?? '';
  const missing = [
    ...(key ? [] : ['BACKFILL_API_KEY=…']),
    ...(base && (token || !needsToken) ? [] : [`BACKFILL_INGEST_URL=https://…${PATHS.ingest}/…`]),
  ];
  if (!base || missing.length > 0) {
    // Only a run has a sandbox of its own.
    const trial = needsToken ? '\nto try without an account, add --sandbox' : '';
    throw new UserError('no credentials', {
      hint: `put ${missing.length === 1 ? 'this line' : 'these two lines'} into .env (Dashboard > Developers):\n${missing.join('\n')}${trial}`,
    });
  }
  for (const [name, value = ''] of [['BACKFILL_API_KEY', key] as const, ['BACKFILL_INGEST_TOKEN', token] as const]) {
    if (!/^[\x21-\x7e]*$/.test(value))
      throw new UserError(`${name} contains white space, control characters or characters that are not ASCII`);
    if (value.length > MAX_SECRET)
      throw new UserError(`${name} has ${value.length} characters, more than a request can carry`, { hint: COPY });
  }
  const ingestToken = token ? new Secret(token) : undefined;
  return { baseUrl: checkBaseUrl(base), apiKey: new Secret(key), ingestToken };
}

/** The base URL without a trailing slash; https, or http for this machine. */
export function checkBaseUrl(given: string): string {
  const like = 'expected something like https://api.example.com';
  const refuse = (what: string, hint = like): never => {
    throw new UserError(`the base URL ${what}`, { hint });
  };
  const url = URL.canParse(given) ? new URL(given) : refuse('is not a valid URL');
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)) {
    const what = `uses ${url.protocol}//, but the API key is sent over https only`;
    refuse(what, 'plain http is accepted for this machine only');
  }
  if (url.username || url.password || url.search || url.hash) refuse('contains more than host and path');
  if (url.pathname.includes(PATHS.ingest)) {
    refuse('is the ingestion URL', 'set the whole URL in BACKFILL_INGEST_URL instead');
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function splitIngestUrl(copied: string): { baseUrl: string; token: string } {
  const [, baseUrl, encoded = ''] = /^(.*)\/webhooks\/ingest\/([^/?#\s]+)\/?$/.exec(copied.trim()) ?? [];
  const token = percentDecoded(encoded);
  if (baseUrl !== undefined && token !== undefined && percentDecoded(baseUrl) !== undefined) return { baseUrl, token };
  const what =
    baseUrl === undefined
      ? 'does not end in /webhooks/ingest/<token>'
      : 'contains a `%` that does not encode a character';
  throw new UserError(`BACKFILL_INGEST_URL ${what}`, { hint: COPY });
}

/** Undefined for text with invalid escape sequences. */
export function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
