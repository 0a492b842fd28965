import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { handler as api } from '../../src/commands/api.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { backfill, environmentOf, files, sandbox, workspace } from '../e2e/harness.ts';
import { startScripted, type Answer, type Arrived } from '../service/scripted-server.ts';
import { call, envFile, type Said } from './in-process.ts';
import { useFastClock } from '../clock.ts';

useFastClock();

type Argv = Readonly<Record<string, unknown>>;

async function ask(service: Sandbox, method: string, path: string, options: Argv = {}): Promise<Said> {
  return call(api, { method, path, envFile: await envFile(service), ...options });
}

function nothingArrived(service: Sandbox): boolean {
  return service.requests().length === 0;
}

describe('api', () => {
  it('prints the body as JSON to stdout, and nothing else', async () => {
    const said = await ask(await sandbox(), 'GET', '/pipelines');
    expect(said.code).toBe(0);
    expect(JSON.parse(said.stdout)).toMatchObject([{ name: 'Sales' }, { name: 'Partners' }, { name: 'Inbound' }]);
    expect(said.stdout).toContain('\n  {');
    expect(said.stderr).toContain('HTTP 200');
    expect(said.stderr).toMatch(/x-ratelimit-remaining: \d+/);
    expect(said.stderr).toMatch(/x-ratelimit-reset: \d+/);
  });

  it('prints objects that contain a list unchanged', async () => {
    const service = await sandbox();
    expect(JSON.parse((await ask(service, 'get', '/comments')).stdout)).toEqual({ items: [], total: 0 });
  });

  it('adds parameters to the query, including repeated ones', async () => {
    const service = await sandbox();
    const said = await ask(service, 'GET', '/pipelines?type=DEAL', { query: ['a=1 2', 'a=x=y', 'b='] });
    expect(said.code).toBe(0);
    expect(service.requests().at(-1)!.path).toBe('/pipelines?type=DEAL&a=1+2&a=x%3Dy&b=');
  });

  it('keeps every digit of numbers', async () => {
    const service = await scripted(() => ({ status: 200, body: '{"id":9007199254740993,"amount":5.10}' }));
    const said = await call(api, { method: 'GET', path: '/deals/1', envFile: service.envFile });
    expect(said.stdout).toBe('{\n  "id": 9007199254740993,\n  "amount": 5.10\n}\n');
  });

  it.each([
    [401, 'BACKFILL_API_KEY', { BACKFILL_API_KEY: 'sk_some_other_key' }],
    [404, 'no such route, or no record', {}],
  ])('explains %i and exits with 1, with the body still on stdout', async (status, explanation, changes) => {
    const service = await sandbox();
    const said = await call(api, { method: 'GET', path: '/leads/none', envFile: await envFile(service, changes) });
    expect(said.code).toBe(1);
    expect(said.stderr).toContain(`HTTP ${status}`);
    expect(said.stderr).toContain(explanation);
    expect(JSON.parse(said.stdout)).toHaveProperty('error');
  });

  it('explains 403', async () => {
    const service = await scripted(() => ({ status: 403, body: { error: 'other account' } }));
    const said = await call(api, { method: 'GET', path: '/leads/1', envFile: service.envFile });
    expect(said.code).toBe(1);
    expect(said.stderr).toContain('another account');
  });

  it('prints what is no JSON unchanged, except on a terminal, and escapes control characters of JSON', async () => {
    const text = 'page \u001b[2J\u009b1m\n\tend';
    const bodies = [text, text, '{"a":"\u009b1m\u202eb"}'];
    const service = await scripted((_, nth) => ({
      status: 200,
      body: bodies[nth - 1],
      headers: { location: '/\u009b1' },
    }));
    const page = await call(api, { method: 'GET', path: '/leads', envFile: service.envFile });
    expect(page.stdout).toBe(`${text}\n`);
    expect(page.stderr).toContain('location: / 1\n');
    const shown = await call(api, { method: 'GET', path: '/leads', envFile: service.envFile }, { isTTY: true });
    expect(shown.stdout).toBe('page [U+001B][2J[U+009B]1m\n\tend\n');
    const json = await call(api, { method: 'GET', path: '/leads', envFile: service.envFile });
    expect(json.stdout).toBe('{\n  "a": "\\u009b1m\\u202eb"\n}\n');
  });

  it('calls /health and /version without the key', async () => {
    const service = await scripted(() => ({ status: 200, body: { version: '7' } }));
    expect((await call(api, { method: 'GET', path: '/version', envFile: service.envFile })).code).toBe(0);
    expect((await call(api, { method: 'GET', path: '/health', envFile: service.envFile })).code).toBe(0);
    expect(service.arrived[0]!.headers).not.toHaveProperty('x-api-key');
    expect(service.healthChecks[0]).not.toHaveProperty('x-api-key');
    expect((await call(api, { method: 'GET', path: '/pipelines', envFile: service.envFile })).code).toBe(0);
    expect(service.arrived[1]!.headers).toHaveProperty('x-api-key');
  });

  it('needs no key for /health and /version, and for nothing else', async () => {
    const service = await scripted(() => ({ status: 200, body: { version: '7' } }));
    const cwd = await workspace();
    await files(cwd, { env: `BACKFILL_BASE_URL=${service.baseUrl}\n` });
    const envFile = join(cwd, 'env');
    for (const path of ['/health', '/version', '/version/', '/version?a=1']) {
      expect(await call(api, { method: 'GET', path, envFile }), path).toMatchObject({ code: 0 });
    }
    const refused = await call(api, { method: 'GET', path: '/pipelines', envFile });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('BACKFILL_API_KEY');
    expect(service.arrived.map(({ url }) => url)).toEqual(['/version', '/version/', '/version?a=1']);
  });

  it('needs no ingestion token', async () => {
    const service = await sandbox();
    const file = await envFile(service, { BACKFILL_INGEST_TOKEN: '' });
    expect((await call(api, { method: 'GET', path: '/pipelines', envFile: file })).code).toBe(0);
  });

  it('never shows the API key, even if the service sends it back', async () => {
    const service = await scripted(({ headers }) => ({
      status: 400,
      body: { error: `what a key: ${String(headers['x-api-key'])}` },
      headers: { location: `/x?key=${String(headers['x-api-key'])}` },
    }));
    const said = await call(api, { method: 'GET', path: '/pipelines', envFile: service.envFile });
    expect(said.stdout).toContain('what a key: ***');
    expect(said.stdout + said.stderr).not.toContain('sk_scripted_key');
  });
});

