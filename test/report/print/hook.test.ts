import { expect, test } from 'vitest';
import { Secret } from '../../../src/redact.ts';
import { callHook } from '../../../src/report/print/hook.ts';
import { hookServer } from './hook-server.ts';
import { useFastClock } from '../../clock.ts';

useFastClock();

test('a POST carries the body as JSON', async () => {
  const { calls, secret } = await hookServer();
  expect(await callHook(secret, [{ text: 'hello' }])).toBeUndefined();
  expect(calls).toEqual([{ method: 'POST', url: '/services/T0KEN/x7?key=h1dden', body: { text: 'hello' } }]);
});

test('a call is tried three times', async () => {
  const { calls, secret } = await hookServer((_call, nth) => (nth < 3 ? 503 : 204));
  expect(await callHook(secret, [{ text: 'x' }])).toBeUndefined();
  expect(calls).toHaveLength(3);

  const down = await hookServer(() => 500);
  expect(await callHook(down.secret, [{ text: 'x' }])).toBe('answered 500');
  expect(down.calls).toHaveLength(3);
});

test('after a 400 the next body is sent: some chats refuse keys that they do not know', async () => {
  const { calls, secret } = await hookServer(({ body }) => (Object.keys(body).length > 1 ? 400 : 200));
  expect(await callHook(secret, [{ text: 'x', event: 'ended' }, { text: 'x' }])).toBeUndefined();
  expect(calls.map(({ body }) => body)).toEqual([{ text: 'x', event: 'ended' }, { text: 'x' }]);
});

test('redirects are not followed', async () => {
  const { calls, secret } = await hookServer(() => 302);
  expect(await callHook(secret, [{ text: 'x' }])).toBe('answered 302');
  expect(calls.every(({ url }) => url.startsWith('/services'))).toBe(true);
});

test('a server that never answers is given up at the deadline', async () => {
  const { calls, secret } = await hookServer(() => undefined);
  expect(await callHook(secret, [{ text: 'x' }], { deadlineMs: 300 })).toMatch(/^no answer within/);
  expect(calls).toHaveLength(1);
});

test('problems never contain the URL', async () => {
  const problem = await callHook(new Secret('http://127.0.0.1:1/services/T0KEN'), [{ text: 'x' }]);
  expect(problem).toBe('unreachable (ECONNREFUSED)');
  expect(await callHook(new Secret('no url T0KEN'), [{ text: 'x' }])).toBe('cannot be called (ERR_INVALID_URL)');
});
