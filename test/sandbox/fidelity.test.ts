import { expect, test } from 'vitest';
import type { Secret } from '../../src/redact.ts';
import { examplesOf } from '../../src/sandbox/examples.ts';
import { call, errorOf, sandboxFor } from './client.ts';

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
  for (const answer of [answers[0]!, answers[2]!, answers[3]!]) {
    expect(answer.body).toMatchObject({ success: false });
    expect(errorOf(answer).code).toMatch(/^[A-Z_]+$/);
  }
  const { headers, body } = await call(sandbox, 'GET', '/leads', bad);
  expect(headers.has('deprecation')).toBe(false);
  expect(body).toEqual({ error: 'X-API-Key is invalid' });
});

test('an operator token is the same one for the same Idempotency-Key and body', async () => {
  const sandbox = await sandboxFor();
  const ask = (operatorRef: string, key: string) =>
    call(sandbox, 'POST', '/operator-sessions/token', { body: { operatorRef }, headers: { 'idempotency-key': key } });
  const first = await ask('a', 'k');
  expect(first.status).toBe(200);
  expect((await ask('a', 'k')).body).toEqual(first.body);
  expect((await ask('a', 'other')).body).not.toEqual(first.body);
  const mismatch = await ask('b', 'k');
  expect(mismatch.status).toBe(422);
  expect(errorOf(mismatch).code).toBe('IDEMPOTENCY_KEY_MISMATCH');
});

test('activities are filtered by status', async () => {
  const sandbox = await sandboxFor();
  for (const status of ['OPEN', 'DONE']) await call(sandbox, 'POST', '/activities', { body: { status } });
  expect((await call(sandbox, 'GET', '/activities?status=DONE')).body).toMatchObject([{ status: 'DONE' }]);
  expect((await call(sandbox, 'GET', '/activities')).body).toHaveLength(2);
});

/** A sandbox with one record of each kind that a path can name, and their ids. */
async function sandboxWithRecords() {
  const sandbox = await sandboxFor();
  const create = async (path: string, body: object): Promise<string> => {
    const { status, body: record } = await call(sandbox, 'POST', path, { body });
    expect([path, status]).toEqual([path, 201]);
    return (record as { id: string }).id;
  };
  const templates = (await call(sandbox, 'GET', '/document-templates')).body as {
    templates: { id: string; type: string }[];
  };
  const template = (wanted: string) => templates.templates.find(({ type }) => type === wanted)!.id;
  const lead = await create('/leads', { fullName: 'A' });
  const deal = await create('/deals', { title: 'D', primaryContactId: lead });
  const conversations = (await call(sandbox, 'GET', '/conversations')).body as { items: { id: string }[] };
  const conversation = conversations.items[0]!.id;
  const ids = {
    lead,
    deal,
    company: await create('/companies', { name: 'C' }),
    quote: await create('/quotes', { dealId: deal, templateId: template('QUOTE') }),
    contract: await create('/contracts', { dealId: deal, templateId: template('CONTRACT') }),
    conversation,
    message: await create(`/conversations/${conversation}/send`, { text: 'hello' }),
    pipeline: sandbox.account.pipelines[0]!.id,
    email: examplesOf('main').email.id,
  };
  return { sandbox, ids };
}

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

test('documents are made of a deal and a template, sent, and found by their status', async () => {
  const { sandbox, ids } = await sandboxWithRecords();
  for (const [path, id] of [
    ['/quotes', ids.quote],
    ['/contracts', ids.contract],
  ] as const) {
    const withStatus = async (status: string) =>
      JSON.stringify((await call(sandbox, 'GET', `${path}?status=${status}`)).body);
    expect(await withStatus('DRAFT')).toContain(id);
    expect((await call(sandbox, 'POST', `${path}/${id}/send`)).body).toMatchObject({ id, status: 'SENT' });
    expect((await call(sandbox, 'GET', `${path}/${id}`)).body).toMatchObject({ dealId: ids.deal, status: 'SENT' });
    expect(await withStatus('DRAFT')).not.toContain(id);
    expect(await withStatus('SENT')).toContain(id);
    expect((await call(sandbox, 'POST', `${path}/none/send`)).status).toBe(404);
    expect((await call(sandbox, 'POST', path, { body: { dealId: 'none', templateId: 'none' } })).status).toBe(409);
    expect((await call(sandbox, 'POST', path, { body: {} })).status).toBe(400);
  }
});

test('a message is sent once per Idempotency-Key, with wrapped answers, and read as it is', async () => {
  const { sandbox, ids } = await sandboxWithRecords();
  const headers = { 'idempotency-key': 'k' };
  const ask = (body: unknown) => call(sandbox, 'POST', '/messages/send', { body, headers });
  const sent = await ask({ to: '+390212345' });
  expect(sent).toMatchObject({ status: 200, body: { success: true, data: { status: 'PENDING', media: [] } } });
  expect((await ask({ to: '+390212345' })).body).toEqual(sent.body);
  expect(await ask({ to: '+390299999' })).toMatchObject({ status: 422, body: { success: false } });
  const { id } = (sent.body as { data: { id: string } }).data;
  expect((await call(sandbox, 'GET', `/messages/${id}`)).body).toMatchObject({ id, to: '+390212345' });
  expect((await call(sandbox, 'GET', `/conversations/${ids.conversation}/messages`)).body).toMatchObject({
    items: [{ id: ids.message, text: 'hello', status: 'PENDING' }],
  });
});
