import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parse, stringify } from 'lossless-json';
import { systemClock } from '../clock.ts';
import type { Console } from '../report/print/console.ts';
import { EXIT, messageOf, UserError, type ExitCode } from '../errors.ts';
import { tryParseJson } from '../json.ts';
import { parseOptions } from '../settings/parse-options.ts';
import { retirementIn, type Client } from '../service/client.ts';
import { HEADERS, LIMITS, PATHS } from '../contract.ts';
import { isFields } from '../service/list-page.ts';
import { wholeList, type List } from '../service/lists.ts';
import { errorOf, type Reply } from '../service/error-body.ts';
import type { RestAttempt } from '../service/reply.ts';
import { retried } from '../service/retry.ts';
import { readRoute } from '../service/route.ts';
import { counted } from '../report/words/numbers.ts';
import { inSentence } from '../report/words/sentence.ts';
import { meaningOf } from '../report/words/words.ts';
import { credentialsOf, openClient } from './service.ts';
import type { Argv, CommandSettings } from './command.ts';
import { api as definition } from './definitions.ts';

/** One call, with what repeating it needs. */
interface ApiRequest {
  readonly method: CommandSettings<typeof definition>['method'];
  /** Relative to the base URL, with its query. */
  readonly route: string;
  readonly body: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** It needs no credentials (service interface, section 5). */
  readonly isOpen: boolean;
}

/** `crm-backfill api`: calls a REST route; the response goes to stdout, everything about it to stderr. */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(definition, argv);
  refuseMisuse(settings);
  const { method, path, idempotencyKey } = settings;
  const isOpen = method === 'GET' && OPEN.includes(path.replace(/\/?(?:\?.*)?$/s, ''));
  const credentials = credentialsOf(settings, console, { isOpen });
  const { baseUrl, apiKey, ingestToken } = credentials;
  const call: ApiRequest = {
    method,
    isOpen,
    route: readRoute(path, settings.query, { baseUrl, secrets: [apiKey, ingestToken] }),
    body: settings.data === undefined ? undefined : await readData(settings.data),
    idempotencyKey: method === 'POST' ? (idempotencyKey ?? randomUUID()) : undefined,
  };
  warn(call, console);
  const client = openClient(credentials, settings, console);
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
}: CommandSettings<typeof definition>): void {
  if (method !== 'GET' && !write) {
    throw new UserError(
      `${method} changes data in the service, and automations may fire, because nothing suppresses them here`,
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

/** References to users that the service sets itself (section 2.2). */
const NOT_WRITABLE: readonly string[] = ['ownerId', 'createdBy'];

function warn({ method, body, idempotencyKey }: ApiRequest, console: Console): void {
  if (method === 'GET') return;
  console.complain('warning: this is a write like one in the dashboard, so automations may fire');
  const given = tryParseJson(body ?? '');
  const dropped = isFields(given) ? NOT_WRITABLE.filter((name) => name in given) : [];
  if (dropped.length > 0) {
    const why = 'and sets the owner of the account: a user cannot be chosen in a write';
    console.complain(`warning: the service ignores ${dropped.join(' and ')}, ${why}`);
  }
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
  if (!isOk) explain(reply, console);
  return isOk ? EXIT.done : EXIT.finishedWithErrors;
}

/** All items as one array, or nothing if any page fails. */
async function printAll(client: Client, { route }: ApiRequest, console: Console): Promise<ExitCode> {
  let list: List;
  try {
    list = await wholeList(client, route, {});
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

/** Only a GET, and a POST with its key, may be executed twice (service interface, section 8). */
async function perform(
  client: Client,
  { method, route, body, idempotencyKey, isOpen }: ApiRequest,
): Promise<RestAttempt> {
  const request = async (): Promise<RestAttempt> => {
    const attempt = isOpen
      ? await client.getOpen(route)
      : await client.request(method, route, {
          ...(body === undefined ? {} : { body }),
          ...(idempotencyKey === undefined ? {} : { headers: { [HEADERS.idempotencyKey]: idempotencyKey } }),
        });
    return isFinal(attempt) ? { kind: 'answered', reply: attempt.reply } : attempt;
  };
  return retried(request, { clock: systemClock, isOnce: method !== 'GET' && idempotencyKey === undefined });
}

/** Section 5. */
const OPEN: readonly string[] = [PATHS.health, PATHS.version];

/** Whether this is a response that only events cannot have: a web page or a redirect may be what the user asked for. */
function isFinal(attempt: RestAttempt): attempt is Extract<RestAttempt, { kind: 'unanswered' }> & { reply: Reply } {
  if (attempt.kind !== 'unanswered' || !attempt.reply) return false;
  const { status } = attempt.reply;
  return status < 500 && status !== 408 && status !== 425;
}

const SHOWN = [HEADERS.limit, HEADERS.remaining, HEADERS.reset, HEADERS.retryAfter, 'location'] as const;

function sayHeaders(headers: Reply['headers'], console: Console): void {
  for (const name of SHOWN) if (headers[name] !== undefined) console.say(`${name}: ${headers[name]}`);
  const retirement = retirementIn(headers);
  if (retirement.length > 0) console.complain(`warning: the service is retiring this route (${retirement.join('; ')})`);
}

/** Service interface, section 7.1. */
const EXPLAINED: Readonly<Record<number, string>> = {
  401: 'the API key is missing or invalid; check BACKFILL_API_KEY and that the base URL belongs to the same service',
  403: 'this belongs to another account; a key gives access to the records of one account only',
  404: 'no such route, or no record with this id in the account; check the path, the id and the base URL',
  409: 'it conflicts with existing data, such as a value that must be unique or a record that others refer to; read that record with GET, then change or remove one of the two before you send this again',
  422: 'the service cannot process it; correct the body',
  429: 'the rate limit of this key is exhausted, by this or another program',
};

/** By the code of the answer (section 7.2), which says more than its status. */
const EXPLAINED_CODES: Readonly<Record<string, string>> = {
  IDEMPOTENCY_KEY_MISMATCH:
    'this Idempotency-Key was used with a different body before; use a fresh key: leave --idempotency-key out',
};

function explain(reply: Reply, console: Console): void {
  const { code } = errorOf(reply);
  const byCode = code !== undefined && Object.hasOwn(EXPLAINED_CODES, code) ? EXPLAINED_CODES[code] : undefined;
  const { what, fix } = meaningOf(`http_${reply.status}`, undefined);
  const explained =
    byCode ?? EXPLAINED[reply.status] ?? (what === '' ? undefined : `${inSentence(what)}; ${inSentence(fix)}`);
  if (explained !== undefined) console.complain(`${reply.status}: ${explained}`);
}

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
