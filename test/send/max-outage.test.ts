import { describe, expect, test } from 'vitest';
import { failed, processed, type Answer } from '../service/scripted-server.ts';
import { Halt } from '../../src/halt.ts';
import { Gate } from '../../src/send/gate.ts';
import { VirtualClock } from '../service/virtual-clock.ts';
import { delivery, startBench, type Bench } from './delivery.ts';

const MAX_OUTAGE_MS = 25_000;
const YEARS = '999999999';
const broken = failed(500, 'internal');

/** How long the run lasted until it was stopped, by the virtual clock. */
function untilStopped({ halt, clock }: Bench): Promise<number> {
  const began = clock.monotonic();
  return new Promise((resolve) => {
    halt.signal.addEventListener('abort', () => resolve(clock.monotonic() - began), { once: true });
  });
}

function expectOnTime(ms: number): void {
  expect(ms).toBeGreaterThanOrEqual(MAX_OUTAGE_MS);
  expect(ms).toBeLessThanOrEqual(MAX_OUTAGE_MS + 1_000);
}

describe('--max-outage ends the run on time', () => {
  test.each([
    ['while the service cannot be reached', 'cut', 503, 10, 'outage'],
    ['while only /health answers', broken, 200, 10, 'outage'],
    ['for a single event while /health is down', broken, 503, 1, 'outage'],
    [
      'for a single event with a 503 and a Retry-After of years',
      { status: 503, headers: { 'retry-after': YEARS } },
      200,
      1,
      'outage',
    ],
    ['while 429s go on without end', { status: 429, headers: { 'retry-after': '2' } }, 200, 10, 'rate_limited'],
    [
      'after a 429 with a Retry-After of years',
      { status: 429, headers: { 'retry-after': YEARS } },
      200,
      10,
      'rate_limited',
    ],
  ] as [string, Answer, number, number, string][])('%s', async (_name, answer, health, events, code) => {
    const bench = await startBench(() => answer, { maxOutageMs: MAX_OUTAGE_MS });
    bench.server.health = health;
    const stopped = untilStopped(bench);
    const ids = Array.from({ length: events }, (_, index) => `e${index}`);
    const outcomes = await Promise.all(ids.map((id) => bench.deliver(delivery(id))));
    expect(outcomes.map(({ kind }) => kind)).toEqual(ids.map(() => 'pending'));
    expect(bench.halt.reason).toMatchObject({ code, exitCode: 3 });
    expectOnTime(await stopped);
  });

  test.each(['90', YEARS, '1e308', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'after one 429 with Retry-After: %s, although a request that was sent before it is answered after it',
    async (retryAfter) => {
      let release: () => void = () => undefined;
      const after = new Promise<void>((resolve) => (release = resolve));
      const limited = { status: 429, headers: { 'retry-after': retryAfter } };
      const bench = await startBench(
        ({ body }) => (body.id === 'slow' ? { ...(processed() as object), after } : limited) as Answer,
        {
          maxOutageMs: MAX_OUTAGE_MS,
        },
      );
      bench.clock.stop();
      const slow = bench.deliver(delivery('slow'));
      while (bench.server.arrived.length === 0) await new Promise((go) => setTimeout(go, 1));
      const refused = bench.deliver(delivery('refused'));
      while (!bench.logged.some((line) => line.startsWith('rate_limited ')))
        await new Promise((go) => setTimeout(go, 1));
      const stopped = untilStopped(bench);
      release();
      expect(await slow).toMatchObject({ kind: 'acknowledged' });
      expect(bench.deliverer.waiting()).toMatchObject({ reason: 'rate_limited' });
      expect(Number.isFinite(bench.deliverer.waiting()!.nextInMs)).toBe(true);
      bench.clock.start();
      expect(await refused).toMatchObject({ kind: 'pending' });
      expect(bench.halt.reason).toMatchObject({ code: 'rate_limited', exitCode: 3 });
      expect(await stopped).toBeLessThanOrEqual(MAX_OUTAGE_MS + 2_000);
    },
  );

  test.each([
    ['26', 1],
    ['20', 0],
  ])('a 429 with Retry-After: %s is said at once if it is longer', async (seconds, warnings) => {
    const bench = await startBench(() => ({ status: 429, headers: { 'retry-after': seconds } }), {
      maxOutageMs: MAX_OUTAGE_MS,
    });
    bench.clock.stop();
    const [one, other] = [bench.deliver(delivery('e1')), bench.deliver(delivery('e2'))];
    while (!bench.logged.some((line) => line.startsWith('rate_limited '))) await new Promise((go) => setTimeout(go, 1));
    expect(bench.warned).toHaveLength(warnings);
    for (const warning of bench.warned) expect(warning).toMatch(/2\d s.*Retry-After.*25 s.*--max-outage/);
    expect(bench.halt.requested).toBe(false);
    bench.clock.start();
    await Promise.all([one, other]);
  });

  test('while 429s and 503s take turns', async () => {
    const answers: Answer[] = [{ status: 429, headers: { 'retry-after': '2' } }, broken];
    const bench = await startBench((_request, nth) => answers[nth % 2]!, { maxOutageMs: MAX_OUTAGE_MS });
    bench.server.health = 503;
    const stopped = untilStopped(bench);
    expect(await bench.deliver(delivery('e1'))).toMatchObject({ kind: 'pending' });
    expectOnTime(await stopped);
  });
});

test('one event with a 503 and a Retry-After of years is rejected after --max-outage while others go on', async () => {
  const later = { status: 503, headers: { 'retry-after': YEARS } };
  const bench = await startBench(({ body }) => (body.id === 'odd' ? later : processed()), {
    maxOutageMs: MAX_OUTAGE_MS,
  });
  // The clock goes on only between the answers to the others.
  bench.clock.stop();
  const odd = bench.deliver(delivery('odd'));
  let settled = false;
  void odd.then(() => (settled = true));
  for (let n = 0; !settled; n += 1) {
    await bench.deliver(delivery(`good-${n}`));
    bench.clock.pass(1_000);
  }
  expect(await odd).toMatchObject({ kind: 'failed', code: 'http_503', attempts: 2 });
  expect(bench.halt.requested).toBe(false);
});

test('time without an answer because of our own rate limit does not count', async () => {
  const bench = await startBench((_request, nth) => (nth === 2 ? broken : processed()), {
    maxOutageMs: MAX_OUTAGE_MS,
    rate: { requests: 2, seconds: 60 },
  });
  // The clock goes on only between requests.
  bench.clock.stop();
  await bench.deliver(delivery('e1'));
  const second = bench.deliver(delivery('e2'));
  while (!bench.logged.some((line) => line.startsWith('retry '))) await new Promise((go) => setTimeout(go, 1));
  for (let seconds = 0; seconds < 62; seconds += 1) {
    bench.clock.pass(1_000);
    await new Promise((go) => setTimeout(go, 1));
  }
  expect(await second).toMatchObject({ kind: 'acknowledged', attempts: 2 });
  expect(bench.server.arrived).toHaveLength(3);
  expect(bench.halt.requested).toBe(false);
});

test('a 429 to another request than an event counts, until an event is answered', async () => {
  const clock = new VirtualClock();
  clock.stop();
  const halt = new Halt();
  let waitsFor: 'rate_limited' | undefined = 'rate_limited';
  const gate = new Gate({
    clock,
    halt,
    concurrency: 10,
    maxOutageMs: MAX_OUTAGE_MS,
    health: async () => true,
    limiterWait: () => waitsFor && { reason: waitsFor, nextInMs: 500 },
    onSleep: () => undefined,
    log: () => undefined,
    warn: () => undefined,
    random: () => 0.5,
  });
  clock.pass(MAX_OUTAGE_MS - 1_000);
  waitsFor = undefined;
  gate.answered();
  clock.pass(MAX_OUTAGE_MS);
  expect(halt.requested).toBe(false);
  waitsFor = 'rate_limited';
  clock.pass(MAX_OUTAGE_MS + 1_000);
  expect(halt.reason).toMatchObject({ code: 'rate_limited', exitCode: 3 });
  gate.close();
});

describe('a wait is told', () => {
  test('for a 429, with its length', async () => {
    const bench = await startBench((_request, nth) => {
      return nth === 1 ? { status: 429, headers: { 'retry-after': '30' } } : processed();
    });
    await bench.deliver(delivery('e1'));
    expect(bench.logged).toContainEqual(expect.stringMatching(/^rate_limited .*"external_id":"x-e1","seconds":3\d/));
  });

  test('for a Retry-After on a single event, while nothing else is sent', async () => {
    const bench = await startBench((_request, nth) => {
      return nth === 1 ? { status: 503, headers: { 'retry-after': '120' } } : processed();
    });
    bench.clock.stop();
    const sending = bench.deliver(delivery('e1'));
    while (bench.deliverer.waiting() === undefined) await new Promise((go) => setTimeout(go, 1));
    expect(bench.deliverer.waiting()).toMatchObject({ reason: 'retry', nextInMs: 120_000 });
    expect(bench.logged).toContainEqual(expect.stringMatching(/^retry .*"external_id":"x-e1".*"seconds":120/));
    bench.clock.start();
    expect(await sending).toMatchObject({ kind: 'acknowledged' });
    expect(bench.deliverer.waiting()).toBeUndefined();
  });
});
