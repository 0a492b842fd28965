import { describe, expect, test } from 'vitest';
import { failed, processed, type Answer } from '../service/scripted-server.ts';
import { delivery, jitter, KEY, startBench, TOKEN } from './delivery.ts';

/** Answers in turn; the last one again and again. */
function inTurn(...answers: Answer[]) {
  return (_request: unknown, nth: number): Answer => answers[Math.min(nth, answers.length) - 1]!;
}

const exists = failed(409, 'already_exists', 'external_id exists');
const missing = failed(422, 'not_found', 'external_id does not exist');

describe('acknowledged', () => {
  test('an event is sent once, with its own id and triggers suppressed in envelope and header', async () => {
    const bench = await startBench(() => processed());
    const outcome = await bench.deliver(delivery('e1'));
    expect(outcome).toEqual({
      kind: 'acknowledged',
      outcome: 'created',
      serviceId: 'srv-1',
      deduplicated: false,
      mayHaveArrived: false,
      attempts: 1,
    });
    expect(bench.announced).toEqual(['e1']);
    expect(bench.server.arrived).toHaveLength(1);
    const [request] = bench.server.arrived;
    expect(request!.method).toBe('POST');
    expect(request!.url).toBe(`/webhooks/ingest/${TOKEN}`);
    expect(request!.headers['x-api-key']).toBe(KEY);
    expect(request!.headers['x-suppress-triggers']).toBe('true');
    expect(request!.body).toEqual({
      id: 'e1',
      type: 'lead/created',
      suppress_triggers: true,
      data: { external_id: 'x-e1', full_name: 'Ada' },
    });
    expect(bench.deliverer.counters).toEqual({
      requests: 1,
      events_sent: 1,
      follow_ups: 0,
      retries: 0,
      rate_limited: 0,
    });
  });

  test('an event that the service has already processed is acknowledged as deduplicated', async () => {
    const bench = await startBench(() => processed('none', true));
    expect(await bench.deliver(delivery('e1'))).toMatchObject({
      kind: 'acknowledged',
      outcome: 'none',
      deduplicated: true,
    });
  });

  test('only 200 acknowledges: after a 201 with the same body, the event is sent again under its id', async () => {
    const bench = await startBench(
      inTurn({ ...(processed() as { status: number }), status: 201 }, processed('none', true)),
    );
    expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'acknowledged', deduplicated: true });
    expect(bench.server.arrived.map(({ body }) => body.id)).toEqual(['e1', 'e1']);
  });
});

describe('refused', () => {
  test.each([
    [400, { success: false, error: { code: 'invalid_payload', message: 'data.email: bad' } }, 'invalid_payload'],
    [413, '', 'http_413'],
    [418, '<!doctype html><title>Teapot</title>', 'http_418'],
    [422, { success: false, error: { code: 'parent_not_found', message: 'no lead' } }, 'parent_not_found'],
    [422, { error: 'Unprocessable' }, 'http_422'],
    [451, { message: 'not here' }, 'http_451'],
  ])('%i %j is a rejection after one attempt, and the run continues', async (status, body, code) => {
    const bench = await startBench(() => ({ status, body }));
    const outcome = await bench.deliver(delivery('e1'));
    expect(outcome).toMatchObject({ kind: 'refused', why: 'other', code, httpStatus: status, attempts: 1 });
    expect(bench.halt.requested).toBe(false);
  });
});

describe('409 already_exists', () => {
  test('means at once that the record is somebody else’s where no attempt can have arrived', async () => {
    const bench = await startBench(() => exists);
    expect(await bench.deliver(delivery('e1'))).toMatchObject({
      kind: 'refused',
      why: 'exists',
      code: 'already_exists',
      message: 'external_id exists',
      attempts: 1,
    });
  });

  describe.each([
    ['a lost connection', 'cut'],
    ['a 500', failed(500, 'internal')],
    ['a page of a proxy', { status: 200, body: '<html>' }],
  ] as [string, Answer][])('after %s', (_name, first) => {
    test('is asked again under the same id: `deduplicated` means that the record is ours', async () => {
      const bench = await startBench(inTurn(first, exists, exists, processed('none', true)));
      expect(await bench.deliver(delivery('e1'))).toEqual({
        kind: 'acknowledged',
        outcome: 'none',
        serviceId: 'srv-1',
        deduplicated: true,
        mayHaveArrived: true,
        attempts: 4,
      });
      expect(new Set(bench.server.arrived.map(({ body }) => body.id))).toEqual(new Set(['e1']));
    });

    test('and twice again is somebody else’s record', async () => {
      const bench = await startBench(inTurn(first, exists));
      expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'refused', why: 'exists', attempts: 4 });
      const random = jitter();
      const backoffs = [1_000, 1_000, 2_000].map((ceiling) => random() * ceiling);
      expect(bench.clock.slept).toEqual(expect.arrayContaining(backoffs));
    });
  });

  test('after a 429 is a refusal, because that attempt was answered', async () => {
    const bench = await startBench(inTurn({ status: 429 }, exists));
    expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'refused', why: 'exists', attempts: 2 });
  });

  test('after a send in an earlier run is asked again', async () => {
    const bench = await startBench(inTurn(exists, exists, processed('none', true)));
    const ended = await bench.deliver(delivery('e1', { mayHaveArrivedBefore: true }));
    expect(ended).toMatchObject({ kind: 'acknowledged', deduplicated: true, mayHaveArrived: false, attempts: 3 });
  });
});

