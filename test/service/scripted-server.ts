import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { Secret } from '../../src/redact.ts';
import { createClient, type Client, type ClientOptions } from '../../src/service/client.ts';
import { Limiter } from '../../src/service/limiter.ts';

/** One request as it arrived. */
export interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** The body as JSON, where it is any. */
  readonly body: { readonly id: string; readonly type: string; readonly data: Record<string, unknown> };
}

/** What to do with it: an answer, a cut connection, or silence until `release` is called. */
export type Answer =
  { status: number; body?: unknown; headers?: Record<string, string>; after?: Promise<unknown> } | 'cut' | 'silence';

export interface ScriptedServer {
  readonly baseUrl: string;
  /** Requests of the ingestion webhook and of REST routes, /health left out. */
  readonly arrived: Arrived[];
  /** How often /health was asked, and with which headers. */
  readonly healthChecks: IncomingMessage['headers'][];
  /** Status of /health from now on; 200 at first. */
  health: number;
  close(): Promise<void>;
}

/** A real HTTP server on port 0 that answers as `answer` says. */
export async function startScripted(answer: (request: Arrived, nth: number) => Answer): Promise<ScriptedServer> {
  const arrived: Arrived[] = [];
  const healthChecks: IncomingMessage['headers'][] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      if (request.url?.endsWith('/health')) {
        healthChecks.push(request.headers);
        return response.writeHead(scripted.health).end('{}');
      }
      const text = Buffer.concat(chunks).toString('utf8');
      const seen: Arrived = {
        method: request.method!,
        url: request.url!,
        headers: request.headers,
        text,
        body: (text === '' ? {} : JSON.parse(text)) as Arrived['body'],
      };
      arrived.push(seen);
      const next = answer(seen, arrived.length);
      if (next === 'silence') return;
      if (next === 'cut') return request.socket.destroy();
      await next.after;
      const given = withEntity(next.body, seen.body.type);
      const body = typeof given === 'string' || Buffer.isBuffer(given) ? given : JSON.stringify(given ?? {});
      return response.writeHead(next.status, next.headers).end(body);
    })();
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const scripted: ScriptedServer = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    healthChecks,
    health: 200,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return scripted;
}

function withEntity(body: unknown, type: string | undefined): unknown {
  if (typeof body !== 'object' || body === null || (body as { status?: unknown }).status !== 'processed') return body;
  const entity = type?.split('/')[0] ?? '';
  return { entity: entity.charAt(0).toUpperCase() + entity.slice(1), ...body };
}

/** The URL of a server on a free port of this machine, closed after the test. */
export async function listening(server: Server | HttpsServer): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Service interface, section 2.7. The server adds the entity of the event. */
export function processed(outcome: 'created' | 'updated' | 'none' = 'created', deduplicated = false): Answer {
  return { status: 200, body: { status: 'processed', id: 'srv-1', outcome, deduplicated } };
}

/** Service interface, section 7.3. */
export function failed(status: number, code: string, message = 'because'): Answer {
  return { status, body: { success: false, error: { code, message } } };
}

/** The same, closed after the test. */
export async function serve(answer: (request: Arrived, nth: number) => Answer): Promise<ScriptedServer> {
  const server = await startScripted(answer);
  onTestFinished(() => server.close());
  return server;
}

/** A client with a rate limit that no test reaches, closed after the test. */
export function connectTo(baseUrl: string, options: Partial<ClientOptions> = {}): Client {
  const { clock = systemClock, concurrency = 4 } = options;
  const client = createClient({
    baseUrl,
    apiKey: new Secret('key-kept-secret'),
    ingestToken: new Secret('token-kept-secret'),
    timeoutSeconds: 5,
    concurrency,
    limiter: new Limiter({ rate: { requests: 10_000, seconds: 1 }, concurrency, clock }),
    userAgent: 'crm-backfill/test',
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}
