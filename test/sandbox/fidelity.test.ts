import { expect, onTestFinished, test } from 'vitest';
import type { Secret } from '../../src/redact.ts';
import { uuidOf } from '../../src/commands/sandbox/account.ts';
import { startSandbox } from '../../src/commands/sandbox/index.ts';
import { sandboxApp } from '../../src/commands/sandbox/serve.ts';
import { call, clockAt, errorOf, sandboxFor, sandboxWithRecords } from './client.ts';

test('every response under /external is deprecated and has the old envelope, errors included', async () => {
  const sandbox = await sandboxFor({ rate: { requests: 2, seconds: 60 } });
  const bad = { headers: { 'x-api-key': 'sk_other' } };
  const answers = [
    await call(sandbox, 'GET', '/external/activities', bad),
    await call(sandbox, 'GET', '/external/activities'),
    await call(sandbox, 'GET', '/external/unknown'),
    await call(sandbox, 'GET', '/external/activities'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([401, 200, 404, 429]);
  for (const { headers } of answers) {
    expect(headers.get('deprecation')).toMatch(/^@\d+$/);
    expect(headers.get('sunset')).toBe('Thu, 31 Dec 2026 23:59:59 GMT');
    expect(headers.get('link')).toMatch(/^<\/\w+>; rel="successor-version"$/);
  }
  for (const answer of [answers[0]!, answers[2]!, answers[3]!]) expect(answer.body).toMatchObject({ success: false });
  expect(answers[0]!.body).toEqual({ success: false, error: { message: 'X-API-Key is invalid' } });
  for (const answer of [answers[2]!, answers[3]!]) expect(errorOf(answer).code).toMatch(/^[A-Z_]+$/);
  const { headers, body } = await call(sandbox, 'GET', '/leads', bad);
  expect(headers.has('deprecation')).toBe(false);
  expect(body).toEqual({ error: 'X-API-Key is invalid' });
});

const RESOURCES: readonly (readonly [
  path: string,
  kind: keyof Awaited<ReturnType<typeof sandboxWithRecords>>['ids'],
])[] = [
  ['/leads/:id', 'lead'],
  ['/companies/:id', 'company'],
  ['/deals/:id', 'deal'],
  ['/deals/:id/products', 'deal'],
  ['/deals/:id/payment-terms', 'deal'],
  ['/pipelines/:id/activity-templates', 'pipeline'],
  ['/quotes/:id', 'quote'],
  ['/contracts/:id', 'contract'],
  ['/conversations/:id/messages', 'conversation'],
  ['/messages/:id', 'message'],
  ['/emails/:id', 'email'],
];

test('every documented route of a resource answers its account, another one with 403, and 404 where there is none', async () => {
  const { sandbox, ids } = await sandboxWithRecords();
  const others = { headers: { 'x-api-key': sandbox.other.apiKey.reveal() } };
  for (const [path, kind] of RESOURCES) {
    const ask = async (id: string, options = {}) =>
      (await call(sandbox, 'GET', path.replace(':id', id), options)).status;
    expect([path, await ask(ids[kind]), await ask(ids[kind], others), await ask('none')]).toEqual([
      path,
      200,
      403,
      404,
    ]);
  }
  const refused = await call(sandbox, 'GET', `/leads/${ids.lead}`, others);
  expect(refused.body).toEqual({ error: 'Lead belongs to another account' });
  expect((await call(sandbox, 'GET', '/leads', others)).body).toMatchObject({ leads: [], total: 0 });
  expect((await call(sandbox, 'GET', '/api-logs', others)).body).toMatchObject({ total: RESOURCES.length + 2 });
});

test('the reference of the routes, to which hints send people, is there without a key', async () => {
  const sandbox = await sandboxFor();
  const answer = await fetch(`${sandbox.baseUrl}/docs/partners`);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toMatch(/GET \/pipelines\n[\s\S]*GET \/deals\/\{id\}/);
});

test('an ingestion token and a key of different accounts are refused', async () => {
  const sandbox = await sandboxFor();
  const ingest = (token: Secret, key: Secret) =>
    call(sandbox, 'POST', `/webhooks/ingest/${token.reveal()}`, {
      body: { id: '1', type: 'lead/created', suppress_triggers: true, data: { external_id: 'L' } },
      headers: { 'x-api-key': key.reveal() },
    });
  for (const [token, key] of [
    [sandbox.other.ingestToken, sandbox.apiKey],
    [sandbox.ingestToken, sandbox.other.apiKey],
  ] as const) {
    const answer = await ingest(token, key);
    expect([answer.status, errorOf(answer).code]).toEqual([403, 'webhook_auth_failed']);
  }
  expect((await ingest(sandbox.other.ingestToken, sandbox.other.apiKey)).status).toBe(200);
  expect(sandbox.state().leads).toEqual([]);
});

test('documents are made of a deal and a template of their kind, and only those there are can be sent', async () => {
  const { sandbox, ids } = await sandboxWithRecords();
  for (const [path, other] of [
    ['/quotes', 'Agreement'],
    ['/contracts', 'Offer'],
  ] as const) {
    const create = async (body: object) => (await call(sandbox, 'POST', path, { body })).status;
    expect(await create({ dealId: ids.deal, templateId: uuidOf('template', other) })).toBe(409);
    expect(await create({ dealId: 'none', templateId: 'none' })).toBe(409);
    expect(await create({})).toBe(400);
    expect((await call(sandbox, 'POST', `${path}/none/send`)).status).toBe(404);
  }
});

test('a message is sent once per Idempotency-Key, with wrapped answers, and read as it is', async () => {
  const { sandbox, ids } = await sandboxWithRecords();
  const headers = { 'idempotency-key': 'k' };
  const ask = (body: unknown) => call(sandbox, 'POST', '/messages/send', { body, headers });
  const sent = await ask({ to: '+390212345' });
  expect(sent).toMatchObject({ status: 200, body: { success: true, data: { status: 'PENDING' } } });
  expect((await ask({ to: '+390212345' })).body).toEqual(sent.body);
  expect(await ask({ to: '+390299999' })).toMatchObject({ status: 422, body: { success: false } });
  const { id } = (sent.body as { data: { id: string } }).data;
  expect((await call(sandbox, 'GET', `/messages/${id}`)).body).toMatchObject({ id, to: '+390212345' });
  expect((await call(sandbox, 'GET', `/conversations/${ids.conversation}/messages`)).body).toMatchObject({
    items: [{ status: 'READ' }, { id: ids.message, text: 'hello', status: 'PENDING' }],
  });
  const refused = await call(sandbox, 'POST', '/messages/send', { body: {}, headers: { 'x-api-key': null } });
  expect([refused.status, errorOf(refused).code]).toEqual([401, undefined]);
});

test('a document that was sent ends as its template says', async () => {
  const clock = clockAt(1_700_000_000_000);
  const { sandbox, ids } = await sandboxWithRecords({ clock });
  for (const [path, template, states] of [
    ['/quotes', 'Offer', ['DRAFT', 'SENT', 'VIEWED', 'ACCEPTED']],
    ['/quotes', 'Offer, rejected', ['DRAFT', 'SENT', 'VIEWED', 'REJECTED']],
    ['/quotes', 'Offer, expired', ['DRAFT', 'SENT', 'EXPIRED', 'EXPIRED']],
    ['/contracts', 'Agreement', ['DRAFT', 'SENT', 'VIEWED', 'SIGNED']],
    ['/contracts', 'Agreement, rejected', ['DRAFT', 'SENT', 'VIEWED', 'REJECTED']],
    ['/contracts', 'Agreement, expired', ['DRAFT', 'SENT', 'EXPIRED', 'EXPIRED']],
  ] as const) {
    const body = { dealId: ids.deal, templateId: uuidOf('template', template) };
    const { id } = (await call(sandbox, 'POST', path, { body })).body as { id: string };
    const seen: string[] = [];
    for (let step = 0; step < 4; step += 1) {
      if (step === 1) await call(sandbox, 'POST', `${path}/${id}/send`);
      seen.push(((await call(sandbox, 'GET', `${path}/${id}`)).body as { status: string }).status);
      clock.now += 5000;
    }
    expect([template, seen]).toEqual([template, states]);
    expect(JSON.stringify((await call(sandbox, 'GET', `${path}?status=${states[3]}`)).body)).toContain(id);
    clock.now += 60_000;
  }
});

test('a message is delivered and read, or fails if its recipient is no phone number', async () => {
  const clock = clockAt(1_700_000_000_000);
  const sandbox = await sandboxFor({ clock });
  const sent = async (to: string) => {
    const { body } = await call(sandbox, 'POST', '/messages/send', { body: { to } });
    return (body as { data: { id: string } }).data.id;
  };
  const ids = [await sent('+390212345'), await sent('nobody')];
  clock.now += 60_000;
  const statuses = await Promise.all(ids.map(async (id) => (await call(sandbox, 'GET', `/messages/${id}`)).body));
  expect(statuses).toMatchObject([{ status: 'READ' }, { status: 'FAILED' }]);
});

test('no route says a code with 401, and only the webhook says one with 500', async () => {
  const sandbox = await startSandbox({}, (context) => {
    Object.defineProperty(context.store, 'get', { value: broken });
    Object.defineProperty(context.store, 'find', { value: broken });
    return sandboxApp(context).fetch;
  });
  onTestFinished(() => sandbox.close());
  const none = { headers: { 'x-api-key': null } };
  for (const path of ['/leads/1', '/messages/send', '/external/leads', '/webhooks/ingest/token']) {
    const { status, body } = await call(sandbox, path === '/leads/1' ? 'GET' : 'POST', path, none);
    expect([path, status, JSON.stringify(body).includes('"code"')]).toEqual([path, 401, false]);
  }
  expect(await call(sandbox, 'GET', '/leads/1')).toMatchObject({ status: 500, body: { error: 'broken' } });
  const event = { id: '1', type: 'lead/created', suppress_triggers: true, data: { external_id: '1' } };
  const answer = await call(sandbox, 'POST', `/webhooks/ingest/${sandbox.ingestToken.reveal()}`, { body: event });
  expect([answer.status, errorOf(answer).code]).toEqual([500, 'internal']);
});

function broken(): never {
  throw new Error('broken');
}

test('there is an e-mail in each state, and a message with a file whose address soon ends', async () => {
  const clock = clockAt(Date.UTC(2026, 0, 1));
  const sandbox = await sandboxFor({ clock });
  const states = 'PENDING SENT DELIVERED OPENED CLICKED BOUNCED FAILED DROPPED'.split(' ');
  const emails = (await call(sandbox, 'GET', '/emails')).body as { id: string; status: string }[];
  expect(emails.map(({ status }) => status)).toEqual(states);
  for (const { id, status } of emails) {
    expect((await call(sandbox, 'GET', `/emails/${id}`)).body).toEqual({ id, status });
  }
  expect((await call(sandbox, 'GET', '/emails?status=BOUNCED')).body).toEqual([emails[5]]);
  const read = await call(sandbox, 'GET', `/messages/${uuidOf('message', 'main')}`);
  const [file] = (read.body as { media: { signedUrl: string }[] }).media;
  expect(new URL(file!.signedUrl).searchParams.get('expires')).toBe(String(clock.now / 1000 + 300));
});