test.each([
  ['lead/updated', 'missing'],
  ['lead/created', 'other'],
] as const)('422 not_found on %s is a refusal: %s', async (type, why) => {
  const bench = await startBench(() => missing);
  expect(await bench.deliver(delivery('e1', { type }))).toMatchObject({ kind: 'refused', why, code: 'not_found' });
});

describe('credentials refused', () => {
  test('the same event is retried after five seconds, and the run continues if that is answered', async () => {
    const bench = await startBench(inTurn(failed(403, 'webhook_auth_failed'), processed()));
    expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'acknowledged', attempts: 2 });
    expect(bench.clock.slept).toContain(5_000);
    expect(bench.halt.requested).toBe(false);
  });

  test.each([
    [401, { error: 'no' }, 'unauthorised'],
    [403, { success: false, error: { code: 'webhook_auth_failed', message: 'no' } }, 'webhook_auth_failed'],
  ])('%i twice stops the run (exit 3); events in flight stay pending', async (status, body, code) => {
    let release: () => void = () => undefined;
    const all = new Promise<void>((resolve) => (release = resolve));
    const bench = await startBench((_request, nth) => {
      if (nth === 4) release();
      return { status, body, after: all };
    });
    const outcomes = await Promise.all(['a', 'b', 'c', 'd'].map((id) => bench.deliver(delivery(id))));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['pending', 'pending', 'pending', 'pending']);
    expect(bench.halt.reason).toMatchObject({ exitCode: 3, code });
    const sent = bench.server.arrived.map(({ body }) => body.id);
    expect(sent).toHaveLength(5);
    expect(sent.slice(0, 4)).toContain(sent[4]);
  });

  test('nothing else is sent until the retry is answered', async () => {
    const bench = await startBench((_request, nth) => (nth === 1 ? failed(401, 'x') : processed()));
    bench.clock.stop();
    const first = bench.deliver(delivery('first'));
    while (bench.deliverer.waiting()?.reason !== 'credentials') await new Promise((go) => setTimeout(go, 1));
    const others = ['b', 'c'].map((id) => bench.deliver(delivery(id)));
    bench.clock.start();
    await Promise.all([first, ...others]);
    expect(bench.server.arrived.map(({ body }) => body.id).slice(0, 2)).toEqual(['first', 'first']);
  });
});

