import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { sandbox as sandboxWith } from '../e2e/harness.ts';
import { call, clockAt, errorOf, send, type Answer } from './client.ts';
import { Injector } from './fault-plan.ts';
import { startFaulty, type FaultPlan, type FaultRule, type FaultySandbox } from './faults.ts';

const RATE = { requests: 100, seconds: 60 };

/** The answer, or the code of what went wrong with the connection. */
async function attempt(answer: Promise<Answer>): Promise<Answer | string> {
  try {
    return await answer;
  } catch (error) {
    const { cause } = error as { cause?: { code?: string; message: string } };
    return cause?.code ?? cause?.message ?? (error as Error).message;
  }
}

async function withRules(...rules: FaultRule[]): Promise<FaultySandbox> {
  return sandboxWith({ rate: RATE, faults: { seed: 7, rules } });
}

describe('a fault on the first request, none on its retry', () => {
  const once = { times: 1 };
  const page = expect.stringMatching(/^<!doctype/) as string;
  const cases: [FaultRule, { committed: boolean; seen: unknown }][] = [
    [{ kind: 'drop' }, { committed: false, seen: 'UND_ERR_SOCKET' }],
    [
      { kind: 'drop', committed: true },
      { committed: true, seen: 'UND_ERR_SOCKET' },
    ],
    [{ kind: 'reset' }, { committed: false, seen: 'ECONNRESET' }],
    [
      { kind: 'reset', committed: true },
      { committed: true, seen: 'ECONNRESET' },
    ],
    [
      { kind: 'status', status: 503 },
      { committed: false, seen: { status: 503 } },
    ],
    [
      { kind: 'status', committed: true, status: 500 },
      { committed: true, seen: { status: 500 } },
    ],
    [{ kind: 'html' }, { committed: false, seen: { status: 200, body: page } }],
    [
      { kind: 'html', committed: true },
      { committed: true, seen: { status: 200 } },
    ],
    [{ kind: 'cut_body' }, { committed: true, seen: 'UND_ERR_SOCKET' }],
    [{ kind: 'redirect' }, { committed: false, seen: { status: 302 } }],
    [{ kind: 'bad_ack' }, { committed: true, seen: { status: 200, body: { ok: true } } }],
  ];
  test.each(cases)('%j', async (rule, { committed, seen }) => {
    const sandbox = await withRules({ ...rule, when: once });
    const first = await attempt(send(sandbox, 'lead/created', { external_id: '1' }, { id: 'e' }));
    if (typeof seen === 'string') expect(first).toBe(seen);
    else expect(first).toMatchObject(seen as object);
    expect(sandbox.state().leads).toHaveLength(committed ? 1 : 0);
    const again = await send(sandbox, 'lead/created', { external_id: '1' }, { id: 'e' });
    expect(again.body).toMatchObject({ status: 'processed', deduplicated: committed });
    expect(sandbox.state().leads).toMatchObject([{ revision: 1 }]);
    expect(sandbox.requests().map(({ fault }) => fault)).toEqual([rule.kind, undefined]);
    expect(sandbox.requests().every(({ endedAt }) => endedAt !== undefined)).toBe(true);
  });

  test.each([false, true])('hang, committed: %s', async (committed) => {
    const sandbox = await withRules({ kind: 'hang', committed, when: once });
    const signal = AbortSignal.timeout(100);
    const path = `${sandbox.baseUrl}/webhooks/ingest/${sandbox.ingestToken.reveal()}`;
    const body = JSON.stringify({ id: '1', type: 'lead/created', data: { external_id: '1' } });
    const headers = { 'x-api-key': sandbox.apiKey.reveal(), 'content-type': 'application/json' };
    await expect(request(path, { method: 'POST', headers, body, signal })).rejects.toThrow(/timeout/);
    expect(sandbox.state().leads).toHaveLength(committed ? 1 : 0);
  });
});

