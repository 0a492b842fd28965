// Lost without it: the sandbox could let more requests through than the service.
import { describe, expect, test } from 'vitest';
import { SlidingWindow } from '../../src/sandbox/gateway.ts';
import { call, clockAt, sandboxFor, send } from './client.ts';

const RATE = { requests: 3, seconds: 60 };

describe('the rate limit', () => {
  test('applies to all authenticated routes, and is shown in the headers of every response', async () => {
    const clock = clockAt(1_000_000_000_000);
    const sandbox = await sandboxFor({ rate: RATE, clock });
    const first = await call(sandbox, 'GET', '/pipelines');
    expect(first.headers.get('x-ratelimit-limit')).toBe('3');
    expect(first.headers.get('x-ratelimit-remaining')).toBe('2');
    expect(first.headers.get('x-ratelimit-reset')).toBe('1000000060');
    expect(first.headers.get('retry-after')).toBeNull();
    clock.now += 10_000;
    await send(sandbox, 'lead/created', { external_id: '1' });
    expect((await call(sandbox, 'GET', '/nowhere')).headers.get('x-ratelimit-remaining')).toBe('0');

    const refused = await send(sandbox, 'lead/created', { external_id: '2' });
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({
      success: false,
      error: { code: 'RATE_LIMITED', message: expect.any(String) as string },
    });
    expect(refused.headers.get('retry-after')).toBe('50');
    clock.now += 1;
    expect((await call(sandbox, 'GET', '/pipelines')).headers.get('retry-after')).toBe('50');
    expect(sandbox.state().leads).toHaveLength(1);

    clock.now += 49_998;
    const early = await call(sandbox, 'GET', '/pipelines');
    expect([early.status, early.headers.get('retry-after')]).toEqual([429, '1']);
    clock.now += 1;
    expect((await call(sandbox, 'GET', '/pipelines')).status).toBe(200);
    expect((await call(sandbox, 'GET', '/pipelines')).status).toBe(429);
  });

  test('leaves /health, /version and calls without a valid key out of the count', async () => {
    const sandbox = await sandboxFor({ rate: RATE });
    for (let n = 0; n < 4; n += 1) {
      expect((await call(sandbox, 'GET', '/health', { headers: { 'x-api-key': null } })).status).toBe(200);
      const version = await call(sandbox, 'GET', '/version', { headers: { 'x-api-key': null } });
      expect(version.headers.get('x-ratelimit-limit')).toBe('3');
      await call(sandbox, 'GET', '/pipelines', { headers: { 'x-api-key': 'wrong' } });
    }
    expect((await call(sandbox, 'GET', '/pipelines')).headers.get('x-ratelimit-remaining')).toBe('2');
  });
});

describe('the sliding window', () => {
  test('never admits more than its limit within any window', () => {
    const window = new SlidingWindow({ requests: 5, seconds: 1 }, false);
    const admitted: number[] = [];
    for (let now = 0; now < 20_000; now += 37) if (window.admit(now).admitted) admitted.push(now);
    for (const [index, at] of admitted.entries()) {
      const sixth = admitted[index + 5];
      if (sixth !== undefined) expect(sixth - at).toBeGreaterThanOrEqual(1000);
    }
    expect(admitted.length).toBeGreaterThan(90);
  });

  test('refused calls take places only where they count', () => {
    for (const countRefused of [false, true]) {
      const window = new SlidingWindow({ requests: 1, seconds: 1 }, countRefused);
      expect(window.admit(0).admitted).toBe(true);
      expect(window.admit(900)).toMatchObject({ admitted: false, freeAt: countRefused ? 1900 : 1000 });
      expect(window.admit(1000).admitted).toBe(!countRefused);
    }
  });
});
