// Lost without it: the sandbox could accept what the service refuses.
import { describe, expect, test } from 'vitest';
import { call, errorOf, sandboxFor, send } from './client.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

describe('credentials', () => {
  test('without a valid API key the answer is 401 without a code', async () => {
    const sandbox = await sandboxFor();
    for (const key of [null, 'wrong']) {
      const answer = await send(sandbox, 'lead/created', { external_id: '1' }, { headers: { 'x-api-key': key } });
      expect(answer.status).toBe(401);
      expect(answer.body).toEqual({ success: false, error: { message: expect.any(String) as string } });
    }
    expect(sandbox.state().leads).toEqual([]);
  });

  test('a missing or invalid ingestion token is webhook_auth_failed', async () => {
    const sandbox = await sandboxFor();
    for (const path of ['/webhooks/ingest', '/webhooks/ingest/', '/webhooks/ingest/ingest_other']) {
      const answer = await call(sandbox, 'POST', path, { body: { id: '1', type: 'lead/created', data: {} } });
      expect([answer.status, errorOf(answer).code]).toEqual([403, 'webhook_auth_failed']);
    }
  });

  test('the request log contains the event but neither the token nor the API key', async () => {
    const sandbox = await sandboxFor();
    await send(sandbox, 'lead/created', { external_id: '1' }, { id: 'e1' });
    const log = JSON.stringify(sandbox.requests());
    expect(log).toContain('"e1"');
    expect(log).toContain('/webhooks/ingest/***');
    expect(log).not.toContain(sandbox.ingestToken.reveal());
    expect(log).not.toContain(sandbox.apiKey.reveal());
  });
});

describe('accepted events', () => {
  test('an update keeps the fields that it does not set, and merges custom fields by key', async () => {
    const sandbox = await sandboxFor();
    await send(sandbox, 'lead/created', {
      external_id: '1',
      full_name: 'A',
      email: 'a@x',
      custom_params: { a: 1, b: 1 },
    });
    const answer = await send(sandbox, 'lead/updated', { external_id: '1', email: 'b@x', custom_params: { b: 2 } });
    expect(answer.body).toMatchObject({ outcome: 'updated', deduplicated: false });
    expect(sandbox.state().leads).toMatchObject([
      { fullName: 'A', email: 'b@x', customParams: { a: 1, b: 2 }, revision: 2 },
    ]);
  });

  test('stage and owner by id or by a unique name; an id wins over a name; an update keeps the fields that it does not set', async () => {
    const sandbox = await sandboxFor();
    const { pipelines, users } = sandbox.account;
    const won = pipelines[1]!.stages[3]!;
    const names = { stage_name: 'Proposal', owner_name: 'Ada Lovelace' };
    await send(sandbox, 'deal/created', { external_id: '1', ...names });
    expect(sandbox.state().deals[0]).toMatchObject({ stageId: pipelines[0]!.stages[2]!.id, ownerId: users[0]!.id });
    await send(sandbox, 'deal/updated', { external_id: '1', ...names, stage_id: won.id, owner_id: users[1]!.id });
    await send(sandbox, 'deal/updated', { external_id: '1', title: 'T' });
    expect(sandbox.state().deals[0]).toMatchObject({
      pipelineId: pipelines[1]!.id,
      stageId: won.id,
      ownerId: users[1]!.id,
      title: 'T',
    });
  });

  test('comments on leads and deals; a repeated external_id does not create a second one', async () => {
    const sandbox = await sandboxFor();
    await send(sandbox, 'lead/created', { external_id: 'L' });
    await send(sandbox, 'deal/created', { external_id: 'D' });
    const first = await send(sandbox, 'comment/created', { content: 'a', external_id: 'C', lead_external_id: 'L' });
    const second = await send(sandbox, 'comment/created', { content: 'b', external_id: 'C', lead_external_id: 'L' });
    expect(second.body).toEqual({ ...(first.body as object), outcome: 'none' });
    await send(sandbox, 'comment/created', { content: 'x', author_name: 'Bob', deal_external_id: 'D' });
    await send(sandbox, 'comment/created', { content: 'x', author_name: 'Bob', deal_external_id: 'D' });
    const { comments, deals, leads } = sandbox.state();
    expect(comments).toHaveLength(3);
    expect(comments).toContainEqual(expect.objectContaining({ externalId: 'C', content: 'a', leadId: leads[0]!.id }));
    expect(comments[0]).toMatchObject({ content: 'x', authorName: 'Bob', dealId: deals[0]!.id, leadId: null });
  });
});

