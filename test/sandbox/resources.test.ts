// Lost without it: the sandbox could show records otherwise than the service does.
import { describe, expect, test } from 'vitest';
import { call, sandboxFor, send, type Answer } from './client.ts';

function named(answer: Answer, key: string): unknown[] {
  return (answer.body as Record<string, unknown[]>)[key]!;
}

describe('the account', () => {
  test('pipelines with ordered stages, filtered by type', async () => {
    const sandbox = await sandboxFor();
    const all = (await call(sandbox, 'GET', '/pipelines')).body as { type: string }[];
    expect(all.map(({ type }) => type)).toEqual(['DEAL', 'DEAL', 'LEAD']);
    const deals = (await call(sandbox, 'GET', '/pipelines?type=DEAL')).body;
    expect(deals).toMatchObject([
      { id: sandbox.account.pipelines[0]!.id, name: 'Sales', stages: sandbox.account.pipelines[0]!.stages },
      { name: 'Partners' },
    ]);
  });

  test('users page by page, at most 100', async () => {
    const sandbox = await sandboxFor();
    const first = await call(sandbox, 'GET', '/platform-users?page=1&pageSize=5');
    const second = await call(sandbox, 'GET', '/platform-users?page=2&pageSize=5');
    expect(first.body).toMatchObject({ total: 8, page: 1, pageSize: 5 });
    const ids = [...named(first, 'users'), ...named(second, 'users')].map((user) => (user as { id: string }).id);
    expect(ids).toEqual(sandbox.account.users.map(({ id }) => id));
    expect(named(await call(sandbox, 'GET', '/platform-users?page=3&pageSize=5'), 'users')).toEqual([]);
    expect((await call(sandbox, 'GET', '/platform-users?pageSize=101')).status).toBe(400);
    expect((await call(sandbox, 'GET', '/platform-users?page=0')).status).toBe(400);
  });
});

describe('records', () => {
  test('ingested records are read by service id, without their external id', async () => {
    const sandbox = await sandboxFor();
    const ack = await send(sandbox, 'lead/created', { external_id: 'L', full_name: 'Ada', phone_number: '+390212345' });
    const { id } = ack.body as { id: string };
    const lead = await call(sandbox, 'GET', `/leads/${id}`);
    expect(lead.body).toEqual({
      id,
      fullName: 'Ada',
      phoneNumber: '+390212345',
      email: null,
      companyId: null,
      createdBy: sandbox.account.users[0]!.id,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      updatedAt: expect.any(String) as string,
    });
    await send(sandbox, 'deal/created', { external_id: 'D', lead_external_id: 'L', amount: 5, currency: 'EUR' });
    const [deal] = (await call(sandbox, 'GET', '/deals')).body as [{ id: string }];
    expect((await call(sandbox, 'GET', `/deals/${deal.id}`)).body).toEqual(deal);
    expect(deal).toMatchObject({ primaryContactId: id, amount: 5, currency: 'EUR' });
    await send(sandbox, 'comment/created', { content: 'x', deal_external_id: 'D' });
    const comments = await call(sandbox, 'GET', '/comments');
    expect(comments.body).toMatchObject({ items: [{ content: 'x', dealId: deal.id }], total: 1 });
    const [comment] = named(comments, 'items') as [{ id: string }];
    expect((await call(sandbox, 'GET', `/comments/${comment.id}`)).body).toEqual(comment);
  });

  test('lists are paged and differ in shape', async () => {
    const sandbox = await sandboxFor();
    for (const id of ['1', '2', '3']) await send(sandbox, 'lead/created', { external_id: id, full_name: `N${id}` });
    const page = await call(sandbox, 'GET', '/leads?page=2&pageSize=2');
    expect(page.body).toMatchObject({ leads: [{ fullName: 'N3' }], total: 3 });
    expect((await call(sandbox, 'GET', '/deals')).body).toEqual([]);
    expect((await call(sandbox, 'GET', '/comments')).body).toMatchObject({ total: 0 });
  });

  test('a missing record is a 404 in JSON', async () => {
    const sandbox = await sandboxFor();
    for (const path of ['/leads/nobody', '/deals/none', '/nowhere', '/webhooks']) {
      const answer = await call(sandbox, 'GET', path);
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual({ error: expect.any(String) as string });
    }
    expect((await call(sandbox, 'DELETE', '/leads')).status).toBe(404);
    expect((await call(sandbox, 'GET', '/nowhere', { headers: { 'x-api-key': null } })).status).toBe(401);
  });
});