describe('403, 404, 405 or 410 that the webhook itself does not give', () => {
  const page =
    '<html><head><title>Blocked</title><style>p {}</style></head>\n<p>Rule\u0007 9421 &mdash; <b>SQL</b> found</p>';
  const firewall: Answer = { status: 403, body: page, headers: { 'content-type': 'text/html' } };

  test.each([403, 404, 405, 410])(
    '%i for one record rejects that one, after it was sent once more alone',
    async (status) => {
      let others = 0;
      const bench = await startBench(({ body }) => {
        if (body.id !== 'odd') others += 1;
        return body.id === 'odd' ? { ...firewall, status } : processed();
      });
      await bench.deliver(delivery('first'));
      bench.clock.stop();
      const odd = bench.deliver(delivery('odd'));
      while (bench.deliverer.waiting()?.reason !== 'intercepted') await new Promise((go) => setTimeout(go, 1));
      const later = ['b', 'c'].map((id) => bench.deliver(delivery(id)));
      await new Promise((go) => setTimeout(go, 20));
      expect(others).toBe(1);
      bench.clock.start();
      expect(await odd).toEqual({
        kind: 'failed',
        code: status === 403 ? 'forbidden' : `http_${status}`,
        message: `answered ${status} with "Blocked Rule 9421 &mdash; SQL found"`,
        hint: expect.stringContaining('firewall') as string,
        httpStatus: status,
        attempts: 2,
      });
      expect(bench.clock.slept).toContain(5_000);
      for (const outcome of await Promise.all(later)) expect(outcome.kind).toBe('acknowledged');
      expect(bench.server.arrived.map(({ body }) => body.id).slice(0, 3)).toEqual(['first', 'odd', 'odd']);
      expect(bench.halt.requested).toBe(false);
      expect(bench.logged).toContainEqual(expect.stringMatching(/^intercepted .*"external_id":"x-odd".*"status":/));
    },
  );

  test('that does not come again is forgotten', async () => {
    const bench = await startBench(inTurn(firewall, processed()));
    expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'acknowledged', attempts: 2 });
  });

  test('for two events in a row stops the run (exit 3); with another answer between them it goes on', async () => {
    const bench = await startBench(({ body }) => (body.id.startsWith('odd') ? firewall : processed()));
    const ids = ['a', 'odd-1', 'b', 'odd-2', 'odd-3'];
    const statuses: string[] = [];
    for (const id of ids) statuses.push((await bench.deliver(delivery(id))).kind);
    expect(statuses).toEqual(['acknowledged', 'failed', 'acknowledged', 'failed', 'pending']);
    expect(bench.halt.reason).toMatchObject({ code: 'intercepted', exitCode: 3 });
    expect(bench.halt.reason!.message).toContain('Rule 9421');
  });

  test.each([404, 405, 410])('%i before anything was acknowledged is a wrong base URL', async (status) => {
    const bench = await startBench(({ url }) => ({ status, body: `Cannot POST ${url}` }));
    expect(await bench.deliver(delivery('e1'))).toEqual({ kind: 'pending', hadNoEffect: false, attempts: 2 });
    expect(bench.halt.reason).toMatchObject({ code: 'wrong_base_url', exitCode: 3 });
    expect(bench.halt.reason!.message).not.toContain(TOKEN);
  });

  test('403 before anything was acknowledged means wrong credentials', async () => {
    const bench = await startBench(inTurn(failed(400, 'invalid_payload'), { status: 403, body: { error: 'no' } }));
    expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'refused' });
    expect(await bench.deliver(delivery('e2'))).toEqual({ kind: 'pending', hadNoEffect: false, attempts: 2 });
    expect(bench.halt.reason).toMatchObject({ code: 'forbidden', exitCode: 3 });
  });
});

describe('407 from a proxy', () => {
  const refused: Answer = { status: 407, body: '<html>Proxy Authentication Required' };

  test.each([
    ['before any other event was answered', 2, inTurn(refused)],
    ['after another event was answered', 3, inTurn(processed(), refused)],
  ])('%s stops the run (exit %i) and rejects no event', async (_name, exitCode, answer) => {
    const bench = await startBench(answer);
    if (exitCode === 3) await bench.deliver(delivery('e0'));
    expect(await bench.deliver(delivery('e1'))).toEqual({ kind: 'pending', hadNoEffect: true, attempts: 1 });
    expect(bench.halt.reason).toMatchObject({
      code: 'proxy_auth',
      exitCode,
      hint: expect.stringContaining('user name and password of the proxy') as string,
    });
  });
});

describe('429', () => {
  test('never counts as a failed attempt', async () => {
    const limited: Answer = { status: 429, headers: { 'retry-after': '7' } };
    const bench = await startBench((_request, nth) => (nth <= 12 ? limited : processed()));
    expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'acknowledged', attempts: 13 });
    expect(bench.deliverer.counters).toEqual({
      requests: 13,
      events_sent: 1,
      follow_ups: 0,
      retries: 12,
      rate_limited: 12,
    });
  });

  test('pauses all lanes for at least Retry-After', async () => {
    const bench = await startBench(inTurn({ status: 429, headers: { 'retry-after': '30' } }, processed()));
    bench.clock.stop();
    const first = bench.deliver(delivery('e1'));
    while (bench.deliverer.waiting()?.reason !== 'rate_limited') await new Promise((go) => setTimeout(go, 1));
    const before = bench.clock.monotonic();
    const waits = bench.deliverer.waiting()!.nextInMs;
    expect(waits).toBeGreaterThanOrEqual(29_000);
    const second = bench.deliver(delivery('e2'));
    bench.clock.start();
    await Promise.all([first, second]);
    expect(bench.clock.monotonic() - before).toBeGreaterThanOrEqual(waits);
  });
});