describe('the event id', () => {
  test('a repeated id is answered with the same record and changes nothing, even with other content', async () => {
    const sandbox = await sandboxFor();
    const first = await send(sandbox, 'lead/created', { external_id: '1', full_name: 'A' }, { id: 'same' });
    const repeat = await send(sandbox, 'lead/updated', { external_id: '1', full_name: 'B' }, { id: 'same' });
    expect(repeat.body).toEqual({ ...(first.body as object), outcome: 'none', deduplicated: true });
    expect(sandbox.state().leads).toMatchObject([{ fullName: 'A', revision: 1 }]);
  });

  test('a failed event does not use up its id', async () => {
    const sandbox = await sandboxFor();
    const deal = { external_id: 'D', lead_external_id: 'L' };
    expect((await send(sandbox, 'deal/created', deal, { id: 'd' })).status).toBe(422);
    await send(sandbox, 'lead/created', { external_id: 'L' });
    expect((await send(sandbox, 'deal/created', deal, { id: 'd' })).body).toMatchObject({
      outcome: 'created',
      deduplicated: false,
    });
  });
});

describe('triggers', () => {
  test('envelope or header suppresses them; an event with neither fires triggers', async () => {
    const sandbox = await sandboxFor();
    await send(sandbox, 'lead/created', { external_id: '1' });
    const off = { suppress_triggers: false };
    const header = { 'x-suppress-triggers': 'true' };
    await send(sandbox, 'lead/created', { external_id: '2' }, { envelope: off, headers: header });
    expect(sandbox.triggersFired).toBe(0);
    await send(sandbox, 'lead/created', { external_id: '3' }, { envelope: off });
    await send(sandbox, 'lead/created', { external_id: '4' }, { envelope: { suppress_triggers: undefined } });
    expect(sandbox.triggersFired).toBe(2);
  });
});

