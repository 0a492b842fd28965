import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parse, stringify } from 'lossless-json';
import { systemClock } from '../clock.ts';
import type { Console } from '../console.ts';
import { EXIT, messageOf, UserError, type ExitCode } from '../errors.ts';
import { tryParseJson } from '../json.ts';
import { parseOptions } from '../options/option.ts';
import type { Client } from '../service/client.ts';
import { HEADERS, LIMITS, PATHS } from '../service/contract.ts';
import { wholeList, type List } from '../service/lists.ts';
import type { Reply } from '../service/error-body.ts';
import type { RestAttempt } from '../service/reply.ts';
import { retried } from '../service/retry.ts';
import { readRoute, type Route } from '../service/route.ts';
import { API, type CommandSettings, type Method } from './definitions.ts';
import type { Argv } from './load.ts';
import { counted } from '../numbers.ts';
import { credentialsOf, openClient } from './service.ts';

/** One call, with what repeating it needs. */
interface ApiRequest {
  readonly method: Method;
  readonly route: Route;
  readonly body: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** `crm-backfill api`: calls a REST route; the response goes to stdout, everything about it to stderr. */
export async function api(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(API, argv);
  refuseMisuse(settings);
  const credentials = credentialsOf(settings, console);
  const { baseUrl, apiKey, ingestToken } = credentials;
  const { method } = settings;
  const call: ApiRequest = {
    method,
    route: readRoute(settings.path, settings.query, { baseUrl, secrets: [apiKey, ingestToken] }),
    body: settings.data === undefined ? undefined : await readData(settings.data),
    idempotencyKey: method === 'POST' ? (settings.idempotencyKey ?? randomUUID()) : undefined,
  };
  warn(call, console);
  const client = await openClient(credentials, settings, console);
  try {
    return settings.paginate ? await printAll(client, call, console) : await printOne(client, call, console);
  } finally {
    await client.close();
  }
}

function refuseMisuse({
  method,
  data,
  paginate,
  write,
  idempotencyKey,
  query,
  path,
}: CommandSettings<typeof API>): void {
  if (method !== 'GET' && !write) {
    throw new UserError(
      `${method} changes data in the service, and automations may fire, since nothing suppresses them here`,
      {
        hint: 'add --write to send it anyway',
      },
    );
  }
  if (method === 'GET' && data !== undefined)
    throw new UserError('a GET has no body: use --data with POST, PUT or PATCH');
  if (method !== 'GET' && paginate) throw new UserError('--paginate requires GET');
  if (method !== 'POST' && idempotencyKey !== undefined) {
    throw new UserError('--idempotency-key requires POST: the service accepts it on no other method');
  }
  const names = [...query.map(([name]) => name), ...new URLSearchParams(path.split('?')[1]).keys()];
  if (paginate && names.some((name) => ['page', 'pageSize', 'limit', 'cursor'].includes(name))) {
    throw new UserError('--paginate sets page, pageSize, limit and cursor itself; leave them out');
  }
}

/** The body exactly as given, so that numbers keep their digits. */
async function readData(given: string): Promise<string> {
  let text = given;
  if (given.startsWith('@')) {
    try {
      text = await readFile(given.slice(1), 'utf8');
    } catch (error) {
      throw new UserError(`cannot read ${given.slice(1)}: ${messageOf(error)}`, { cause: error });
    }
  }
  if (tryParseJson(text) === undefined) {
    throw new UserError('--data is not valid JSON', {
      hint: 'quote it for the shell: --data \'{"a":1}\', or use --data @file.json',
    });
  }
  if (Buffer.byteLength(text) > LIMITS.bodyBytes) throw new UserError('--data is larger than the limit of 10 MB');
  return text;
}

/** Service interface, section 9. */
const LEGACY = 'external';
const SUNSET = '2026-12-31 23:59:59 GMT';

function warn({ method, route, idempotencyKey }: ApiRequest, console: Console): void {
  if (route.segments[0]?.toLowerCase() === LEGACY) {
    const successor = `/${route.segments.slice(1).join('/')}`;
    console.complain(
      `warning: /${LEGACY}/* is deprecated and ends on ${SUNSET}; use ${successor} (its responses have no envelope)`,
    );
  }
  if (method !== 'GET') console.complain('warning: this is a write like one in the dashboard, so automations may fire');
  if (idempotencyKey !== undefined) console.say(`Idempotency-Key: ${idempotencyKey}`);
}

async function printOne(client: Client, call: ApiRequest, console: Console): Promise<ExitCode> {
  const attempt = await perform(client, call);
  const reply = 'reply' in attempt ? attempt.reply : undefined;
  if (!reply) {
    const key = call.idempotencyKey;
    throw new UserError(`no response: ${attempt.kind === 'unanswered' ? attempt.message : attempt.kind}`, {
      exitCode: EXIT.finishedWithErrors,
      ...(key === undefined
        ? {}
        : { hint: `it may have arrived; to retry safely within a day, add --idempotency-key ${key}` }),
    });
  }
  console.say(`HTTP ${reply.status}`);
  sayHeaders(reply.headers, console);
  printBody(reply.body, console);
  const isOk = reply.status >= 200 && reply.status < 300;
  const explained = EXPLAINED[reply.status];
  if (!isOk && explained) console.complain(`${reply.status}: ${explained}`);
  return isOk ? EXIT.done : EXIT.finishedWithErrors;
}

/** All items as one array, or nothing if any page fails. */
async function printAll(client: Client, { route }: ApiRequest, console: Console): Promise<ExitCode> {
  let list: List;
  try {
    list = await wholeList(client, route.target, {});
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // Requests were sent, so the exit code is not that of a usage error.
    const { message, hint } = error;
    throw new UserError(message, { ...(hint ? { hint } : {}), exitCode: EXIT.finishedWithErrors, cause: error });
  }
  sayHeaders(list.headers, console);
  console.say(`${counted(list.items.length, 'item')} on ${counted(list.pages, 'page')}`);
  console.printJson(JSON.stringify(list.items, null, 2));
  return EXIT.done;
}

/** Retries only what is safe to retry: a GET, and a POST with its key (service interface, section 8). */
async function perform(client: Client, { method, route, body, idempotencyKey }: ApiRequest): Promise<RestAttempt> {
  const isOpen = method === 'GET' && route.segments.length === 1 && OPEN.includes(`/${route.segments[0]}`);
  const request = async (): Promise<RestAttempt> => {
    const attempt = isOpen
      ? await client.getOpen(route.target)
      : await client.request(method, route.target, {
          ...(body === undefined ? {} : { body }),
          ...(idempotencyKey === undefined ? {} : { headers: { [HEADERS.idempotencyKey]: idempotencyKey } }),
        });
    return isFinal(attempt) ? { kind: 'answered', reply: attempt.reply } : attempt;
  };
  const mayRepeat = method === 'GET' || idempotencyKey !== undefined;
  return retried(request, { clock: systemClock, retries: mayRepeat ? 5 : 0 });
}

/** Section 5. */
const OPEN: readonly string[] = [PATHS.health, PATHS.version];

/** Whether this is a response that only events cannot have: a web page or a redirect may be what the user asked for. */
function isFinal(attempt: RestAttempt): attempt is Extract<RestAttempt, { kind: 'unanswered' }> & { reply: Reply } {
  if (attempt.kind !== 'unanswered' || !attempt.reply) return false;
  const { status } = attempt.reply;
  return status < 500 && status !== 408 && status !== 425;
}

const SHOWN = [HEADERS.limit, HEADERS.remaining, HEADERS.retryAfter, 'location'] as const;
const ENDING = ['deprecation', 'sunset', 'link'] as const;

function sayHeaders(headers: Reply['headers'], console: Console): void {
  for (const name of SHOWN) if (headers[name] !== undefined) console.say(`${name}: ${headers[name]}`);
  if (headers.deprecation === undefined && headers.sunset === undefined) return;
  const shown = ENDING.filter((name) => headers[name] !== undefined).map((name) => `${name}: ${headers[name]}`);
  console.complain(`warning: the service is retiring this route (${shown.join('; ')})`);
}

/** Service interface, section 7.1. */
const EXPLAINED: Readonly<Record<number, string>> = {
  401: 'the API key is missing or invalid; check BACKFILL_API_KEY and that the base URL belongs to the same service',
  403: 'this belongs to another account; a key gives access to the records of one account only',
  404: 'no such route, or no record with this id in the account; check the path, the id and the base URL',
  409: 'it conflicts with existing data',
  422: 'the service cannot process it; if it mentions the Idempotency-Key, that key was used with a different body before',
  429: 'the rate limit of this key is exhausted, by this or another program',
};

/** Indented JSON, numbers digit by digit; anything else as it is. */
function printBody(body: string, console: Console): void {
  if (body === '') return;
  let json: string | undefined;
  try {
    json = stringify(parse(body), undefined, 2);
  } catch {
    json = undefined;
  }
  if (json === undefined) console.print(body);
  else console.printJson(json);
}
