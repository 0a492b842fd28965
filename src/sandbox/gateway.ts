/** Handles a request before the routes do: request log, API key, rate limit. */
import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { HEADERS, LIMITS, PATHS } from '../contract.ts';
import type { ApiCall, HonoEnv, ParsedBody, SandboxContext } from './context.ts';
import { Refusal, respond, type RequestEntry } from './reply.ts';

interface GatewayOptions {
  readonly rate: SandboxRate;
  readonly countRefused: boolean;
}

/** Answers a request that the gateway lets through. */
export type Routes = (request: Request, env: HonoEnv['Bindings']) => Promise<Response> | Response;

/** Without a key: section 5, and the reference, which people open in a browser. */
const OPEN: readonly string[] = [PATHS.health, PATHS.version, PATHS.reference];

export class Gateway {
  readonly #context: SandboxContext;
  readonly #routes: Routes;
  readonly #window: SlidingWindow;
  #rate: SandboxRate;

  constructor(context: SandboxContext, routes: Routes, { rate, countRefused }: GatewayOptions) {
    this.#context = context;
    this.#routes = routes;
    this.#rate = rate;
    this.#window = new SlidingWindow(rate, countRefused);
  }

  setLimit(requests: number): void {
    this.#rate = { ...this.#rate, requests };
    this.#window.setLimit(requests);
  }

  async handle(request: Request, bindings: HttpBindings): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const body = parseBody(await readBody(bindings.incoming), request);
    const path = pathname.startsWith(`${PATHS.ingest}/`) ? `${PATHS.ingest}/***` : `${pathname}${search}`;
    const value = body.ok ? body.value : undefined;
    const entry = logRequest(this.#context.requests, request, path, value, this.#context.now());
    bindings.outgoing.once('close', () => (entry.endedAt ??= this.#context.now()));
    const suppressTriggers = request.headers.get(HEADERS.suppressTriggers)?.toLowerCase() === 'true';
    const call: ApiCall = { context: this.#context, entry, body, suppressTriggers };
    const [response, admission = this.#fullWindow()] = await this.#answer(request, pathname, { ...bindings, call });
    // Only JSON comes from the service itself. Section 8: every response has the rate-limit headers.
    if (response.headers.get('content-type')?.includes('json')) {
      response.headers.set(HEADERS.limit, String(admission.limit));
      response.headers.set(HEADERS.remaining, String(admission.remaining));
      response.headers.set(HEADERS.reset, String(Math.ceil(admission.freeAt / 1000)));
    }
    entry.status = response.status;
    entry.endedAt = this.#context.now();
    return response;
  }

  /** The answer, and the window after it where the request counts. */
  async #answer(request: Request, path: string, env: HonoEnv['Bindings']): Promise<[Response, Admission?]> {
    if (OPEN.includes(path)) return [await this.#routes(request, env)];
    const key = request.headers.get(HEADERS.apiKey);
    if (key !== this.#context.apiKey.reveal()) {
      const message = key === null ? 'X-API-Key is missing' : 'X-API-Key is invalid';
      return [respond(path, new Refusal(401, undefined, message))];
    }
    const admission = this.#window.admit(this.#context.now());
    if (!admission.admitted) return [this.#tooMany(path, admission), admission];
    return [await this.#routes(request, env), admission];
  }

  #fullWindow(): Admission {
    const { requests } = this.#rate;
    return { admitted: true, limit: requests, remaining: requests, freeAt: this.#context.now() };
  }

  #tooMany(path: string, { freeAt }: Admission): Response {
    const message = `more than ${this.#rate.requests} requests in ${this.#rate.seconds} s`;
    const response = respond(path, new Refusal(429, 'RATE_LIMITED', message));
    const seconds = Math.max(1, Math.ceil((freeAt - this.#context.now()) / 1000));
    response.headers.set(HEADERS.retryAfter, String(seconds));
    return response;
  }
}

/**
 * The whole body; undefined if it is larger than the service accepts (it is still read to the end, so that it can be
 * answered).
 */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= LIMITS.bodyBytes) chunks.push(chunk);
  }
  return size <= LIMITS.bodyBytes ? Buffer.concat(chunks, size) : undefined;
}

function parseBody(body: Buffer | undefined, request: Request): ParsedBody {
  if (!body) return { ok: false, status: 413, error: 'the body is larger than 10 MB' };
  if (body.length === 0 && !request.headers.has('content-type')) return { ok: true, value: undefined };
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) {
    return { ok: false, status: 400, error: 'Content-Type must be application/json' };
  }
  try {
    return { ok: true, value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown };
  } catch {
    return { ok: false, status: 400, error: 'the body is not valid JSON in UTF-8' };
  }
}

/** The rate limiter's decision on one call; times in milliseconds of the sandbox's clock. */
export interface Admission {
  readonly admitted: boolean;
  readonly limit: number;
  /** Calls left in the window after this one. */
  readonly remaining: number;
  /** When the next call is admitted. */
  readonly freeAt: number;
}

export interface SandboxRate {
  readonly requests: number;
  readonly seconds: number;
}

/**
 * The strict sliding window of one API key: at most `limit` calls within any `windowMs`, counted on arrival (service
 * interface, section 8).
 */
export class SlidingWindow {
  #limit: number;
  readonly #windowMs: number;
  readonly #countRefused: boolean;
  #calls: number[] = [];
  /** Calls before this index have left the window. */
  #first = 0;

  constructor(rate: SandboxRate, countRefused: boolean) {
    this.#countRefused = countRefused;
    this.#limit = rate.requests;
    this.#windowMs = rate.seconds * 1000;
  }

  /** The limit from now on. */
  setLimit(requests: number): void {
    this.#limit = requests;
  }

  /** A call that arrives at `now`. */
  admit(now: number): Admission {
    const admitted = this.#take(now);
    if (!admitted && this.#countRefused) this.#calls.push(now);
    const [limit, used] = [this.#limit, this.#calls.length - this.#first];
    // Below the limit a call is admitted now; the oldest call determines when the next one is.
    const frees = this.#calls[used < limit ? this.#first : this.#calls.length - limit];
    const freeAt = frees === undefined ? now : frees + this.#windowMs;
    return { admitted, limit, remaining: Math.max(0, limit - used), freeAt };
  }

  #take(now: number): boolean {
    while (this.#first < this.#calls.length && now - this.#calls[this.#first]! >= this.#windowMs) this.#first += 1;
    if (this.#first > 1000 && this.#first * 2 > this.#calls.length) {
      this.#calls = this.#calls.slice(this.#first);
      this.#first = 0;
    }
    const admitted = this.#calls.length - this.#first < this.#limit;
    if (admitted) this.#calls.push(now);
    return admitted;
  }
}

const LOGGED_HEADERS = ['content-type', 'x-suppress-triggers', 'user-agent'];

/** To bound memory in long rehearsals, only the last ones are kept. */
const MOST = 100_000;

/** Adds a request to the log. */
function logRequest(log: RequestEntry[], request: Request, path: string, body: unknown, at: number): RequestEntry {
  const headers = LOGGED_HEADERS.flatMap((name) => {
    const value = request.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const number = (log.at(-1)?.number ?? 0) + 1;
  if (log.length >= MOST) log.splice(0, MOST / 2);
  log.push({ number, method: request.method, path, headers: Object.fromEntries(headers), body, at });
  return log.at(-1)!;
}
