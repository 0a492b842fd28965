/** Handles a request before the routes do: request log, faults, API key, rate limit. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { EVENT_TYPES } from '../model.ts';
import { isObject, type JsonObject } from '../json.ts';
import { HEADERS, LIMITS, PATHS } from '../service/contract.ts';
import { FaultInjector, type FaultDecision, type FaultPlan } from './faults.ts';
import type { EventSummary, RequestEntry } from './requests.ts';
import { commits, faultResponse } from './fault-response.ts';
import { deprecate, isLegacy } from './legacy.ts';
import { SlidingWindow, type Admission } from './window.ts';
import { enveloped, newApiKey, newIngestToken, type ApiCall, type SandboxContext } from './context.ts';

export interface GatewayOptions {
  readonly rate: { readonly requests: number; readonly seconds: number };
  readonly countRefused: boolean;
  readonly faults: FaultPlan;
  /** Stops listening for this many milliseconds. */
  readonly stopListening: (ms: number) => void;
}

/** The routes of an account. */
type Routes = (
  account: SandboxContext['name'],
  request: Request,
  env: { call: ApiCall },
) => Promise<Response> | Response;

export class Gateway {
  readonly #context: SandboxContext;
  readonly #options: GatewayOptions;
  readonly #routes: Routes;
  readonly #windows = new Map<string, SlidingWindow>();
  readonly #closing = new AbortController();
  #rate: GatewayOptions['rate'];
  #injector: FaultInjector;
  #outage: { readonly until: number; readonly status: number } | undefined;