describe('faults', () => {
  test('an injected 429 has Retry-After, an injected status its code', async () => {
    const sandbox = await withRules(
      { kind: 'status', status: 429, retry_after_s: 7, when: { requests: { to: 2 } } },
      { kind: 'status', status: 422, code: 'parent_not_found', when: { times: 1 } },
    );
    for (let n = 0; n < 2; n += 1) {
      const answer = await send(sandbox, 'lead/created', { external_id: '1' });
      expect([answer.status, errorOf(answer).code, answer.headers.get('retry-after')]).toEqual([
        429,
        'RATE_LIMITED',
        '7',
      ]);
      expect(answer.headers.get('x-ratelimit-limit')).toBe('100');
    }
    expect(errorOf(await send(sandbox, 'lead/created', { external_id: '1' })).code).toBe('parent_not_found');
    expect((await send(sandbox, 'lead/created', { external_id: '1' })).status).toBe(200);
  });

  test('requests with a fault count in the window', async () => {
    const sandbox = await withRules({ kind: 'status', status: 500, when: { times: 1 } });
    await send(sandbox, 'lead/created', { external_id: '1' });
    expect((await call(sandbox, 'GET', '/pipelines')).headers.get('x-ratelimit-remaining')).toBe('98');
  });

  test('credentials rotate while a request is in flight', async () => {
    const sandbox = await withRules(
      { kind: 'rotate_token', when: { requests: { from: 2, to: 2 } } },
      { kind: 'rotate_key', when: { requests: { from: 4, to: 4 } } },
    );
    const headers = { 'x-api-key': sandbox.apiKey.reveal() };
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      statuses.push((await send(sandbox, 'lead/created', { external_id: String(n) }, { headers })).status);
    }
    expect(statuses).toEqual([200, 403, 200, 200, 401]);
  });

  test('another client uses part of the window, at once or for a while', async () => {
    const sandbox = await withRules(
      { kind: 'foreign', requests: 4, when: { times: 1 } },
      { kind: 'foreign', requests: 100, per_second_for_ms: 60, when: { requests: { from: 2, to: 2 } } },
    );
    const remaining = async (id: string): Promise<number> => {
      const answer = await send(sandbox, 'lead/created', { external_id: id });
      return Number(answer.headers.get('x-ratelimit-remaining'));
    };
    expect(await remaining('1')).toBe(99);
    expect(await remaining('2')).toBe(94);
    await expect.poll(() => sandbox.requests().length, { timeout: 10_000 }).toBe(12);
    expect(await remaining('3')).toBe(87);
  });

  test('latency delays the answer and is not a fault', async () => {
    const sandbox = await withRules({ kind: 'latency', min_ms: 60, max_ms: 80 });
    await send(sandbox, 'lead/created', { external_id: '1' });
    const [entry] = sandbox.requests();
    expect(entry!.endedAt! - entry!.at).toBeGreaterThanOrEqual(58);
    expect(entry!.fault).toBeUndefined();
  });

  test('apply to the webhook unless the rule has another path', async () => {
    const sandbox = await withRules(
      { kind: 'status', status: 500 },
      { kind: 'status', status: 502, when: { path: '/pipelines' } },
    );
    expect((await send(sandbox, 'lead/created', { external_id: '1' })).status).toBe(500);
    expect((await call(sandbox, 'GET', '/pipelines')).status).toBe(502);
    expect((await call(sandbox, 'GET', '/platform-users')).status).toBe(200);
  });

  test('apply to one event or one event type', async () => {
    const sandbox = await withRules(
      { kind: 'status', status: 500, when: { event: { external_id: '2' } } },
      { kind: 'status', status: 502, when: { event: { type: 'deal/created' } } },
    );
    expect((await send(sandbox, 'lead/created', { external_id: '1' })).status).toBe(200);
    expect((await send(sandbox, 'lead/created', { external_id: '2' })).status).toBe(500);
    expect((await send(sandbox, 'deal/created', { external_id: '1' })).status).toBe(502);
  });

  test('apply to the first delivery of every event', async () => {
    const sandbox = await withRules({
      kind: 'status',
      committed: true,
      status: 500,
      when: { delivery: { from: 1, to: 1 } },
    });
    for (const id of ['a', 'b']) {
      expect((await send(sandbox, 'lead/created', { external_id: id }, { id })).status).toBe(500);
      expect((await send(sandbox, 'lead/created', { external_id: id }, { id })).body).toMatchObject({
        deduplicated: true,
      });
    }
  });

  test('can be changed while the sandbox runs', async () => {
    const sandbox = await withRules({ kind: 'status', status: 500 });
    expect((await send(sandbox, 'lead/created', { external_id: '1' })).status).toBe(500);
    sandbox.setFaults({ rules: [] });
    expect((await send(sandbox, 'lead/created', { external_id: '1' })).status).toBe(200);
  });
});