describe('api, before it sends anything,', () => {
  it.each([
    ['/webhooks/ingest/ingest_abc', 'ingestion webhook'],
    ['/webhooks/ingest', 'ingestion webhook'],
    ['/WebHooks/Ingest/x?page=1', 'ingestion webhook'],
    ['/external/webhooks/ingest/x', 'ingestion webhook'],
    ['webhooks/ingest/x', 'the path must look like'],
    ['/webhooks//ingest/x', 'the path must look like'],
    ['//evil.example/leads', 'the path must look like'],
    ['https://evil.example/leads', 'the path must look like'],
    ['/webhooks/a/../ingest/x', 'the path must look like'],
    ['/webhooks/./ingest/x', 'the path must look like'],
    ['/%77ebhooks/ingest/x', 'the path must look like'],
    ['/leads/%252e%252E/x', 'the path must look like'],
    ['/webhooks;v=1/ingest/x', 'the path must look like'],
    ['/webhooks\\ingest\\x', 'the path must look like'],
    ['/leads/\u2025/x', 'the path must look like'],
    ['/leads/a b', 'the path must look like'],
    ['/leads#x', 'the path must look like'],
  ])('refuses the path %s', async (path, why) => {
    const service = await sandbox();
    const said = await ask(service, 'POST', path, { write: true, data: '{}' });
    expect(said.code).toBe(2);
    expect(said.stderr).toContain(why);
    expect(nothingArrived(service)).toBe(true);
  });

  it('refuses the webhook when the base URL contains part of its path', async () => {
    const service = await sandbox();
    const file = await envFile(service, { BACKFILL_BASE_URL: `${service.baseUrl}/webhooks` });
    const said = await call(api, { method: 'POST', path: '/ingest/x', envFile: file, write: true });
    expect(said.stderr).toContain('ingestion webhook');
    expect(nothingArrived(service)).toBe(true);
  });

  it('refuses a secret in the path or query without repeating it', async () => {
    const service = await sandbox();
    const key = service.apiKey.reveal();
    for (const options of [{ path: `/leads/${key}` }, { path: '/leads', query: [`apiKey=${key}`] }]) {
      const said = await ask(service, 'GET', '', options);
      expect(said.code).toBe(2);
      expect(said.stderr).toContain('contains a secret');
      expect(said.stderr).not.toContain(key);
    }
    expect(nothingArrived(service)).toBe(true);
  });

  it.each([
    [{ method: 'DELETE' }, '--write'],
    [{ method: 'POST', data: '{}' }, 'automations may fire'],
    [{ method: 'HEAD' }, 'is not one of GET'],
    [{ method: 'GET', data: '{}' }, 'a GET has no body'],
    [{ method: 'POST', data: '{a:1}', write: true }, '--data is not valid JSON'],
    [{ method: 'POST', data: '@nowhere.json', write: true }, 'cannot read nowhere.json'],
    [{ method: 'POST', write: true, paginate: true }, '--paginate requires GET'],
    [{ method: 'PATCH', write: true, idempotencyKey: 'k' }, '--idempotency-key requires POST'],
    [{ method: 'POST', write: true, idempotencyKey: 'k'.repeat(256) }, '1 to 255'],
    [{ method: 'GET', query: ['type'] }, 'NAME=VALUE'],
    [{ method: 'GET', paginate: true, query: ['page=2'] }, 'leave them out'],
    [{ method: 'GET', paginate: true, query: ['cursor=x'] }, 'leave them out'],
    [{ method: 'GET', timeout: 'abc' }, '--timeout'],
  ])('refuses %j as a usage error', async (options, why) => {
    const service = await sandbox();
    const said = await ask(service, 'GET', '/leads', options);
    expect(said.code).toBe(2);
    expect(said.stderr).toContain(why);
    expect(nothingArrived(service)).toBe(true);
  });
});

