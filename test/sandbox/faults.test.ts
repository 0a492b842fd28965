// Lost without it: the faults of the matrix could not be what their names say.
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { sandbox as sandboxWith } from '../e2e/harness.ts';
import { send, type Answer } from './client.ts';
import type { FaultRule, FaultySandbox } from './faults.ts';

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
