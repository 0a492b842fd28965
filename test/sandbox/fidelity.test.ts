import { expect, test } from 'vitest';
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