describe('api, when it writes,', () => {
  it('warns of automations, and sends an idempotency key that it prints', async () => {
    const service = await sandbox();
    const said = await ask(service, 'POST', '/leads', { write: true, data: '{"fullName":"Ada"}' });
    expect(said.code).toBe(0);
    expect(JSON.parse(said.stdout)).toMatchObject({ fullName: 'Ada' });
    expect(said.stderr).toContain('automations may fire');
    const key = service.requests()[0]!.headers['idempotency-key'];
    expect(key).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(said.stderr).toContain(`Idempotency-Key: ${key}`);
  });

  it('has no further effect when repeated with the same --idempotency-key', async () => {
    const service = await sandbox();
    const directory = await workspace();
    await files(directory, { 'lead.json': '{"fullName":"Ada"}' });
    const options = { write: true, data: `@${join(directory, 'lead.json')}`, idempotencyKey: 'mine' };
    const first = await ask(service, 'POST', '/leads', options);
    const again = await ask(service, 'POST', '/leads', options);
    expect(again.stdout).toBe(first.stdout);
    expect(service.state().leads).toHaveLength(1);
    const other = await ask(service, 'POST', '/leads', { ...options, data: '{}' });
    expect(other.code).toBe(1);
    expect(other.stderr).toMatch(/^422: .*different body.*fresh key/m);
  });

  it('retries a POST with the same key after a 5xx, and after a 429 when Retry-After says so', async () => {
    const answers: Answer[] = [
      { status: 503, body: { error: 'later' } },
      { status: 429, body: {}, headers: { 'retry-after': '1' } },
      { status: 201, body: { id: 'new' } },
    ];
    const service = await scripted((_, nth) => answers[nth - 1]!);
    const said = await call(api, { method: 'POST', path: '/leads', write: true, data: '{}', envFile: service.envFile });
    expect(said.code).toBe(0);
    expect(service.arrived).toHaveLength(3);
    expect(new Set(service.arrived.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  it.each(['PATCH', 'PUT', 'DELETE'])('retries a %s after a 429, which was not executed', async (method) => {
    const limited: Answer = { status: 429, body: {}, headers: { 'retry-after': '1' } };
    const service = await scripted((_, nth) => (nth === 1 ? limited : { status: 200, body: { id: '1' } }));
    const said = await call(api, { method, path: '/leads/1', write: true, envFile: service.envFile });
    expect(said.code).toBe(0);
    expect(service.arrived.map((request) => request.method)).toEqual([method, method]);
  });

  it('does not retry a PATCH that may have been executed', async () => {
    const service = await scripted(() => ({ status: 500, body: { error: 'no' } }));
    const options = { method: 'PATCH', path: '/leads/1', write: true, data: '{}', envFile: service.envFile };
    expect((await call(api, options)).code).toBe(1);
    expect(service.arrived).toHaveLength(1);
    expect(service.arrived[0]!.headers).not.toHaveProperty('idempotency-key');
  });

  it('warns that the service sets owner and creator itself', async () => {
    const service = await sandbox();
    const data = '{"fullName":"Ada","ownerId":"u-1","createdBy":"u-2"}';
    const said = await ask(service, 'POST', '/leads', { write: true, data });
    expect(said.code).toBe(0);
    expect(said.stderr).toMatch(/warning: .*ignores ownerId and createdBy/);
    const other = await ask(service, 'POST', '/leads', { write: true, data: '{"fullName":"ownerId"}' });
    expect(other.stderr).not.toContain('ignores');
  });

  it('says after a 409 what to do', async () => {
    const service = await scripted(() => ({ status: 409, body: { error: 'Unique constraint failed' } }));
    const options = { method: 'POST', path: '/leads', write: true, data: '{}', envFile: service.envFile };
    const said = await call(api, options);
    expect(said.code).toBe(1);
    expect(said.stderr).toMatch(/^409: .*GET.*before you send this again/m);
    expect(service.arrived).toHaveLength(1);
  });

  it('warns of a route that the service will retire, as its headers say', async () => {
    const headers = { deprecation: '@1767225600', sunset: 'Thu, 31 Dec 2026 23:59:59 GMT', link: '</leads>' };
    const service = await scripted(() => ({ status: 200, body: [], headers }));
    const said = await call(api, { method: 'GET', path: '/external/leads', envFile: service.envFile });
    expect(said.code).toBe(0);
    expect(said.stderr).toMatch(/retiring this route \(deprecation: .*sunset: .*link: /);
  });
});

describe('api --paginate', () => {
  it('joins the pages of a list into one array, for any shape of the pages', async () => {
    const service = await sandbox();
    const said = await ask(service, 'GET', '/platform-users', { paginate: true });
    expect(said.code).toBe(0);
    expect(JSON.parse(said.stdout)).toHaveLength(8);
    expect(said.stderr).toContain('8 items on 1 page');
  });

  it('follows cursors and links, and keeps the parameters of the path', async () => {
    const next = '/leads?status=open&cursor=abc';
    const service = await scripted(({ url }) => ({
      status: 200,
      body: url.includes('cursor') ? { items: [{ id: 2 }] } : { items: [{ id: 1 }], links: { next } },
    }));
    const path = '/leads?status=open';
    const said = await call(api, { method: 'GET', path, paginate: true, envFile: service.envFile });
    expect(JSON.parse(said.stdout)).toEqual([{ id: 1 }, { id: 2 }]);
    expect(service.arrived.map(({ url }) => url)).toEqual([
      '/leads?status=open&page=1&pageSize=100',
      '/leads?status=open&cursor=abc',
    ]);
  });

  it('prints nothing if the service says that items are missing', async () => {
    const service = await scripted(() => ({ status: 200, body: { items: [{ id: 1 }], total: 3 } }));
    const said = await call(api, { method: 'GET', path: '/leads', paginate: true, envFile: service.envFile });
    expect(said).toMatchObject({ code: 1, stdout: '' });
    expect(said.stderr).toContain('GET /leads returned only 1 of 3 items');
  });

  it('prints nothing if a page fails, and exits with 1', async () => {
    const service = await scripted((_, nth) =>
      nth === 1 ? { status: 200, body: [{ id: 1 }] } : { status: 404, body: { error: 'gone' } },
    );
    const said = await call(api, { method: 'GET', path: '/leads', paginate: true, envFile: service.envFile });
    expect(said).toMatchObject({ code: 1, stdout: '' });
    expect(said.stderr).toContain('404');
  });
});

it('api is available on the command line, with its options', async () => {
  const service = await sandbox();
  const cwd = await workspace();
  const env = environmentOf(service);
  const ended = await backfill(['api', 'GET', '/pipelines', '--query', 'type=LEAD'], { cwd, env });
  expect(ended.code, ended.stderr).toBe(0);
  expect(JSON.parse(ended.stdout)).toMatchObject([{ name: 'Inbound' }]);
  const refused = await backfill(['api', 'POST', '/leads', '--data', '{"fullName":"Ada"}'], { cwd, env });
  expect(refused.code).toBe(2);
  expect(service.state().leads).toEqual([]);
  const unknown = await backfill(['api', 'GET', '/pipelines'], { cwd });
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain('BACKFILL_API_KEY=');
  expect(unknown.stderr).not.toContain('--sandbox');
});

async function scripted(answer: (request: Arrived, nth: number) => Answer) {
  const server = await startScripted(answer);
  onTestFinished(() => server.close());
  const directory = await workspace();
  await files(directory, { env: `BACKFILL_BASE_URL=${server.baseUrl}\nBACKFILL_API_KEY=sk_scripted_key\n` });
  return Object.assign(server, { envFile: join(directory, 'env') });
}
