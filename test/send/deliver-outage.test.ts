import { describe, expect, test } from 'vitest';
import { failed, processed, type Answer } from '../service/scripted-server.ts';
import { delivery, jitter, startBench } from './delivery.ts';

const tenIds = Array.from({ length: 10 }, (_, index) => `e${index}`);
const broken = failed(500, 'internal');
const forLong = { maxOutageMs: 7 * 86_400_000 };

/** Resolves once `condition` is true; uses real time, because it waits for a real server. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((go) => setTimeout(go, 1));
}

describe('an outage', () => {
  test('no event is rejected, /health is polled, one event is sent first, then all the others', async () => {
    let isUp = false;
    let inFlight = 0;
    let most = 0;
    const bench = await startBench((): Answer => {
      if (!isUp) return broken;
      inFlight += 1;
      most = Math.max(most, inFlight);
      const after = new Promise((go) => setTimeout(go, 5)).then(() => (inFlight -= 1));
      return { ...(processed() as object), after } as Answer;
    }, forLong);
    const sending = tenIds.map((id) => bench.deliver(delivery(id)));
    bench.server.health = 503;
    await until(() => bench.server.healthChecks.length >= 12);
    const duringOutage = bench.server.arrived.length;
    expect(bench.deliverer.waiting()?.reason).toBe('outage');
    // Ten were in flight; some had time for a second attempt before three had failed.
    expect(duringOutage).toBeLessThanOrEqual(20);
    isUp = true;
    bench.server.health = 200;
    const outcomes = await Promise.all(sending);
    expect(outcomes.every(({ kind }) => kind === 'acknowledged')).toBe(true);
    expect(bench.logged.filter((line) => line.startsWith('outage '))).toHaveLength(1);
    expect(most).toBeGreaterThan(1);
  });

  test('/health is polled without the API key, at most a minute apart', async () => {
    const bench = await startBench(() => broken, forLong);
    bench.server.health = 500;
    const sending = tenIds.map((id) => bench.deliver(delivery(id)));
    await until(() => bench.server.healthChecks.length >= 15);
    bench.halt.request({ code: 'enough', message: 'enough', exitCode: 3 });
    await Promise.all(sending);
    for (const headers of bench.server.healthChecks) expect(headers).not.toHaveProperty('x-api-key');
    const waits = bench.clock.slept.filter((ms) => ms > 20_000 && ms < 60_000);
    expect(waits.length).toBeGreaterThan(5);
    expect(Math.max(...bench.clock.slept.filter((ms) => ms < 60_025))).toBeLessThanOrEqual(60_000);
  });

  test('while only /health answers, single events are sent one after another and none is rejected', async () => {
    let isUp = false;
    let inFlight = 0;
    let together = 0;
    const bench = await startBench((): Answer => {
      if (isUp) return processed();
      inFlight += 1;
      together = Math.max(together, inFlight);
      const after = new Promise((go) => setTimeout(go, 3)).then(() => (inFlight -= 1));
      return { ...(broken as object), after } as Answer;
    }, forLong);
    const sending = tenIds.map((id) => bench.deliver(delivery(id)));
    await until(() => bench.logged.some((line) => line.startsWith('health ')));
    // Those that went out before the outage was noticed may still be on their way to the server, or back.
    const { counters } = bench.deliverer;
    await until(() => inFlight <= 1 && counters.requests === bench.server.arrived.length);
    together = 0;
    const before = bench.server.arrived.length;
    await until(() => bench.server.arrived.length >= before + 30);
    expect(together).toBe(1);
    const alone = new Set(bench.server.arrived.slice(before).map(({ body }) => body.id));
    expect(alone.size).toBe(10);
    isUp = true;
    const outcomes = await Promise.all(sending);
    expect(outcomes.map(({ kind }) => kind)).toEqual(tenIds.map(() => 'acknowledged'));
  });

  test('time asleep does not count towards --max-outage', async () => {
    let isUp = false;
    const bench = await startBench(() => (isUp ? processed() : broken), { maxOutageMs: 10 * 60_000 });
    bench.server.health = 503;
    const sending = tenIds.map((id) => bench.deliver(delivery(id)));
    await until(() => bench.deliverer.waiting()?.reason === 'outage');
    bench.clock.suspend(3 * 60 * 60_000);
    isUp = true;
    bench.server.health = 200;
    const outcomes = await Promise.all(sending);
    expect(outcomes.every(({ kind }) => kind === 'acknowledged')).toBe(true);
  });
});

describe('a single event that fails', () => {
  test('does not count its attempts while /health is down', async () => {
    const bench = await startBench((_request, nth) => (nth <= 20 ? broken : processed()), forLong);
    bench.server.health = 503;
    expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'acknowledged', attempts: 21 });
  });

  test('is rejected after five attempts while /health answers, even with a concurrency of 1', async () => {
    const bench = await startBench(({ body }) => (body.id === 'poison' ? broken : processed()), { concurrency: 1 });
    await bench.deliver(delivery('e1'));
    expect(await bench.deliver(delivery('poison'))).toMatchObject({
      kind: 'failed',
      code: 'internal',
      attempts: 5,
    });
    expect(await bench.deliver(delivery('e2'))).toMatchObject({ kind: 'acknowledged' });
  });

  test('is not given up before any event was acknowledged, unless an earlier run has done so', async () => {
    const bench = await startBench(
      ({ body }, nth) => (nth <= 30 || body.id === 'again' ? broken : processed()),
      forLong,
    );
    expect(await bench.deliver(delivery('again', { wasRejected: true }))).toMatchObject({
      kind: 'failed',
      attempts: 5,
    });
    expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'acknowledged', attempts: 26 });
  });

  test('followed by another failing event is an outage, even with a concurrency of 1', async () => {
    let isUp = false;
    const bench = await startBench(({ body }) => (isUp || body.id === 'ok' ? processed() : broken), { concurrency: 1 });
    await bench.deliver(delivery('ok'));
    expect(await bench.deliver(delivery('first'))).toMatchObject({ kind: 'failed' });
    const second = bench.deliver(delivery('second'));
    await until(() => bench.server.arrived.length > 15);
    isUp = true;
    expect(await second).toMatchObject({ kind: 'acknowledged' });
  });
});

describe('a maintenance page with a Retry-After of an hour', () => {
  const page: Answer = { status: 503, headers: { 'retry-after': '3600' } };

  test.each([
    ['for a single event', 1],
    ['for several', 10],
  ])('ends with the maintenance, %s', async (_name, events) => {
    const bench = await startBench(() => (bench.server.health === 200 ? processed() : page));
    bench.server.health = 503;
    const back = bench.clock.monotonic() + 6_000;
    const stop = bench.clock.every(100, () => {
      if (bench.clock.monotonic() >= back) bench.server.health = 200;
    });
    const outcomes = await Promise.all(Array.from({ length: events }, (_, at) => bench.deliver(delivery(`e${at}`))));
    stop();
    expect(outcomes.map(({ kind }) => kind)).toEqual(outcomes.map(() => 'acknowledged'));
    expect(bench.clock.monotonic() - back).toBeLessThan(600_000);
  });

  test('that spares /health holds an event for a minute only', async () => {
    const bench = await startBench((_request, nth) => (nth === 1 ? page : processed()));
    const began = bench.clock.monotonic();
    expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'acknowledged', attempts: 2 });
    expect(bench.clock.monotonic() - began).toBeGreaterThanOrEqual(60_000);
    expect(bench.clock.monotonic() - began).toBeLessThan(600_000);
  });

  test('as a 429 is waited for in full, although /health answers', async () => {
    const bench = await startBench(
      (_request, nth) => (nth === 1 ? { ...(page as object), status: 429 } : processed()),
      forLong,
    );
    const began = bench.clock.monotonic();
    expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'acknowledged' });
    expect(bench.clock.monotonic() - began).toBeGreaterThanOrEqual(3_600_000);
    expect(bench.server.healthChecks).toEqual([]);
  });
});

describe('a run that is stopped', () => {
  const reason = { code: 'interrupted', message: 'interrupted', exitCode: 130 } as const;

  test('awaits requests in flight, and their answers count', async () => {
    let answer: () => void = () => undefined;
    const after = new Promise<void>((resolve) => (answer = resolve));
    const bench = await startBench(() => ({ ...(processed() as object), after }) as Answer);
    const inFlight = bench.deliver(delivery('e1'));
    await until(() => bench.server.arrived.length === 1);
    bench.halt.request(reason);
    const late = bench.deliver(delivery('e2'));
    expect(await late).toEqual({ kind: 'pending', hadNoEffect: true, attempts: 0 });
    answer();
    expect(await inFlight).toMatchObject({ kind: 'acknowledged' });
    expect(bench.server.arrived).toHaveLength(1);
    expect(bench.announced).toEqual(['e1']);
  });

  test('ends a backoff immediately, and does not retry', async () => {
    const bench = await startBench(() => ({ status: 503, headers: { 'retry-after': '999999999' } }));
    bench.clock.stop();
    const sending = bench.deliver(delivery('e1'));
    await until(() => bench.deliverer.waiting()?.reason === 'retry');
    bench.halt.request(reason);
    expect(await sending).toMatchObject({ kind: 'pending', attempts: 1 });
  });

  test('ends a wait for the rate limit immediately', async () => {
    const bench = await startBench(() => ({ status: 429, headers: { 'retry-after': '3600' } }));
    bench.clock.stop();
    const sending = bench.deliver(delivery('e1'));
    await until(() => bench.deliverer.waiting()?.reason === 'rate_limited');
    bench.halt.request(reason);
    expect(await sending).toMatchObject({ kind: 'pending', attempts: 1 });
  });

  test('a second time cancels requests in flight', async () => {
    const bench = await startBench(() => 'silence');
    const sending = bench.deliver(delivery('e1'));
    await until(() => bench.server.arrived.length === 1);
    bench.halt.request(reason);
    bench.halt.abort();
    expect(await sending).toMatchObject({ kind: 'pending', attempts: 1 });
  });

  test('keeps the first reason', async () => {
    const bench = await startBench(() => processed());
    bench.halt.request(reason);
    bench.halt.request({ code: 'outage', message: 'later', exitCode: 3 });
    expect(bench.halt.reason).toEqual(reason);
  });
});

test('after the machine slept, requests in flight count as unanswered and are sent again', async () => {
  const bench = await startBench((_request, nth) => (nth === 1 ? 'silence' : processed()));
  const sending = bench.deliver(delivery('e1'));
  await until(() => bench.server.arrived.length === 1);
  bench.clock.suspend(8 * 60 * 60_000);
  bench.clock.pass(5_000);
  expect(await sending).toMatchObject({ kind: 'acknowledged', attempts: 2 });
  expect(bench.logged).toContainEqual('machine_slept {"seconds":28805}');
});

test('a TLS failure before the first success stops the run (exit 2)', async () => {
  const bench = await startBench(() => processed(), { isSecure: true });
  expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'pending' });
  expect(bench.halt.reason).toMatchObject({ code: 'tls', exitCode: 2 });
});

test.each([1, 2, 3])(
  'in a storm of every fault at once all events get through, none of them twice (%i)',
  async (seed) => {
    const random = jitter(seed);
    const done = new Set<string>();
    const doubted = new Set<string>();
    let repeats = 0;
    const bench = await startBench(({ body: { id } }): Answer => {
      const luck = random();
      if (luck < 0.1) return 'cut';
      if (luck < 0.2) return { status: 503, body: '<html>' };
      if (luck < 0.3) return { status: 429, headers: { 'retry-after': '2' } };
      if (luck < 0.33 && !doubted.has(id)) {
        doubted.add(id);
        return failed(401, 'unauthorised');
      }
      if (done.has(id)) {
        repeats += 1;
        return processed('none', true);
      }
      done.add(id);
      return luck < 0.5 ? 'cut' : processed();
    }, forLong);
    const waves = Array.from({ length: 4 }, (_, wave) => tenIds.map((id) => `${wave}-${id}`));
    for (const wave of waves) {
      for (const outcome of await Promise.all(wave.map((id) => bench.deliver(delivery(id))))) {
        // Five failures in a row are a rejection, which a rerun repeats under the same id.
        if (outcome.kind === 'failed') expect(outcome.attempts).toBeGreaterThanOrEqual(5);
        else expect(outcome.kind).toBe('acknowledged');
      }
    }
    expect(done.size).toBeGreaterThan(35);
    expect(repeats).toBeGreaterThan(0);
    expect(bench.halt.requested).toBe(false);
    expect(bench.announced).toHaveLength(40);
    expect(bench.deliverer.counters.requests).toBe(bench.server.arrived.length);
    expect(bench.deliverer.counters.retries).toBe(bench.server.arrived.length - 40);
  },
);

describe('what came instead of an answer', () => {
  test.each<[string, Answer, RegExp]>([
    ['an error', failed(500, 'internal', 'out of memory'), /^500 internal: out of memory$/],
    ['a success without an id', { status: 200, body: { status: 'processed' } }, /^answered 200 without an id/],
    ['a web page', { status: 200, body: '<html><title>Proxy</title></html>' }, /^answered 200 with a web page/],
    ['nothing in time', 'silence', /^no answer within 0.2 s/],
  ])('is shown while the run waits, and when it stops: %s', async (_what, answer, expected) => {
    const bench = await startBench(() => answer, { maxOutageMs: 25_000, concurrency: 2, timeoutSeconds: 0.2 });
    bench.server.health = 503;
    bench.clock.stop();
    const sending = ['e1', 'e2', 'e3'].map((id) => bench.deliver(delivery(id)));
    await until(() => bench.deliverer.waiting()?.reason === 'outage');
    expect(bench.deliverer.waiting()!.because).toMatch(expected);
    bench.clock.start();
    await Promise.all(sending);
    expect(bench.halt.reason).toMatchObject({ code: 'outage' });
    expect(bench.halt.reason!.message.split('the last was: ')[1]).toMatch(expected);
  });

  test('is shown without values of the event', async () => {
    const bench = await startBench(() => failed(500, 'internal', 'no room for Ada'), { maxOutageMs: 25_000 });
    bench.server.health = 503;
    await bench.deliver(delivery('e1'));
    expect(bench.halt.reason!.message).toContain('500 internal');
    expect(bench.halt.reason!.message).not.toContain('Ada');
  });
});
