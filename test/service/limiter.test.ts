// Lost without it: the limit could be exceeded, or hardly used.
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Rate } from '../../src/rate.ts';
import { Limiter, NotSent, type LimiterOptions } from '../../src/service/limiter.ts';
import { fakedClock, simulate, StrictWindow, type Measured, type Scenario } from './strict-window.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets faked time pass until the promise is settled. */
async function inFakedTime<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const end = (): void => void (isSettled = true);
  promise.then(end, end);
  while (!isSettled) await vi.advanceTimersByTimeAsync(250);
  return promise;
}

const rate = { requests: 10, seconds: 60 };
const options = { rate, concurrency: 10, clock: fakedClock };
/** Stopped after the test. */
function limiterOf(given: LimiterOptions): Limiter {
  const limiter = new Limiter(given);
  onTestFinished(() => limiter.stop());
  return limiter;
}

/** A job that takes 100 ms. */
const job = (): Promise<number> => fakedClock.sleep(100).then(() => Date.now());

describe('against a strict sliding window', () => {
  const scenario: Scenario = {
    limit: 40,
    windowMs: 60_000,
    requests: 201,
    concurrency: 10,
    latency: [20, 800],
  };
  const measure = (more: Partial<Scenario> = {}): Promise<Measured> => inFakedTime(simulate({ ...scenario, ...more }));

  test('no request is refused, and at least 98.5 % of the limit is used', async () => {
    const { refused, utilisation } = await measure();
    expect(refused).toBe(0);
    expect(utilisation).toBeGreaterThanOrEqual(0.985);
  });

  test('with another client on the API key, fewer than 1 % are refused, and the other client is not starved', async () => {
    const { refused, foreignRefused } = await measure({ foreign: 12 });
    expect(refused / (refused + 201)).toBeLessThan(0.01);
    expect(foreignRefused).toBeLessThanOrEqual(2);
  });

  test('if refused requests count too, it does not livelock with another client', async () => {
    const { minutes } = await measure({ foreign: 12, countsRefused: true });
    expect(minutes).toBeLessThan(12);
  });

  test('a limit high enough to issue tokens in batches is kept as strictly', async () => {
    const { refused, utilisation } = await measure({
      limit: 1_000,
      windowMs: 10_000,
      requests: 4_001,
      latency: [1, 20],
    });
    expect(refused).toBe(0);
    expect(utilisation).toBeGreaterThanOrEqual(0.985);
  });
});