describe('an attempt without a usable answer', () => {
  test.each([
    ['500', failed(500, 'internal')],
    ['503 of a proxy', { status: 503, body: '<html>' }],
    ['408', { status: 408 }],
    ['425', { status: 425 }],
    ['a redirect, which is not followed', { status: 302, headers: { location: '/elsewhere' } }],
    ['a lost connection', 'cut'],
    ['silence', 'silence'],
    ['200 with another body', { status: 200, body: { ok: true } }],
    ['200 with half a body', { status: 200, body: '{"status":"processed"' }],
    ['200 with nothing', { status: 200, body: '' }],
  ] as [string, Answer][])('%s is retried with the same id', async (_name, answer) => {
    const bench = await startBench(inTurn(answer, processed()), { timeoutSeconds: answer === 'silence' ? 1 : 30 });
    expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'acknowledged', attempts: 2 });
    expect(bench.server.arrived.map(({ body, url }) => [body.id, url])).toEqual([
      ['e1', `/webhooks/ingest/${TOKEN}`],
      ['e1', `/webhooks/ingest/${TOKEN}`],
    ]);
    expect(bench.announced).toEqual(['e1']);
  });

  test('is rejected after five times while others are answered', async () => {
    const bench = await startBench(({ body }) =>
      body.id === 'poison' ? failed(500, 'internal', 'oops') : processed(),
    );
    const poison = bench.deliver(delivery('poison'));
    let settled = false;
    void poison.then(() => (settled = true));
    for (let n = 0; !settled; n += 1) await bench.deliver(delivery(`good-${n}`));
    expect(await poison).toEqual({
      kind: 'failed',
      code: 'internal',
      message: 'oops',
      httpStatus: 500,
      hint: expect.any(String) as string,
      attempts: 5,
    });
    expect(bench.halt.requested).toBe(false);
  });

  test.each([
    ['silence', 'timeout'],
    ['cut', 'connection_lost'],
  ] as const)('five times %s is the rejection %s', async (answer, code) => {
    const timeoutSeconds = answer === 'silence' ? 0.3 : 30;
    const bench = await startBench(({ body }) => (body.id === 'e0' ? processed() : answer), { timeoutSeconds });
    await bench.deliver(delivery('e0'));
    expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'failed', code, attempts: 5 });
  });

  test('is retried with exponential backoff and full jitter', async () => {
    const bench = await startBench((_request, nth) => (nth <= 4 ? failed(500, 'internal') : processed()));
    await bench.deliver(delivery('e1'));
    const random = jitter();
    const backoffs = [1_000, 2_000, 4_000, 8_000].map((ceiling) => random() * ceiling);
    expect(bench.clock.slept).toEqual(expect.arrayContaining(backoffs));
  });

  test('Retry-After on a 503 is honoured', async () => {
    const bench = await startBench(inTurn({ status: 503, headers: { 'retry-after': '60' } }, processed()));
    await bench.deliver(delivery('e1'));
    expect(bench.clock.slept).toContain(60_000);
  });
});

test('an error of beforeSend is thrown, and nothing is sent', async () => {
  const bench = await startBench(() => processed());
  bench.failAnnouncing(new Error('disk full'));
  await expect(bench.deliver(delivery('e1'))).rejects.toThrow('disk full');
  expect(bench.server.arrived).toHaveLength(0);
});

test.each<[name: string, answer: ReturnType<typeof inTurn>, hadNoEffect: boolean]>([
  ['wrong credentials', () => failed(403, 'webhook_auth_failed'), true],
  ['a 429', () => ({ status: 429, headers: { 'retry-after': '3600' } }), true],
  ['a lost answer', () => 'cut', false],
  ['a 503', () => ({ status: 503 }), false],
  ['a lost answer, then a 429', inTurn('cut', { status: 429, headers: { 'retry-after': '3600' } }), false],
  ['a page of somebody else', () => ({ status: 200, body: '<html>Please log in' }), false],
])('a run that stops after %s knows whether the request can have had an effect', async (_name, answer, hadNoEffect) => {
  const bench = await startBench(answer, { maxOutageMs: 60_000 });
  expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'pending', hadNoEffect });
});