  constructor(context: SandboxContext, routes: Routes, options: GatewayOptions) {
    this.#context = context;
    this.#options = options;
    this.#routes = routes;
    this.#rate = options.rate;
    this.#injector = new FaultInjector(options.faults, context.now());
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
    const read = await readBody(incoming);
    const body = parseBody(read, request);
    const value = body.ok ? body.value : undefined;
    const path = pathname.startsWith(`${PATHS.ingest}/`) ? `${PATHS.ingest}/***` : `${pathname}${search}`;
    const entry = this.#context.requests.add(request, path, value, this.#context.now());
    outgoing.once('close', () => (entry.endedAt ??= this.#context.now()));
    const suppressTriggers = request.headers.get(HEADERS.suppressTriggers)?.toLowerCase() === 'true';
    const response = await this.#answer(
      request,
      { entry, body, tooLarge: read === undefined, suppressTriggers },
      pathname,
      outgoing,
    );
    if (!response.headers.has('x-hono-already-sent')) {
      if (isLegacy(pathname)) deprecate(response, pathname);
      entry.status = response.status;
      entry.endedAt = this.#context.now();
    }
    return response;
  }

  async #answer(request: Request, call: ApiCall, path: string, outgoing: ServerResponse): Promise<Response> {
    const { entry } = call;
    const open = path === PATHS.health || path === PATHS.version;
    if (this.#outage && this.#context.now() < this.#outage.until) {
      entry.fault = 'outage';
      return new Response('the service is down', { status: this.#outage.status });
    }
    if (open) return this.#withHeaders(await this.#routes('main', request, { call }), this.#fullWindow());

    const event = path.startsWith(PATHS.ingest) ? eventSummary(call) : undefined;
    const isProcessed = event?.id !== undefined && this.#context.store.processed(event.id) !== undefined;
    const { latencyMs, effects, fault } = this.#injector.decide({ path, event, isProcessed, now: this.#context.now() });
    const [before, after] = latencyMs;
    if (before > 0) await sleep(before, undefined, { signal: this.#closing.signal });
    for (const effect of effects) this.#apply(effect, entry);

    const key = request.headers.get(HEADERS.apiKey);
    const account = [this.#context, this.#context.other].find(({ apiKey }) => apiKey.reveal() === key)?.name;
    if (key === null || account === undefined) {
      const error = key === null ? 'X-API-Key is missing' : 'X-API-Key is invalid';
      const refusal = isLegacy(path) ? enveloped('UNAUTHORIZED', error) : { error };
      return this.#withHeaders(Response.json(refusal, { status: 401 }), this.#fullWindow());
    }
    entry.account = account;
    const admission = this.#window(key).admit(this.#context.now());
    if (!admission.admitted) return this.#withHeaders(this.#refused(admission), admission);

    let answer: Response | undefined;
    if (!fault || commits(fault)) answer = this.#withHeaders(await this.#routes(account, request, { call }), admission);
    if (after > 0) await sleep(after, undefined, { signal: this.#closing.signal });
    if (!fault) return answer!;

    entry.fault = fault.kind;
    if (fault.kind === 'outage') this.#beginOutage(fault.lasts_ms, fault.status);
    const response = await faultResponse(fault, answer, outgoing);
    return fault.kind === 'status' || fault.kind === 'status_after' ? this.#withHeaders(response, admission) : response;
  }

  #apply(effect: FaultDecision['effects'][number], entry: RequestEntry): void {
    entry.fault = effect.kind;
    if (effect.kind === 'rotate_token') {
      this.#context.ingestToken = newIngestToken();
    } else if (effect.kind === 'rotate_key') {
      this.#context.apiKey = newApiKey();
    } else {
      const now = this.#context.now();
      const window = this.#window(this.#context.apiKey.reveal());
      if (effect.per_second_for_ms === undefined) window.takeAtOnce(now, effect.requests);
      else window.takeSteadily(now, effect.requests, now + effect.per_second_for_ms);
    }
  }

  #beginOutage(lastsMs: number, status: number | undefined): void {
    if (status === undefined) this.#options.stopListening(lastsMs);
    else this.#outage = { until: this.#context.now() + lastsMs, status };
  }

  #window(key: string): SlidingWindow {
    let window = this.#windows.get(key);
    if (!window) {
      window = new SlidingWindow(this.#rate, { countRefused: this.#options.countRefused });
      this.#windows.set(key, window);
    }
    return window;
  }

  #fullWindow(): Admission {
    const { requests } = this.#rate;
    return { admitted: true, limit: requests, remaining: requests, freeAt: this.#context.now() };
  }

  #refused({ freeAt }: Admission): Response {
    const seconds = Math.max(1, Math.ceil((freeAt - this.#context.now()) / 1000));
    const message = `more than ${this.#rate.requests} requests in ${this.#rate.seconds} s`;
    const response = Response.json(enveloped('RATE_LIMITED', message), { status: 429 });
    response.headers.set(HEADERS.retryAfter, String(seconds));
    return response;
  }

  /** Section 8: every response has the rate-limit headers. */
  #withHeaders(response: Response, { limit, remaining, freeAt }: Admission): Response {
    response.headers.set(HEADERS.limit, String(limit));
    response.headers.set(HEADERS.remaining, String(remaining));
    response.headers.set(HEADERS.reset, String(Math.ceil(freeAt / 1000)));
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

function parseBody(body: Buffer | undefined, request: Request): ApiCall['body'] {
  if (body?.length === 0 && !request.headers.has('content-type')) return { ok: true, value: undefined };
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) {
    return { ok: false, error: 'Content-Type must be application/json' };
  }
  try {
    return { ok: true, value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown };
  } catch {
    return { ok: false, error: 'the body is not valid JSON in UTF-8' };
  }
}

function eventSummary({ body }: ApiCall): EventSummary {
  const value = body.ok ? (body.value as JsonObject) : {};
  const { id, type, data } = isObject(value) ? value : {};
  const externalId = isObject(data) ? data.external_id : undefined;
  return {
    id: typeof id === 'string' ? id : undefined,
    type: EVENT_TYPES.find((known) => known === type),
    externalId: typeof externalId === 'string' ? externalId : undefined,
  };
}
