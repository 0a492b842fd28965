import type { Dispatcher } from 'undici';
import { systemClock, type Clock } from '../clock.ts';
import { UserError } from '../errors.ts';
import { Redactor, type Secret } from '../redact.ts';
import { printable } from '../report/words/visible.ts';
import { decodeBody, UndecodableBody } from './content-encoding.ts';
import { ANSWER_HEADERS, HEADERS, PATHS, type AnswerHeaders } from '../contract.ts';
import { entityIn, INGEST_HEADERS, type Envelope } from './envelope.ts';
import { Exchange, type ReceivedHeaders } from './exchange.ts';
import { NotSent, type Limiter, type TurnOptions } from './limiter.ts';
import { agentFor, proxyFor, type Proxy } from './proxy.ts';
import {
  readError,
  readIngestReply,
  readRestReply,
  readRetryAfter,
  type Attempt,
  type RestAttempt,
  type NoAnswer,
} from './reply.ts';
import type { Reply } from './error-body.ts';

export interface ClientOptions {
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** Not needed where no event is sent. */
  readonly ingestToken?: Secret | undefined;
  readonly timeoutSeconds: number;
  readonly concurrency: number;
  readonly limiter: Limiter;
  readonly userAgent: string;
  /** Called once for each route (`GET /leads`) that the service says it is retiring (Deprecation, Sunset and Link headers), with what it says. */
  readonly retiring?: ((route: string, what: string) => void) | undefined;
  readonly clock?: Clock;
}

interface SendOptions extends TurnOptions {
  /** Awaited immediately before the request is sent. */
  readonly beforeSend?: () => Promise<void>;
}

type Headers = Readonly<Record<string, string>>;

interface ClientRequest {
  readonly method: string;
  /** Relative to the base URL. */
  readonly path: string;
  readonly headers: Headers;
  readonly body?: string | undefined;
}

/** Short, because a request sent on a connection that the server is closing is lost. */
const KEEP_ALIVE_MS = 500;
const MAX_KEEP_ALIVE_MS = 4_000;
/** Removes a byte order mark. */
const UTF_8 = new TextDecoder();
/** Far larger than any list page; the limit of a body as received, and decompressed. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** Beside cookies and policies of a proxy; Node's own limit is 16 KB. */
const MAX_HEADER_BYTES = 128 * 1024;
/** For refusals and acknowledgements: a longer text is not a message, and searching it for secrets would take seconds. */
const MAX_MESSAGE_BYTES = 64 * 1024;

/** Whether GET /health answers 200; if not, `message` says what it does instead. */
interface Health {
  readonly answers: boolean;
  readonly message?: string;
}

/**
 * The service at one base URL with one API key. Failures are returned as values; only `beforeSend` can make a call
 * throw. Throws a `UserError` if the base URL or the proxy of the environment is unusable.
 */
export function createClient(options: ClientOptions): Client {
  try {
    return new Client(options);
  } catch (error) {
    // Otherwise an open connection of the limiter would keep the process from ending.
    void options.limiter.stop();
    throw error;
  }
}

