import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UserError, codeOf } from '../errors.ts';
import { EVENTS, LIVE_POLICY, reportPage, sectionsOf, type PageSections } from './html/page.ts';
import type { PageData } from './page-data.ts';

export interface LiveServer {
  /** Contains the token. */
  readonly url: string;
  close(): Promise<void>;
}

const UPDATE_MS = 2_000;
/** The port may be another one: that of an ssh tunnel. */
const LOCAL_HOST = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/i;

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': LIVE_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * Serves the live page on 127.0.0.1, at a path with a random token, so that other users of the machine cannot read it. Requests
 * with the name of another host (DNS rebinding), and all methods but GET, are refused. `read` is never called concurrently.
 */
export async function startLiveServer(port: number, read: () => Promise<PageData>): Promise<LiveServer> {
  const token = randomBytes(24).toString('base64url');
  const pages = { [`/${token}/`]: sendPage, [`/${token}/${EVENTS}`]: follow };
  const followers = new Set<ServerResponse>();
  let reading: Promise<PageData> | undefined;
  let shown: PageSections = {};

  function present(): Promise<PageData> {
    reading ??= read().finally(() => (reading = undefined));
    return reading;
  }

  async function sendPage(response: ServerResponse): Promise<void> {
    const page = reportPage(await present());
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/html; charset=utf-8' }).end(page);
  }

  async function follow(response: ServerResponse): Promise<void> {
    const current = sectionsOf(await present());
    if (response.destroyed) return;
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' });
    response.write(eventOf(current));
    followers.add(response);
    response.once('close', () => followers.delete(response));
  }

  async function update(): Promise<void> {
    if (followers.size === 0) return;
    const current = sectionsOf(await present());
    const changed = Object.fromEntries(Object.entries(current).filter(([id, text]) => text !== shown[id]));
    shown = current;
    for (const follower of followers) follower.write(eventOf(changed));
  }

  const server = createServer((request, response) => {
    const refusal = refusalOf(request);
    const page = refusal === undefined ? pageAt(pages, request.url ?? '') : undefined;
    if (!page) {
      const allow = refusal === 405 ? { allow: 'GET' } : {};
      response.writeHead(refusal ?? 404, { ...HEADERS, ...allow }).end();
      return;
    }
    page(response).catch(() => response.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((error: unknown) => {
    throw new UserError(`cannot listen on port ${port} of 127.0.0.1: ${codeOf(error)}`, {
      hint: 'choose another port, or give --serve without one',
    });
  });
  const updating = setInterval(() => void update().catch(() => undefined), UPDATE_MS);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${token}/`,
    async close() {
      clearInterval(updating);
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function refusalOf({ method, headers }: IncomingMessage): number | undefined {
  if (!LOCAL_HOST.test(headers.host ?? '')) return 421;
  return method === 'GET' ? undefined : 405;
}

/** Compares in constant time, since the path contains the token. */
function pageAt<T>(pages: Readonly<Record<string, T>>, path: string): T | undefined {
  const given = Buffer.from(path);
  return Object.entries(pages).find(([known]) => {
    const expected = Buffer.from(known);
    return expected.length === given.length && timingSafeEqual(expected, given);
  })?.[1];
}

function eventOf(sections: PageSections): string {
  return `data: ${JSON.stringify(sections)}\n\n`;
}