describe('an outage', () => {
  test('with a status includes /health, and ends', async () => {
    const clock = clockAt(0);
    const faults: FaultPlan = { rules: [{ kind: 'outage', status: 503, lasts_ms: 1000, when: { times: 1 } }] };
    const sandbox = await sandboxWith({ clock, rate: RATE, faults });
    expect((await send(sandbox, 'lead/created', { external_id: '1' })).status).toBe(503);
    clock.now = 999;
    expect((await call(sandbox, 'GET', '/health')).status).toBe(503);
    expect((await send(sandbox, 'lead/created', { external_id: '1' })).status).toBe(503);
    clock.now = 1000;
    expect((await call(sandbox, 'GET', '/health')).status).toBe(200);
    expect((await send(sandbox, 'lead/created', { external_id: '1' })).status).toBe(200);
  });

  test('without a status stops listening for a while', async () => {
    const sandbox = await withRules({ kind: 'outage', lasts_ms: 300, when: { times: 1 } });
    expect(await attempt(send(sandbox, 'lead/created', { external_id: '1' }))).toBe('UND_ERR_SOCKET');
    expect(await attempt(call(sandbox, 'GET', '/health'))).toBe('ECONNREFUSED');
    await expect
      .poll(() => attempt(call(sandbox, 'GET', '/health')), { timeout: 10_000 })
      .toMatchObject({ status: 200 });
    expect((await send(sandbox, 'lead/created', { external_id: '1' })).status).toBe(200);
  });

  test('does not outlive the sandbox', async () => {
    const sandbox = await startFaulty({ faults: { rules: [{ kind: 'outage', lasts_ms: 50 }] } });
    await attempt(send(sandbox, 'lead/created', { external_id: '1' }));
    await sandbox.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await attempt(call(sandbox, 'GET', '/health'))).toBe('ECONNREFUSED');
  });
});

describe('a fault plan', () => {
  const kindsOf = (plan: FaultPlan): (string | undefined)[] => {
    const injector = new Injector(plan);
    return Array.from({ length: 2000 }, () => injector.decide('/webhooks/ingest/x', undefined).fault?.kind);
  };
  const rules: FaultRule[] = [
    { kind: 'drop', committed: true, when: { probability: 0.1 } },
    { kind: 'html', when: { probability: 0.1 } },
  ];

  test('is deterministic for a seed, and differs between seeds', () => {
    expect(kindsOf({ seed: 1, rules })).toEqual(kindsOf({ seed: 1, rules }));
    expect(kindsOf({ seed: 1, rules })).not.toEqual(kindsOf({ seed: 2, rules }));
  });

  test('applies with its probabilities', () => {
    const kinds = kindsOf({ seed: 3, rules });
    for (const [kind, expected] of [
      ['drop', 200],
      ['html', 180],
    ] as const) {
      const struck = kinds.filter((struck) => struck === kind).length;
      expect(struck).toBeGreaterThan(expected * 0.75);
      expect(struck).toBeLessThan(expected * 1.25);
    }
  });
});
