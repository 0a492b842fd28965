/**
 * A local stand-in for the service, for rehearsals and tests: it validates requests as the service interface says, and
 * stores what it accepts. Only its commands and tests import it.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { Secret } from '../redact.ts';
import type { Account } from '../service/account.ts';
import { LIMITS } from '../contract.ts';
import { defaultAccount } from './account.ts';
import { Gateway, type Routes, type SandboxRate } from './gateway.ts';
import { sandboxApp } from './serve.ts';
import type { RequestEntry } from './reply.ts';
import { Store, type SandboxState } from './store.ts';
import { newApiKey, newIngestToken, type SandboxContext } from './context.ts';

export { defaultAccount } from './account.ts';
export type { RequestEntry } from './reply.ts';
export type { SandboxState } from './store.ts';

export interface SandboxOptions {
  /** A free port by default. The sandbox listens on 127.0.0.1 only. */
  readonly port?: number;
  readonly apiKey?: string;
  readonly ingestToken?: string;
  /** Pipelines, stages and users. The default account has the same ids everywhere. */
  readonly account?: Account;
  /** 100 in 60 s by default. */
  readonly rate?: SandboxRate;
  /** Whether refused requests count in the window too. */
  readonly countRefused?: boolean;
  /** File to which accepted records are appended, and from which a later sandbox restores them. */
  readonly journal?: string;
  /** Milliseconds since the epoch, monotonic; for tests of the window. */
  readonly clock?: () => number;
}

export interface Sandbox {
  readonly baseUrl: string;
  /** The currently valid key. */
  readonly apiKey: Secret;
  readonly ingestToken: Secret;
  readonly account: Account;
  /** Writes that started automations; 0 if all of them suppressed triggers. */
  readonly triggersFired: number;
  state(): SandboxState;
  /** In the order of arrival. */
  requests(): readonly RequestEntry[];
  /** Requests per window from now on. */
  setLimit(requests: number): void;
  /** The old token is refused immediately. */
  rotateToken(): void;
  rotateKey(): void;
  /** Closes all connections, including those that wait for an answer. */
  close(): Promise<void>;
}

/**
 * Starts a sandbox; it is listening when the promise resolves. `routesOf`: what answers the requests that its gateway lets
 * through. Throws a `UserError` for a port or journal that cannot be used.
 */
export async function startSandbox(
  options: SandboxOptions = {},
  routesOf: (context: SandboxContext) => Routes = (context) => sandboxApp(context).fetch,
): Promise<Sandbox> {
  const requests: RequestEntry[] = [];
  const { account = defaultAccount(), journal, apiKey, ingestToken } = options;
  const context: SandboxContext = {
    account,
    store: await Store.open(journal),
    requests,
    apiKey: apiKey === undefined ? newApiKey() : new Secret(apiKey),
    ingestToken: ingestToken === undefined ? newIngestToken() : new Secret(ingestToken),
    triggersFired: 0,
    now: options.clock ?? (() => performance.timeOrigin + performance.now()),
  };
  const gateway = new Gateway(context, routesOf(context), {
    rate: options.rate ?? { requests: LIMITS.requestsPerWindow, seconds: LIMITS.windowSeconds },
    countRefused: options.countRefused ?? false,
  });
  const server = createAdaptorServer({
    fetch: (request, env) => gateway.handle(request, env as HttpBindings),
    createServer,
    overrideGlobalObjects: false,
  }) as Server;
  await listen(server, options.port ?? 0);
  const { port } = server.address() as AddressInfo;

  return {
    baseUrl: `http://127.0.0.1:${port}`,
    account,
    get apiKey() {
      return context.apiKey;
    },
    get ingestToken() {
      return context.ingestToken;
    },
    get triggersFired() {
      return context.triggersFired;
    },
    state: () => context.store.state(),
    requests: () => requests,
    setLimit: (limit) => gateway.setLimit(limit),
    rotateToken: () => void (context.ingestToken = newIngestToken()),
    rotateKey: () => void (context.apiKey = newApiKey()),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      context.store.close();
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    throw new UserError(`the sandbox cannot listen on 127.0.0.1:${port}: ${messageOf(error)}`, {
      ...(codeOf(error) === 'EADDRINUSE' ? { hint: 'choose another port' } : {}),
      cause: error,
    });
  }
}
