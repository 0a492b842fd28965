// Lost without it: a request could leave without its headers, or an answer be read without end.
import { inspect } from 'node:util';
import { createServer } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { canonicalJson, NumberText } from '../../src/json.ts';
import { Secret } from '../../src/redact.ts';
import type { Client, ClientOptions } from '../../src/service/client.ts';
import { envelope, INGEST_HEADERS } from '../../src/service/envelope.ts';
import { connectTo as connect, listening, processed, serve, type Answer, type Arrived } from './scripted-server.ts';

const TOKEN = 'token/with odd?chars';
const KEY = 'key-kept-secret';

function connectTo(baseUrl: string, options: Partial<ClientOptions> = {}): Client {
  return connect(baseUrl, { apiKey: new Secret(KEY), ingestToken: new Secret(TOKEN), ...options });
}

const data = {
  external_id: '00123',
  custom_fields: { big: new NumberText('9007199254740993'), price: new NumberText('5.10') },
};
const ready = { content: canonicalJson(data), occurredAt: '2024-10-27T11:00:00.000Z' };
const event = envelope(ready, 'id-1', 'deal/created');

describe('the envelope', () => {
  test('suppresses triggers in body and header, and keeps all digits of numbers', () => {
    expect(INGEST_HEADERS).toEqual({ 'content-type': 'application/json', 'x-suppress-triggers': 'true' });
    expect(event).toBe(
      '{"data":{"custom_fields":{"big":9007199254740993,"price":5.10},"external_id":"00123"},"id":"id-1",' +
        '"occurred_at":"2024-10-27T11:00:00.000Z","suppress_triggers":true,"type":"deal/created"}',
    );
  });
});

