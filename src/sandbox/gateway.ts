/** Handles a request before the routes do: request log, faults, API key, rate limit. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../json.ts';
import { HEADERS, LIMITS, PATHS } from '../service/contract.ts';
import type { Fields } from '../service/list-page.ts';
import { newApiKey, newIngestToken, type ApiCall, type ParsedBody, type SandboxContext } from './context.ts';
import { faultOf, type FaultPlan, type FaultTarget } from './fault-kinds.ts';
import { FaultInjector, type FaultEvent } from './faults.ts';
import { Refusal, respond, type RequestEntry } from './reply.ts';
import { SlidingWindow, type Admission, type SandboxRate } from './window.ts';

export interface GatewayOptions {
  readonly rate: SandboxRate;
  readonly countRefused: boolean;
  readonly faults: FaultPlan;
  /** Stops listening for this many milliseconds. */
  readonly stopListening: (ms: number) => void;
}

type Routes = (request: Request, env: { call: ApiCall }) => Promise<Response> | Response;

export class Gateway implements FaultTarget {
  readonly #context: SandboxContext;
  readonly #options: GatewayOptions;
  readonly #routes: Routes;
  readonly #windows = new Map<string, SlidingWindow>();
  readonly #closing = new AbortController();
  #rate: SandboxRate;
  #injector: FaultInjector;
  #outage: { readonly until: number; readonly status: number } | undefined;

  constructor(context: SandboxContext, routes: Routes, options: GatewayOptions) {
    this.#context = context;
    this.#options = options;
    this.#routes = routes;
    this.#rate = options.rate;
    this.#injector = new FaultInjector(options.faults, context.now());
  }

  rotateToken(): void {
    this.#context.ingestToken = newIngestToken();
  }

  rotateKey(): void {
    this.#context.apiKey = newApiKey();
  }

  takeWindow(requests: number, perSecondForMs: number | undefined): void {
    this.#window(this.#context.apiKey.reveal()).simulate(this.#context.now(), requests, perSecondForMs);
  }

  outage(lastsMs: number, status: number | undefined): void {
    if (status === undefined) this.#options.stopListening(lastsMs);
    else this.#outage = { until: this.#context.now() + lastsMs, status };
  }

  setFaults(plan: FaultPlan): void {
    this.#injector = new FaultInjector(plan, this.#context.now());
    this.#outage = undefined;
  }

  setLimit(requests: number): void {
    this.#rate = { ...this.#rate, requests };
    for (const window of this.#windows.values()) window.setLimit(requests);
  }

  /** Delayed requests end without an answer, and are not committed if they have not been yet. */
  close(): void {
    this.#closing.abort();
  }

  async handle(request: Request, incoming: IncomingMessage, outgoing: ServerResponse): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const body = parseBody(await readBody(incoming), request);
    const path = pathname.startsWith(`${PATHS.ingest}/`) ? `${PATHS.ingest}/***` : `${pathname}${search}`;
    const value = body.ok ? body.value : undefined;
    const entry = logRequest(this.#context.requests, request, path, value, this.#context.now());
    outgoing.once('close', () => (entry.endedAt ??= this.#context.now()));
    const suppressTriggers = request.headers.get(HEADERS.suppressTriggers)?.toLowerCase() === 'true';
    const call: ApiCall = { context: this.#context, entry, body, suppressTriggers };
    const [response, admission = this.#fullWindow()] = await this.#answer(request, call, pathname, outgoing);
    // Only JSON comes from the service itself. Section 8: every response has the rate-limit headers.
    if (response.headers.get('content-type')?.includes('json')) {
      response.headers.set(HEADERS.limit, String(admission.limit));
      response.headers.set(HEADERS.remaining, String(admission.remaining));
      response.headers.set(HEADERS.reset, String(Math.ceil(admission.freeAt / 1000)));
    }
    if (!response.headers.has('x-hono-already-sent')) {
      entry.status = response.status;
      entry.endedAt = this.#context.now();
    }
    return response;
  }

  /** The answer, and the window after it where the request counts. */
  async #answer(request: Request, call: ApiCall, path: string, out: ServerResponse): Promise<[Response, Admission?]> {
    const { entry } = call;
    if (this.#outage && this.#context.now() < this.#outage.until) {
      entry.fault = 'outage';
      return [new Response('the service is down', { status: this.#outage.status })];
    }
    if (path === PATHS.health || path === PATHS.version) return [await this.#routes(request, { call })];

    const event = path.startsWith(PATHS.ingest) ? eventOf(call) : undefined;
    const isProcessed = this.#context.store.processed(event?.id as string) !== undefined;
    const { latencyMs, effects, fault } = this.#injector.decide({ path, event, isProcessed, now: this.#context.now() });
    const [before, after] = latencyMs;
    if (before > 0) await sleep(before, undefined, { signal: this.#closing.signal });
    for (const rule of effects) {
      entry.fault = rule.kind;
      faultOf(rule).effect!(rule, this);
    }

    const key = request.headers.get(HEADERS.apiKey);
    const context = [this.#context, this.#context.other].find(({ apiKey }) => apiKey.reveal() === key);
    if (key === null || !context) {
      const message = key === null ? 'X-API-Key is missing' : 'X-API-Key is invalid';
      const code = path.startsWith(PATHS.ingest) ? undefined : 'UNAUTHORIZED';
      return [respond(path, entry, new Refusal(401, code, message))];
    }
    entry.account = context.name;
    const admission = this.#window(key).admit(this.#context.now());
    if (!admission.admitted) return [this.#tooMany(path, call, admission), admission];

    const commits = fault === undefined || faultOf(fault).commits || ('committed' in fault && fault.committed);
    const reply = commits ? await this.#routes(request, { call: { ...call, context } }) : undefined;
    if (after > 0) await sleep(after, undefined, { signal: this.#closing.signal });
    if (!fault) return [reply!, admission];
    entry.fault = fault.kind;
    return [await faultOf(fault).answer!(fault, { out, reply, target: this }), admission];
  }

  #window(key: string): SlidingWindow {
    let window = this.#windows.get(key);
    if (!window) this.#windows.set(key, (window = new SlidingWindow(this.#rate, this.#options.countRefused)));
    return window;
  }

  #fullWindow(): Admission {
    const { requests } = this.#rate;
    return { admitted: true, limit: requests, remaining: requests, freeAt: this.#context.now() };
  }

  #tooMany(path: string, { entry }: ApiCall, { freeAt }: Admission): Response {
    const message = `more than ${this.#rate.requests} requests in ${this.#rate.seconds} s`;
    const response = respond(path, entry, new Refusal(429, 'RATE_LIMITED', message));
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

/** What identifies an event, as far as it can be read. */
function eventOf({ entry }: ApiCall): FaultEvent {
  const { id, type, data } = fieldsOf(entry.body);
  return { id, type, externalId: fieldsOf(data).external_id };
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

const LOGGED_HEADERS = ['content-type', 'x-suppress-triggers', 'idempotency-key', 'user-agent'];

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