describe('refused events', () => {
  const lead = 'lead/created';
  const deal = 'deal/created';
  const comment = 'comment/created';
  test.each([
    ['400 invalid_payload data.external_id', lead, {}],
    ['400 invalid_payload data.external_id', lead, { external_id: '' }],
    ['400 invalid_payload data.external_id', lead, { external_id: 12 }],
    ['400 invalid_payload data.nickname', lead, { external_id: '1', nickname: 'x' }],
    ['400 invalid_payload data.full_name', lead, { external_id: '1', full_name: null }],
    ['400 invalid_payload data.phone_number', lead, { external_id: '1', phone_number: '02 1234567' }],
    ['400 invalid_payload data.custom_params', lead, { external_id: '1', custom_params: [] }],
    ['400 invalid_payload data.amount', deal, { external_id: '1', amount: '10' }],
    ['400 invalid_payload data.currency', deal, { external_id: '1', currency: 'euro' }],
    ['400 invalid_payload data.stage_id', deal, { external_id: '1', stage_id: 'New' }],
    ['400 invalid_payload data.content', comment, { lead_external_id: 'L' }],
    ['400 invalid_payload data', comment, { content: 'x' }],
    ['400 invalid_payload data', comment, { content: 'x', lead_external_id: 'L', deal_external_id: 'D' }],
    ['409 already_exists external_id', lead, { external_id: 'L' }],
    ['409 already_exists external_id', deal, { external_id: 'D' }],
    ['422 not_found external_id', 'lead/updated', { external_id: 'none' }],
    ['422 not_found external_id', 'deal/updated', { external_id: 'none' }],
    ['422 parent_not_found lead_external_id', deal, { external_id: '1', lead_external_id: 'none' }],
    ['422 parent_not_found deal_external_id', comment, { content: 'x', deal_external_id: 'none' }],
    ['422 unresolved_reference stage_id', deal, { external_id: '1', stage_id: UNKNOWN_ID }],
    ['422 unresolved_reference stage_name', deal, { external_id: '1', stage_name: 'Nowhere' }],
    ['422 unresolved_reference stage_name', deal, { external_id: '1', stage_name: 'Qualified' }],
    ['422 unresolved_reference owner_id', deal, { external_id: '1', owner_id: UNKNOWN_ID }],
    ['422 unresolved_reference owner_name', deal, { external_id: '1', owner_name: 'Nobody' }],
    ['422 unresolved_reference owner_name', deal, { external_id: '1', owner_name: 'Marco Rossi' }],
  ])('%s: %s %j', async (expected, type, data) => {
    const sandbox = await sandboxFor();
    await send(sandbox, lead, { external_id: 'L' });
    await send(sandbox, deal, { external_id: 'D' });
    const before = sandbox.state();
    const answer = await send(sandbox, type, data);
    const { code, message } = errorOf(answer);
    expect(`${answer.status} ${code} ${message.slice(0, message.indexOf(':'))}`).toBe(expected);
    expect(sandbox.state()).toEqual(before);
  });

  test.each([
    ['id', { id: undefined }],
    ['id', { id: '' }],
    ['type', { type: 'lead/deleted' }],
    ['occurred_at', { occurred_at: 'yesterday' }],
    ['occurred_at', { occurred_at: '10:00' }],
    ['occurred_at', { occurred_at: '2024-02-30T10:00Z' }],
    ['occurred_at', { occurred_at: '2024-05-01T10:00+25:00' }],
    ['suppress_triggers', { suppress_triggers: 'true' }],
    ['data', { data: undefined }],
    ['data', { data: [] }],
    ['batch', { batch: [] }],
  ])('an envelope with an invalid %s: %j', async (field, envelope) => {
    const sandbox = await sandboxFor();
    const answer = await send(sandbox, lead, { external_id: '1' }, { envelope });
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_payload']);
    expect(errorOf(answer).message).toMatch(new RegExp(`^${field}:`));
  });

  test('bodies that are not JSON or not an object', async () => {
    const sandbox = await sandboxFor();
    const path = `/webhooks/ingest/${sandbox.ingestToken.reveal()}`;
    for (const body of ['', '{"id":', 'null', '[]', '"x"']) {
      const answer = await call(sandbox, 'POST', path, { body });
      expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_payload']);
    }
    const plain = await call(sandbox, 'POST', path, { body: '{}', headers: { 'content-type': 'text/plain' } });
    expect(errorOf(plain).message).toMatch(/content-type/i);
  });

  test('a body of more than 10 MB is refused with 413, one of exactly 10 MB is not', async () => {
    const sandbox = await sandboxFor();
    const path = `/webhooks/ingest/${sandbox.ingestToken.reveal()}`;
    const bodyOf = (bytes: number): string => {
      const event = { id: '1', type: lead, suppress_triggers: true, data: { external_id: '1', full_name: '' } };
      event.data.full_name = 'x'.repeat(bytes - JSON.stringify(event).length);
      return JSON.stringify(event);
    };
    const limit = 10_000_000;
    expect((await call(sandbox, 'POST', path, { body: bodyOf(limit + 1) })).status).toBe(413);
    expect((await call(sandbox, 'POST', path, { body: bodyOf(limit) })).status).toBe(200);
  });
});