describe('requests', () => {
  test('of a refusal only the beginning is read: its status says what it is', async () => {
    let isOver = false;
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(422, { 'content-type': 'application/json' });
      const escapes = '\\u0041'.repeat(10_000);
      const write = (): void => {
        if (!response.destroyed) response.write(escapes, () => setImmediate(write));
      };
      response.write('{"error":{"code":"invalid_payload","message":"');
      response.on('close', () => (isOver = true));
      write();
    });
    const client = connectTo(await listening(server));
    expect(await client.ingest(event)).toMatchObject({ kind: 'refused', status: 422 });
    await vi.waitFor(() => expect(isOver).toBe(true));
  });

  test('an event is sent to the webhook under the base path, with the encoded token and the API key in a header', async () => {
    const server = await serve(() => processed());
    expect(await connectTo(`${server.baseUrl}/api/v1/`).ingest(event)).toMatchObject({ kind: 'acknowledged' });
    const [request] = server.arrived;
    expect(request).toMatchObject({ method: 'POST', url: `/api/v1/webhooks/ingest/${encodeURIComponent(TOKEN)}` });
    expect(request!.headers).toMatchObject({
      'x-api-key': KEY,
      'x-suppress-triggers': 'true',
      'content-type': 'application/json',
      'user-agent': 'crm-backfill/test',
    });
    expect(request!.headers).not.toHaveProperty('accept-encoding');
  });

  test('a REST call sends the query and the key, and returns the answer', async () => {
    const server = await serve(() => ({ status: 200, body: { id: 7 } }));
    const client = connectTo(server.baseUrl);
    const attempt = await client.get('/leads', { page: 1, search: 'a b&c' });
    expect(attempt).toMatchObject({ kind: 'answered', reply: { status: 200, body: '{"id":7}' } });
    expect(server.arrived[0]).toMatchObject({ method: 'GET', url: '/leads?page=1&search=a+b%26c' });
    expect(server.arrived[0]!.headers).toHaveProperty('x-api-key');
    expect(client.requests).toBe(1);
  });

  test('/health is requested without the API key and is not counted', async () => {
    const server = await serve(() => processed());
    const client = connectTo(server.baseUrl);
    expect(await client.health()).toEqual({ answers: true });
    server.health = 503;
    expect(await client.health()).toEqual({ answers: false, message: 'answered 503' });
    expect(server.healthChecks[0]).not.toHaveProperty('x-api-key');
    expect(client.requests).toBe(0);
  });

  test('beforeSend is awaited before the request; a withdrawn request is not sent', async () => {
    const server = await serve(() => processed());
    const client = connectTo(server.baseUrl);
    const beforeSend = vi.fn(async () => expect(server.arrived).toHaveLength(0));
    await client.ingest(event, { beforeSend });
    expect(beforeSend).toHaveBeenCalledTimes(1);
    expect(await client.ingest(event, { beforeSend, mayStart: () => false })).toEqual({ kind: 'withdrawn' });
    expect(await client.ingest(event, { beforeSend, signal: AbortSignal.abort() })).toEqual({ kind: 'withdrawn' });
    expect(beforeSend).toHaveBeenCalledTimes(1);
    expect(server.arrived).toHaveLength(1);
  });

  test('one deadline covers connection, headers and body', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200);
      const dripping = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(dripping));
    });
    const client = connectTo(await listening(server), { timeoutSeconds: 0.2 });
    for (const ask of [() => client.get('/leads'), () => client.ingest(event)]) {
      expect(await ask()).toMatchObject({ kind: 'unanswered', code: 'timeout', sent: 'maybe' });
    }
  });

  test('an endless answer is cut off', async () => {
    const server = createServer((_request, response) => {
      const megabyte = Buffer.alloc(1024 * 1024, ' ');
      const pour = (): void => {
        while (!response.destroyed && response.write(megabyte));
      };
      response.writeHead(200);
      response.on('drain', pour);
      pour();
    });
    const client = connectTo(await listening(server));
    for (const ask of [() => client.get('/leads'), () => client.ingest(event)]) {
      expect(await ask()).toMatchObject({ kind: 'unanswered', code: 'too_large', sent: 'maybe' });
    }
  });

  test('an answer with headers of 20 kB is read, and one with more than 128 kB is too large', async () => {
    const sizes = [20_000, 200_000];
    const server = await serve((_, nth) => ({
      status: 200,
      body: [],
      headers: { 'x-policy': 'x'.repeat(sizes[nth - 1]!) },
    }));
    const client = connectTo(server.baseUrl);
    expect(await client.get('/leads')).toMatchObject({ kind: 'answered' });
    expect(await client.get('/leads')).toMatchObject({ kind: 'unanswered', code: 'too_large', sent: 'maybe' });
  });

  test('an answer is assembled from any chunks, and interim answers are ignored', async () => {
    const body = Buffer.from('\ufeff{"name":"Zo\u00eb"}');
    const server = createServer((_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.writeHead(200, { 'x-ratelimit-limit': '100', link: ['a', 'b'] });
      response.write(body.subarray(0, -3));
      setTimeout(() => response.end(body.subarray(-3)), 20);
    });
    const client = connectTo(await listening(server));
    expect(await client.get('/leads/7')).toMatchObject({
      kind: 'answered',
      reply: { status: 200, headers: { 'x-ratelimit-limit': '100', link: 'a, b' }, body: '{"name":"Zo\u00eb"}' },
    });
  });
});

describe('secrets', () => {
  const leaks = [TOKEN, encodeURIComponent(TOKEN), KEY];

  function expectClean(value: unknown): void {
    const text = [inspect(value, { depth: 20, showHidden: true }), JSON.stringify(value), String(value)].join('\n');
    for (const leak of leaks) expect(text).not.toContain(leak);
  }

  test.each([
    ['a page that repeats the URL', ({ url }: Arrived): Answer => ({ status: 404, body: `Cannot POST ${url}` })],
    ['an error that repeats the key', (): Answer => ({ status: 400, body: { error: `bad key ${KEY}` } })],
    ['a redirect to the same path', ({ url }: Arrived): Answer => ({ status: 301, headers: { location: url } })],
    ['a 200 that repeats the URL', ({ url }: Arrived): Answer => ({ status: 200, body: { url } })],
    ['a lost connection', (): Answer => 'cut'],
  ])('do not appear in the result of %s', async (_name, answer) => {
    const server = await serve(answer);
    expectClean(await connectTo(server.baseUrl).ingest(event));
    expectClean(await connectTo(server.baseUrl).get(`/${encodeURIComponent(TOKEN)}`));
  });
});
