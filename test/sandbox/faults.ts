/** A sandbox whose answers are disturbed: the faults lie between its gateway and its routes. */
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import type { SandboxContext } from '../../src/sandbox/context.ts';
import type { Routes } from '../../src/sandbox/gateway.ts';
import { startSandbox, type RequestEntry, type Sandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import { enveloped } from '../../src/sandbox/reply.ts';
import { sandboxApp } from '../../src/sandbox/serve.ts';
import { HEADERS, INGEST_CODES, PATHS } from '../../src/contract.ts';
import { Injector, type FaultPlan, type FaultRule } from './fault-plan.ts';

export type { FaultPlan, FaultRule } from './fault-plan.ts';

export interface FaultyOptions extends SandboxOptions {
  readonly faults?: FaultPlan;
}

/** With the kind of the fault that it had. */
export type FaultyRequest = RequestEntry & { readonly fault?: FaultRule['kind'] };

/** Another record, or a refusal. */
type Instead = { readonly into: string } | { readonly status: number };

export interface FaultySandbox extends Sandbox {
  /** By its id: what answers in place of a lead, which no list has any more. */
  readonly instead: Map<string, Instead>;
  requests(): readonly FaultyRequest[];
  /** Takes effect with the next request; ends an outage with a status, and all rules count anew. */
  setFaults(plan: FaultPlan): void;
}

/** Like `startSandbox`. */
export async function startFaulty({ faults = { rules: [] }, ...options }: FaultyOptions = {}): Promise<FaultySandbox> {
  let between!: Faults;
  const sandbox = await startSandbox(options, (context) => {
    const app = sandboxApp(context);
    between = new Faults(context, (request, env) => app.fetch(request, env), faults);
    return (request, env) => between.handle(request, env);
  });
  between.sandbox = sandbox;
  // Not a copy: some properties of a sandbox are getters.
  return Object.create(sandbox, {
    instead: { value: between.instead },
    setFaults: { value: (plan: FaultPlan) => between.set(plan) },
    close: {
      value: async () => {
        between.close();
        await sandbox.close();
      },
    },
  }) as FaultySandbox;
}

/** A request that is never answered, or whose connection has been closed. */
const NO_ANSWER = new Promise<never>(() => undefined);

class Faults {
  readonly #context: SandboxContext;
  readonly #routes: Routes;
  readonly #closing = new AbortController();
  readonly instead = new Map<string, Instead>();
  sandbox!: Sandbox;
  #injector: Injector;
  #outage: { readonly until: number; readonly status: number } | undefined;
  #relisten: NodeJS.Timeout | undefined;
  #foreign: NodeJS.Timeout | undefined;

  constructor(context: SandboxContext, routes: Routes, plan: FaultPlan) {
    this.#context = context;
    this.#routes = routes;
    this.#injector = new Injector(plan);
  }

  set(plan: FaultPlan): void {
    this.#injector = new Injector(plan);
    this.#outage = undefined;
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#relisten);
    clearInterval(this.#foreign);
  }

  async handle(request: Request, env: Parameters<Routes>[1]): Promise<Response> {
    const { entry } = env.call;
    const note = (kind: FaultRule['kind']): unknown => Object.assign(entry, { fault: kind });
    if (this.#outage && this.#context.now() < this.#outage.until) {
      note('outage');
      return down(this.#outage.status);
    }
    const path = new URL(request.url).pathname;
    if (path === PATHS.health || path === PATHS.version) return this.#routes(request, env);

    const { latencyMs, effects, fault } = this.#injector.decide(path, entry.body);
    const [before, after] = latencyMs;
    if (before > 0) await sleep(before, undefined, { signal: this.#closing.signal });
    for (const rule of effects) {
      note(rule.kind);
      await this.#affect(rule);
    }
    const isCommitted = !fault || fault.kind === 'cut_body' || fault.kind === 'bad_ack' || fault.committed;
    const reply = isCommitted ? await this.#reply(request, env) : undefined;
    if (after > 0) await sleep(after, undefined, { signal: this.#closing.signal });
    if (!fault) return reply!;
    note(fault.kind);
    return this.#answer(fault, env, reply);
  }

  async #reply(request: Request, env: Parameters<Routes>[1]): Promise<Response> {
    const url = new URL(request.url);
    const isAboutLeads = request.method === 'GET' && url.pathname.startsWith(PATHS.leads);
    if (this.instead.size === 0 || !isAboutLeads) return this.#routes(request, env);
    const instead = this.instead.get(url.pathname.slice(PATHS.leads.length + 1));
    if (instead && 'status' in instead) return Response.json({ error: 'no access' }, { status: instead.status });
    if (instead) return this.#routes(new Request(new URL(`${PATHS.leads}/${instead.into}`, url), request), env);
    const reply = await this.#routes(request, env);
    const body = (await reply.json()) as { leads?: { id: string }[] };
    const leads = body.leads?.filter(({ id }) => !this.instead.has(id));
    return Response.json(leads ? { ...body, leads, total: leads.length } : body, { status: reply.status });
  }

  /** What a rule does beside the request, which goes on. */
  async #affect({ kind, requests = 0, per_second_for_ms: lastsMs }: FaultRule): Promise<void> {
    if (kind === 'rotate_token') this.sandbox.rotateToken();
    if (kind === 'rotate_key') this.sandbox.rotateKey();
    if (kind !== 'foreign') return;
    const ask = () =>
      fetch(`${this.sandbox.baseUrl}/pipelines`, { headers: { [HEADERS.apiKey]: this.sandbox.apiKey.reveal() } }).then(
        (response) => response.arrayBuffer(),
        () => undefined,
      );
    if (lastsMs === undefined) {
      await Promise.all(Array.from({ length: requests }, ask));
      return;
    }
    let left = Math.floor((requests * lastsMs) / 1000);
    this.#foreign = setInterval(() => {
      void ask();
      if ((left -= 1) <= 0) clearInterval(this.#foreign);
    }, 1000 / requests);
  }

  /** `reply`: the answer of the service, if it committed the request. */
  async #answer(rule: FaultRule, { outgoing }: HttpBindings, reply: Response | undefined): Promise<Response> {
    const { socket } = outgoing;
    switch (rule.kind) {
      case 'drop':
        socket?.destroy();
        return NO_ANSWER;
      case 'reset':
        socket?.resetAndDestroy();
        return NO_ANSWER;
      case 'cut_body': {
        const text = (await reply?.text()) ?? '';
        outgoing.writeHead(reply?.status ?? 200, { 'content-type': 'application/json', 'content-length': text.length });
        outgoing.write(text.slice(0, text.length / 2), () => socket?.destroy());
        return NO_ANSWER;
      }
      case 'status':
        return refused(rule);
      case 'html':
        return webPage();
      case 'redirect':
        return new Response(null, { status: 302, headers: { location: 'https://login.example.test/' } });
      case 'bad_ack':
        return Response.json({ ok: true });
      case 'outage':
        if (rule.status !== undefined) {
          this.#outage = { until: this.#context.now() + (rule.lasts_ms ?? 0), status: rule.status };
          return down(rule.status);
        }
        this.#stopListening((socket as Socket & { server: Server }).server, rule.lasts_ms ?? 0);
        return NO_ANSWER;
      case 'hang':
        return NO_ANSWER;
      case 'latency':
      case 'foreign':
      case 'rotate_token':
      case 'rotate_key':
        throw new Error(`${rule.kind} ends no request`);
    }
  }

  /** Closes all connections, too. */
  #stopListening(server: Server, lastsMs: number): void {
    const { port } = server.address() as AddressInfo;
    server.close();
    server.closeAllConnections();
    const listen = (): void => void server.listen(port, '127.0.0.1');
    clearTimeout(this.#relisten);
    this.#relisten = setTimeout(listen, lastsMs);
    // Another process may have taken the port; then the outage lasts a little longer.
    const again = (): void => void (this.#relisten = setTimeout(listen, 50));
    server.on('error', again).once('listening', () => server.off('error', again));
  }
}

function down(status: number): Response {
  return new Response('the service is down', { status });
}

function refused({ status = 500, code, retry_after_s: seconds }: FaultRule): Response {
  const named = code ?? (status === 429 ? 'RATE_LIMITED' : INGEST_CODES.internal);
  const response = Response.json(enveloped(named, 'injected by the fault plan'), { status });
  if (seconds !== undefined) response.headers.set(HEADERS.retryAfter, String(seconds));
  return response;
}

function webPage(): Response {
  const page = '<!doctype html><title>Sign in</title><p>The network needs you to sign in.</p>';
  return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } });
}