export class Client {
  readonly #options: ClientOptions;
  readonly #clock: Clock;
  readonly #origin: string;
  readonly #basePath: string;
  readonly #proxy: Proxy | undefined;
  readonly #dispatcher: Dispatcher;
  readonly #redactor = new Redactor();
  /** Headers without the API key, with it, and for an event. */
  readonly #openHeaders: Headers;
  readonly #headers: Headers;
  readonly #ingestHeaders: Headers;
  readonly #ingestPath: string | undefined;
  readonly #inFlight = new Set<Exchange>();
  #reached = false;
  /** Routes that `retiring` was called with. */
  readonly #retired = new Set<string>();
  /** Requests sent with the API key, which count against its rate limit. */
  requests = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const url = URL.canParse(options.baseUrl) ? new URL(options.baseUrl) : undefined;
    if (!url || !/^https?:$/.test(url.protocol)) {
      throw new UserError('invalid base URL', { hint: 'use the form https://host or https://host/path' });
    }
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#proxy = proxyFor(url, process.env);
    const { apiKey, ingestToken } = options;
    this.#redactor.add(apiKey, ingestToken, ...(this.#proxy?.secrets ?? []));
    this.#openHeaders = { accept: 'application/json', 'user-agent': options.userAgent };
    this.#headers = { ...this.#openHeaders, [HEADERS.apiKey]: apiKey.reveal() };
    this.#ingestHeaders = { ...this.#headers, ...INGEST_HEADERS };
    this.#ingestPath = ingestToken && `${PATHS.ingest}/${encodeURIComponent(ingestToken.reveal())}`;
    this.#dispatcher = createDispatcher(options, this.#proxy);
  }

  /** Sends one event, once (service interface, section 4.2). */
  async ingest(body: Envelope, options: SendOptions = {}): Promise<Attempt> {
    const path = this.#ingestPath;
    if (path === undefined) throw new Error('this client was created without an ingestion token');
    const reply = await this.#limited({ method: 'POST', path, headers: this.#ingestHeaders, body }, options);
    return 'kind' in reply ? reply : readIngestReply(reply, this.#clock.wall(), entityIn(body));
  }

  /** One request to a REST route, without retries. */
  async get(
    route: string,
    given: Readonly<Record<string, string | number>> = {},
    options: SendOptions = {},
  ): Promise<RestAttempt> {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(given)) query.set(key, String(value));
    const path = query.size === 0 ? route : `${route}?${query.toString()}`;
    const reply = await this.#limited({ method: 'GET', path, headers: this.#headers }, options);
    return 'kind' in reply ? reply : readRestReply(reply, this.#clock.wall());
  }

  /** GET /health. Sent without the API key (section 5), so it does not count against the rate limit. */
  async health(): Promise<Health> {
    const reply = await this.#exchange({ method: 'GET', path: PATHS.health, headers: this.#openHeaders });
    if ('kind' in reply) return { answers: false, message: reply.message };
    return reply.status === 200 ? { answers: true } : { answers: false, message: `answered ${reply.status}` };
  }

  /** Requests in flight end as unanswered; new requests use new connections. */
  dropSockets(cut: 'asleep' | 'aborted'): void {
    for (const exchange of this.#inFlight) exchange.end(cut);
  }

  /** Stops the limiter too: requests waiting in it are not sent. */
  async close(): Promise<void> {
    await this.#options.limiter.stop();
    await this.#dispatcher.destroy();
  }

  async #limited(
    request: ClientRequest,
    options: SendOptions,
  ): Promise<Reply | NoAnswer | { readonly kind: 'withdrawn' }> {
    const { limiter } = this.#options;
    try {
      return await limiter.schedule(async () => {
        await options.beforeSend?.();
        const sentAt = this.#clock.monotonic();
        this.requests += 1;
        const reply = await this.#exchange(request);
        if ('kind' in reply) return reply;
        limiter.observe(reply.status, reply.headers, sentAt);
        this.#noteRetirement(request, reply.headers);
        if (reply.status === 429) {
          limiter.refused(readRetryAfter(reply.headers, this.#clock.wall()), sentAt);
        }
        return reply;
      }, options);
    } catch (error) {
      if (error instanceof NotSent) return { kind: 'withdrawn' };
      throw error;
    }
  }

  #noteRetirement({ method, path }: ClientRequest, headers: Reply['headers']): void {
    const said = retirementIn(headers);
    if (said.length === 0 || !this.#options.retiring) return;
    // Neither ids nor the ingestion token.
    const route = `${method} ${/^\/[^/?]*/.exec(path)![0]}`;
    if (this.#retired.has(route)) return;
    this.#retired.add(route);
    this.#options.retiring(route, said.join(', '));
  }

  async #exchange({ method, path, headers, body }: ClientRequest): Promise<Reply | NoAnswer> {
    const mostOf = (status: number): number =>
      isSuccess(status) && path !== this.#ingestPath ? MAX_RESPONSE_BYTES : MAX_MESSAGE_BYTES;
    const exchange = new Exchange(mostOf);
    const deadline = setTimeout(() => exchange.end('timeout'), this.#options.timeoutSeconds * 1000);
    this.#inFlight.add(exchange);
    try {
      const url = { origin: this.#origin, path: `${this.#basePath}${path}` };
      this.#dispatcher.dispatch({ ...url, method, headers, body: body ?? null }, exchange);
      const answer = await exchange.received;
      const encodings = [answer.headers['content-encoding'] ?? []].flat().join();
      const { status } = answer;
      const most = mostOf(status);
      const text = isSuccess(status)
        ? UTF_8.decode(decodeBody(answer.body, encodings, most))
        : beginningOf(answer.body.subarray(0, most), encodings);
      this.#reached = true;
      return {
        status,
        headers: redactedHeaders(answer.headers, this.#redactor),
        body: this.#redactor.redact(text),
      };
    } catch (error) {
      const { variable } = this.#proxy ?? {};
      const { setup, ...failure } = readError(error, exchange.cut, variable, this.#options.timeoutSeconds);
      return setup && (!this.#reached || failure.lasting) ? { ...failure, setup } : failure;
    } finally {
      clearTimeout(deadline);
      this.#inFlight.delete(exchange);
    }
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The headers that say that a route is being retired, and the route in its place (service interface, section 9); empty if none does. */
function retirementIn(headers: Reply['headers']): readonly string[] {
  const { deprecation, sunset, link } = headers;
  const names = deprecation ?? sunset ?? (/\bsuccessor-version\b/i.test(link ?? '') ? link : undefined);
  if (names === undefined) return [];
  return Object.entries({ deprecation, sunset, link }).flatMap(([name, text]) =>
    text === undefined ? [] : [`${name}: ${text}`],
  );
}

/** The readable part of a message that is too long or damaged: its status has the answer. */
function beginningOf(received: Buffer, encodings: string): string {
  try {
    return UTF_8.decode(decodeBody(received, encodings, MAX_MESSAGE_BYTES));
  } catch (error) {
    if (error instanceof UndecodableBody) return '';
    throw error;
  }
}

function createDispatcher({ timeoutSeconds, concurrency }: ClientOptions, proxy: Proxy | undefined): Dispatcher {
  return agentFor(proxy, {
    connections: concurrency + 1,
    connect: { timeout: Math.min(10_000, timeoutSeconds * 1000) },
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
    maxResponseSize: MAX_RESPONSE_BYTES,
    maxHeaderSize: MAX_HEADER_BYTES,
    // One deadline covers the whole request; see #exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function redactedHeaders(headers: ReceivedHeaders, redactor: Redactor): AnswerHeaders {
  const texts: AnswerHeaders = {};
  for (const name of ANSWER_HEADERS) {
    const value = headers[name];
    if (value !== undefined) texts[name] = redactor.redact(printable([value].flat().join(', ')));
  }
  return texts;
}
