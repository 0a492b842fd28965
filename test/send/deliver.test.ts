// Lost without it: the deliverer could do otherwise than was decided, over a real client and in virtual time.
import { describe, expect, test } from 'vitest';
import { failed, processed, type Answer } from '../service/scripted-server.ts';
import { delivery, jitter, KEY, startBench, TOKEN, type Bench } from './delivery.ts';

const tenIds = Array.from({ length: 10 }, (_, index) => `e${index}`);
const broken = failed(500, 'internal');
const forLong = { maxOutageMs: 7 * 86_400_000 };
const page = (status: number, seconds: string): Answer => ({ status, headers: { 'retry-after': seconds } });

/** Answers in turn; the last one again and again. */
function inTurn(...answers: Answer[]) {
  return (_request: unknown, nth: number): Answer => answers[Math.min(nth, answers.length) - 1]!;
}

/** Resolves once `condition` is true; uses real time, because it waits for a real server. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((go) => setTimeout(go, 1));
}

const waitsFor = (bench: Bench, reason: string): Promise<void> =>
  until(() => bench.deliverer.waiting()?.reason === reason);

test('an event is sent once, with its own id and triggers suppressed in envelope and header', async () => {
  const bench = await startBench(() => processed());
  const { deduplicated, mayHaveArrived } = { deduplicated: false, mayHaveArrived: false };
  const expected = { kind: 'acknowledged', outcome: 'created', serviceId: 'srv-1', deduplicated, mayHaveArrived };
  expect(await bench.deliver(delivery('e1'))).toEqual({ ...expected, attempts: 1 });
  expect(bench.announced).toEqual(['e1']);
  expect(bench.server.arrived).toHaveLength(1);
  const [request] = bench.server.arrived;
  expect(request).toMatchObject({ method: 'POST', url: `/webhooks/ingest/${TOKEN}` });
  expect(request!.headers).toMatchObject({ 'x-api-key': KEY, 'x-suppress-triggers': 'true' });
  const data = { external_id: 'x-e1', full_name: 'Ada' };
  expect(request!.body).toEqual({ id: 'e1', type: 'lead/created', suppress_triggers: true, data });
  const counters = { requests: 1, events_sent: 1, follow_ups: 0, retries: 0, rate_limited: 0 };
  expect(bench.deliverer.counters).toEqual(counters);
});

describe('an outage', () => {
  test('rejects no event; /health is polled without the key, at most a minute apart, and then the others follow', async () => {
    let isUp = false;
    const bench = await startBench(() => (isUp ? processed() : broken), forLong);
    bench.server.health = 503;
    const sending = tenIds.map((id) => bench.deliver(delivery(id)));
    await until(() => bench.server.healthChecks.length >= 12);
    expect(bench.deliverer.waiting()).toMatchObject({
      reason: 'outage',
      because: expect.stringContaining('500') as string,
    });
    // Ten were in flight; some had time for a second attempt before three had failed.
    expect(bench.server.arrived.length).toBeLessThanOrEqual(20);
    isUp = true;
    bench.server.health = 200;
    for (const { kind } of await Promise.all(sending)) expect(kind).toBe('acknowledged');
    for (const headers of bench.server.healthChecks) expect(headers).not.toHaveProperty('x-api-key');
    expect(Math.max(...bench.clock.slept.filter((ms) => ms < 60_025))).toBeLessThanOrEqual(60_000);
    expect(bench.logged.filter((line) => line.startsWith('outage '))).toHaveLength(1);
  });

  test('does not count while the machine is asleep; requests in flight then count as unanswered', async () => {
    const bench = await startBench(({ body }, nth) => (body.id === 'slow' && nth === 1 ? 'silence' : processed()), {
      maxOutageMs: 10 * 60_000,
    });
    const slow = bench.deliver(delivery('slow'));
    await until(() => bench.server.arrived.length === 1);
    bench.clock.suspend(8 * 60 * 60_000);
    bench.clock.pass(5_000);
    expect(await slow).toMatchObject({ kind: 'acknowledged', attempts: 2 });
    expect(bench.logged).toContainEqual(expect.stringMatching(/^machine_slept {"seconds":2880\d}/));
    expect(bench.halt.requested).toBe(false);
  });

  test.each<[name: string, answer: Answer, health: number, events: number, code: string]>([
    ['nobody can be reached', 'cut', 503, 10, 'outage'],
    ['only /health answers', broken, 200, 10, 'outage'],
    ['a single event gets a Retry-After of years', page(503, '999999999'), 200, 1, 'outage'],
    ['429s have no end', page(429, '2'), 200, 10, 'rate_limited'],
    ['a 429 asks for years', page(429, '999999999'), 200, 10, 'rate_limited'],
  ])('of --max-outage ends the run on time: %s', async (_, answer, health, events, code) => {
    const bench = await startBench(() => answer, { maxOutageMs: 25_000 });
    bench.server.health = health;
    const began = bench.clock.monotonic();
    let lasted = 0;
    bench.halt.signal.addEventListener('abort', () => (lasted = bench.clock.monotonic() - began), { once: true });
    const outcomes = await Promise.all(tenIds.slice(0, events).map((id) => bench.deliver(delivery(id))));
    expect(outcomes.map(({ kind }) => kind)).toEqual(outcomes.map(() => 'pending'));
    expect(bench.halt.reason).toMatchObject({ code, exitCode: 3 });
    expect(lasted).toBeGreaterThanOrEqual(25_000);
    expect(lasted).toBeLessThanOrEqual(26_000);
  });
});

describe('a maintenance page with a Retry-After of an hour', () => {
  test.each([
    ['that spares /health holds an event for a minute only', 503, 60_000, 600_000],
    ['as a 429 is waited for in full', 429, 3_600_000, Infinity],
  ])('%s', async (_, status, least, most) => {
    const bench = await startBench(inTurn(page(status, '3600'), processed()), forLong);
    const began = bench.clock.monotonic();
    expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'acknowledged', attempts: 2 });
    expect(bench.clock.monotonic() - began).toBeGreaterThanOrEqual(least);
    expect(bench.clock.monotonic() - began).toBeLessThan(most);
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
    expect(await bench.deliver(delivery('e2'))).toEqual({ kind: 'pending', hadNoEffect: true, attempts: 0 });
    answer();
    expect(await inFlight).toMatchObject({ kind: 'acknowledged' });
    expect(bench.announced).toEqual(['e1']);
  });

  test.each([
    ['a backoff', 503, 'retry'],
    ['a wait for the rate limit', 429, 'rate_limited'],
  ])('ends %s at once, and does not retry', async (_, status, waiting) => {
    const bench = await startBench(() => page(status, '3600'));
    bench.clock.stop();
    const sending = bench.deliver(delivery('e1'));
    await waitsFor(bench, waiting);
    bench.halt.request(reason);
    expect(await sending).toMatchObject({ kind: 'pending', attempts: 1 });
  });
});

test('an error of beforeSend is thrown, and nothing is sent', async () => {
  const bench = await startBench(() => processed());
  bench.failAnnouncing(new Error('disk full'));
  await expect(bench.deliver(delivery('e1'))).rejects.toThrow('disk full');
  expect(bench.server.arrived).toHaveLength(0);
});

test('in a storm of every fault at once all events get through, none of them twice', async () => {
  const random = jitter(1);
  const [done, doubted] = [new Set<string>(), new Set<string>()];
  const bench = await startBench(({ body: { id } }): Answer => {
    const luck = random();
    if (luck < 0.1) return 'cut';
    if (luck < 0.2) return { status: 503, body: '<html>' };
    if (luck < 0.3) return page(429, '2');
    if (luck < 0.33 && !doubted.has(id)) {
      doubted.add(id);
      return failed(401, 'unauthorised');
    }
    if (done.has(id)) return processed('none', true);
    done.add(id);
    return luck < 0.5 ? 'cut' : processed();
  }, forLong);
  for (let wave = 0; wave < 4; wave += 1) {
    for (const outcome of await Promise.all(tenIds.map((id) => bench.deliver(delivery(`${wave}-${id}`))))) {
      // Five failures in a row are a rejection, which a rerun repeats under the same id.
      if (outcome.kind === 'failed') expect(outcome.attempts).toBeGreaterThanOrEqual(5);
      else expect(outcome.kind).toBe('acknowledged');
    }
  }
  expect(done.size).toBeGreaterThan(35);
  expect(bench.halt.requested).toBe(false);
  const { requests, retries } = bench.deliverer.counters;
  expect([requests, retries]).toEqual([bench.server.arrived.length, bench.server.arrived.length - 40]);
});