describe('tokens', () => {
  test('the window is full until a window has passed since the first answer', async () => {
    const limiter = limiterOf(options);
    const startedAt = Date.now();
    const answeredAt = await inFakedTime(Promise.all(Array.from({ length: 11 }, () => limiter.schedule(job))));
    expect(answeredAt[9]! - startedAt).toBeLessThan(1_000);
    expect(answeredAt[10]! - answeredAt[0]!).toBeGreaterThanOrEqual(60_025 + 100);
  });

  test.each([
    ['a lower X-RateLimit-Limit is applied', '5', 4],
    ['the first of several is the limit', '5, 5;w=60', 4],
    ['a higher one is not', '500', 9],
  ])('%s', async (_what, limit, left) => {
    const limiter = limiterOf(options);
    const first = () => job().then((at) => limiter.observe(200, { 'x-ratelimit-limit': limit }, at - 100));
    await inFakedTime(limiter.schedule(first));
    const answeredAt = await inFakedTime(Promise.all(Array.from({ length: left + 1 }, () => limiter.schedule(job))));
    expect(answeredAt[left - 1]! - answeredAt[0]!).toBeLessThan(1_000);
    expect(answeredAt[left]! - answeredAt[0]!).toBeGreaterThan(59_000);
  });

  test('a limit that is lowered while more requests are about to be sent holds up none of them for ever', async () => {
    const limiter = limiterOf({ ...options, rate: { requests: 20, seconds: 60 } });
    const startedAt = Date.now();
    const telling = async (): Promise<number> => {
      // By then tokens for all others have been asked for.
      await Promise.resolve();
      limiter.observe(200, { 'x-ratelimit-limit': '4' }, startedAt);
      return job();
    };
    const all = Promise.all([telling, ...Array<typeof job>(9).fill(job)].map((each) => limiter.schedule(each)));
    const waited = (await inFakedTime(all)).map((at) => Math.floor((at - startedAt) / 60_000));
    expect(waited).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
  });

  test('others who use the key are named once, with what they take', async () => {
    const said: string[] = [];
    const limiter = limiterOf({
      ...options,
      rate: { requests: 100, seconds: 60 },
      notify: (text) => said.push(text),
    });
    let sent = 0;
    const counted = () =>
      job().then((at) => {
        sent += 1;
        limiter.observe(200, { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': String(60 - sent) }, at - 100);
      });
    await inFakedTime(Promise.all(Array.from({ length: 10 }, () => limiter.schedule(counted))));
    expect(said).toEqual([expect.stringMatching(/^others use this key: about \d+ of 100 requests/)]);
  });

  /** When requests are sent in five windows at this rate, to a service with this limit, of which others use some evenly. */
  async function sentBeside(given: Rate, limit: number, others: number): Promise<readonly number[]> {
    const window = new StrictWindow(limit, 60_000);
    const over = new AbortController();
    const until = Date.now() + 360_000;
    void (async () => {
      while (others > 0 && Date.now() < until) {
        window.call(Date.now(), 'other');
        await fakedClock.sleep(60_000 / others);
      }
    })();
    await inFakedTime(fakedClock.sleep(60_000));
    const limiter = limiterOf({ ...options, rate: given });
    const sent: number[] = [];
    const one = async (): Promise<void> => {
      const sentAt = Date.now();
      const { status, headers } = window.call(sentAt, 'own');
      sent.push(sentAt);
      await job();
      limiter.observe(status, headers, sentAt);
      if (status === 429) limiter.refused(Number(headers['retry-after']) * 1000, sentAt);
    };
    const endless = async (): Promise<void> => {
      while (Date.now() < until) await limiter.schedule(one, { signal: over.signal }).catch(() => undefined);
    };
    const all = Promise.all(Array.from({ length: 10 }, endless));
    await inFakedTime(fakedClock.sleep(until - Date.now()));
    over.abort();
    await inFakedTime(all);
    expect(window.refusedBy.get('own') ?? 0).toBeLessThanOrEqual(1);
    return sent;
  }

  test('what others use is taken from the limit of the service', async () => {
    expect((await sentBeside({ requests: 16, seconds: 4 }, 40, 20)).length).toBeGreaterThanOrEqual(75);
  });

  test('a rate with a shorter window than the service keeps both windows', async () => {
    const sent = await sentBeside({ requests: 10, seconds: 1 }, 100, 0);
    expect(sent.length).toBeGreaterThanOrEqual(495);
    const inSecond = sent.map((at, index) => sent.slice(index).filter((other) => other < at + 1_000).length);
    expect(Math.max(...inSecond)).toBeLessThanOrEqual(10);
  });

  test('while the API key is shared, requests are spaced out, also after a withdrawn request', async () => {
    const limiter = limiterOf(options);
    const starts: number[] = [];
    const noting = (): Promise<number> => {
      starts.push(Date.now());
      return job();
    };
    const shared = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '6' };
    const first = limiter.schedule(() => noting().then((at) => limiter.observe(200, shared, at - 100)));
    const declined = limiter.schedule(noting, { mayStart: () => false });
    await inFakedTime(Promise.all([first, expect(declined).rejects.toBeInstanceOf(NotSent)]));
    await inFakedTime(Promise.all(Array.from({ length: 3 }, () => limiter.schedule(noting))));
    // Others are seen once the first is answered.
    const distances = starts.slice(2).map((at, index) => at - starts[index + 1]!);
    expect(Math.min(...distances)).toBeGreaterThanOrEqual(2_990);
  });

  test('requests of earlier runs within the window count, and each of this run is told before it is sent and when it is answered', async () => {
    const told: string[] = [];
    const history = {
      load: () => [50_000, 20_000, 0].map((age) => Date.now() - age),
      limit: undefined,
      pauseMs: 0,
      send: () => {
        told.push('sent');
        return () => void told.push('answered');
      },
      limitIs: vi.fn(),
      pause: vi.fn(),
    };
    const limiter = limiterOf({ ...options, rate: { requests: 4, seconds: 60 }, history });
    const startedAt = Date.now();
    const telling = (): Promise<number> => {
      told.push('job');
      return job();
    };
    const answeredAt = await inFakedTime(Promise.all(Array.from({ length: 4 }, () => limiter.schedule(telling))));
    const waited = answeredAt.map((at) => Math.round((at - startedAt) / 10_000) * 10);
    expect(waited).toEqual([0, 10, 40, 60]);
    expect(told).toEqual(Array.from({ length: 4 }, () => ['sent', 'job', 'answered']).flat());
  });

  test('a pause of an earlier run goes on, and a new one is kept', async () => {
    const pause = vi.fn();
    const history = {
      load: () => [],
      limit: undefined,
      pauseMs: 40_000,
      send: () => () => undefined,
      limitIs: () => undefined,
      pause,
    };
    const limiter = limiterOf({ ...options, history });
    expect(limiter.waiting()).toMatchObject({ reason: 'rate_limited', nextInMs: 40_000 });
    const startedAt = Date.now();
    const answeredAt = await inFakedTime(limiter.schedule(job));
    expect(answeredAt - startedAt).toBeGreaterThanOrEqual(40_000);
    expect(pause).not.toHaveBeenCalled();
    limiter.refused(90_000, fakedClock.monotonic());
    expect(pause.mock.calls[0]![0]).toBeGreaterThanOrEqual(90_000);
    // Of ten days: it may be a mistake, or have been lifted, so the service is asked.
    const late = limiterOf({ ...options, history: { ...history, pauseMs: 864_000_000 } });
    expect(late.waiting()).toBeUndefined();
  });

  test('a lower limit removes available tokens', async () => {
    const limiter = limiterOf({ ...options, rate: { requests: 10_000, seconds: 60 } });
    let isTold = false;
    const telling = (): Promise<number> =>
      job().then((at) => {
        if (!isTold) limiter.observe(200, { 'x-ratelimit-limit': '20' }, at - 100);
        isTold = true;
        return at;
      });
    const startedAt = Date.now();
    const answeredAt = await inFakedTime(Promise.all(Array.from({ length: 25 }, () => limiter.schedule(telling))));
    expect(answeredAt.filter((at) => at - startedAt < 60_000)).toHaveLength(20);
  });

  test('a failed request counts in the window', async () => {
    const limiter = limiterOf({ ...options, rate: { requests: 1, seconds: 60 } });
    const failing = limiter.schedule(async () => {
      throw new Error('connection lost');
    });
    await inFakedTime(expect(failing).rejects.toThrow('connection lost'));
    const startedAt = Date.now();
    await inFakedTime(limiter.schedule(job));
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(60_000);
  });

  test('at most --concurrency requests are in flight', async () => {
    const limiter = limiterOf({ ...options, concurrency: 3 });
    let [most, inFlight] = [0, 0];
    const watched = async (): Promise<void> => {
      most = Math.max(most, (inFlight += 1));
      await job();
      inFlight -= 1;
    };
    await inFakedTime(Promise.all(Array.from({ length: 9 }, () => limiter.schedule(watched))));
    expect(most).toBe(3);
  });

  test('a limit that is raised while requests wait lets them go', async () => {
    const limiter = limiterOf({ ...options, rate: { requests: 50_000, seconds: 60 } });
    const saying = (limit: string): void => limiter.observe(200, { 'x-ratelimit-limit': limit }, Date.now());
    saying('2');
    const startedAt = Date.now();
    const answered = Promise.all(Array.from({ length: 12 }, () => limiter.schedule(job)));
    await vi.advanceTimersByTimeAsync(500);
    saying('50000');
    expect(Math.max(...(await inFakedTime(answered))) - startedAt).toBeLessThan(2_000);
  });

  test('a configured rate below the limit is not mistaken for foreign use', async () => {
    const said: string[] = [];
    const limiter = limiterOf({ ...options, rate: { requests: 2, seconds: 1 }, notify: (text) => said.push(text) });
    let sent = 0;
    const counted = () =>
      job().then((at) => {
        sent += 1;
        limiter.observe(200, { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': String(100 - sent) }, at - 100);
      });
    await inFakedTime(Promise.all(Array.from({ length: 40 }, () => limiter.schedule(counted))));
    expect(said).toEqual([]);
  });
});

describe('a 429', () => {
  test('pauses all requests, then a single request is sent first', async () => {
    const limiter = limiterOf({ ...options, rate: { requests: 100, seconds: 60 } });
    const startedAt = Date.now();
    let [together, inFlight] = [0, 0];
    const starts: number[] = [];
    await inFakedTime(
      limiter.schedule(async () => {
        limiter.observe(429, {}, Date.now());
        limiter.refused(20_000, Date.now());
      }),
    );
    const next = async (): Promise<void> => {
      starts.push(Date.now() - startedAt);
      inFlight += 1;
      if (starts.length <= 3) together = Math.max(together, inFlight);
      const sentAt = Date.now();
      await job();
      inFlight -= 1;
      if (starts.length > 2) limiter.observe(200, {}, sentAt);
    };
    await inFakedTime(Promise.all(Array.from({ length: 6 }, () => limiter.schedule(next))));
    expect(starts[0]).toBeGreaterThanOrEqual(20_000);
    expect(together).toBe(1);
  });

  test('pauses longer each time it repeats, even without Retry-After', async () => {
    const limiter = limiterOf({ ...options, rate: { requests: 1_000, seconds: 60 } });
    const starts: number[] = [];
    for (let nth = 0; nth < 9; nth += 1) {
      await inFakedTime(
        limiter.schedule(async () => {
          starts.push(Date.now());
          limiter.observe(429, {}, Date.now());
          limiter.refused(undefined, Date.now());
        }),
      );
    }
    const waits = starts.slice(1).map((at, index) => at - starts[index]!);
    waits.slice(0, 6).forEach((wait, index) => expect(wait).toBeGreaterThanOrEqual(1_000 * 2 ** index));
    expect(Math.max(...waits)).toBeLessThanOrEqual(121_000);
  });

  test('for several requests in flight counts as one refusal', async () => {
    const limiter = limiterOf(options);
    for (let nth = 0; nth < 5; nth += 1) limiter.refused(5_000, Date.now() - 10);
    expect(limiter.waiting()).toMatchObject({ reason: 'rate_limited' });
    expect(limiter.waiting()!.nextInMs).toBeLessThanOrEqual(6_000);
  });
});

describe('withdrawing a request', () => {
  const full = { ...options, rate: { requests: 1, seconds: 60 } };

  test('an aborted signal ends the wait immediately', async () => {
    const limiter = limiterOf(full);
    await inFakedTime(limiter.schedule(job));
    expect(limiter.waiting()).toMatchObject({ reason: 'rate' });
    const stop = new AbortController();
    const waiting = limiter.schedule(job, { signal: stop.signal });
    const startedAt = Date.now();
    stop.abort();
    await inFakedTime(expect(waiting).rejects.toBeInstanceOf(NotSent));
    expect(Date.now() - startedAt).toBeLessThan(1_000);
  });

  test('an answer is handled before the next request is sent', async () => {
    const limiter = limiterOf({ ...options, rate: { requests: 10_000, seconds: 60 }, concurrency: 1 });
    const stop = new AbortController();
    const reading = async (): Promise<number> => limiter.schedule(job);
    const deciding = reading().then(() => stop.abort());
    const next = limiter.schedule(job, { signal: stop.signal });
    await inFakedTime(Promise.all([deciding, expect(next).rejects.toBeInstanceOf(NotSent)]));
  });

  test('a withdrawn request leaves its token to the next one', async () => {
    const limiter = limiterOf(full);
    const startedAt = Date.now();
    await inFakedTime(expect(limiter.schedule(job, { mayStart: () => false })).rejects.toBeInstanceOf(NotSent));
    await inFakedTime(limiter.schedule(job));
    expect(Date.now() - startedAt).toBeLessThan(5_000);
  });

  test('stopping withdraws waiting requests, but not those in flight', async () => {
    const limiter = limiterOf(full);
    const inFlight = limiter.schedule(job);
    const waiting = limiter.schedule(job);
    waiting.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(50);
    const stopped = limiter.stop();
    await inFakedTime(expect(waiting).rejects.toBeInstanceOf(NotSent));
    expect(await inFakedTime(inFlight)).toEqual(expect.any(Number));
    await inFakedTime(stopped);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('setting the wall clock back by an hour does not stall the queue', async () => {
  let setBack = 0;
  const clock = { ...fakedClock, monotonic: () => Date.now() + setBack };
  const limiter = limiterOf({ ...options, clock, rate: { requests: 5, seconds: 10 } });
  await inFakedTime(Promise.all(Array.from({ length: 5 }, () => limiter.schedule(job))));
  const waiting = Promise.all(Array.from({ length: 5 }, () => limiter.schedule(job)));
  setBack = 3_600_000;
  vi.setSystemTime(Date.now() - setBack);
  const startedAt = clock.monotonic();
  await inFakedTime(waiting);
  expect(clock.monotonic() - startedAt).toBeLessThan(60_000);
});
