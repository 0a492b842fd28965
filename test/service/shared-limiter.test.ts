import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { UserError } from '../../src/errors.ts';
import { Secret } from '../../src/redact.ts';
import { NotSent, openLimiter, type Limiter, type SharedLimiterOptions } from '../../src/service/limiter.ts';
import { RedisWindow } from '../../src/service/redis-window.ts';
import { SlidingWindow } from '../bench/window.ts';
import { hasRedis, redisServer, type RedisServer } from './redis-server.ts';

const KEY = 'key-kept-secret';
const SOON = { timeout: 15_000, interval: 20 };

interface Member {
  readonly limiter: Limiter;
  readonly said: string[];
}

/** The limiter of one process, from the view of Redis. */
async function join(redis: RedisServer, options: Partial<SharedLimiterOptions> = {}): Promise<Member> {
  const said: string[] = [];
  const limiter = await openLimiter({
    rate: { requests: 20, seconds: 1 },
    reserve: 0,
    concurrency: 5,
    clock: systemClock,
    redis: new Secret(redis.url),
    baseUrl: 'https://api.example.test',
    apiKey: new Secret(KEY),
    timeoutSeconds: 1,
    notify: (message) => said.push(message),
    ...options,
  });
  onTestFinished(() => limiter.stop());
  return { limiter, said };
}

/** Sends `count` requests to a service that answers after 5 to 20 ms, its headers handed on as the client does. */
async function send({ limiter }: Member, service: SlidingWindow, count: number): Promise<void> {
  const one = async (): Promise<void> => {
    const sentAt = systemClock.monotonic();
    const { status, headers } = service.call(systemClock.monotonic(), 'ours');
    await sleep(5 + Math.random() * 15);
    limiter.observe(status, headers, sentAt);
    if (status === 429) limiter.refused(Number(headers['retry-after']) * 1000, sentAt);
  };
  await Promise.all(Array.from({ length: count }, () => limiter.schedule(one)));
}

const refusedBy = (service: SlidingWindow): number => service.refusedBy.get('ours') ?? 0;

describe.skipIf(!hasRedis)('several limiters over one Redis', { timeout: 60_000 }, () => {
  test('share one strict window, and do not count each other as foreign use', async () => {
    const redis = await redisServer();
    const members = [await join(redis), await join(redis), await join(redis)];
    const service = new SlidingWindow(20, 1_000);
    await Promise.all(members.map((member) => send(member, service, 30)));
    expect(refusedBy(service)).toBe(0);
    expect(service.acceptedBy.get('ours')).toBe(90);
    for (const { limiter, said } of members) {
      expect(limiter.stats()).toMatchObject({ foreign: 0, allowed: 20 });
      expect(said).toEqual([]);
    }
  });

  test('leave room for other users of the API key once one of them detects them', async () => {
    const redis = await redisServer();
    const [one, other] = [await join(redis), await join(redis)];
    const service = new SlidingWindow(20, 1_000);
    for (let nth = 0; nth < 6; nth += 1) service.call(systemClock.monotonic(), 'stranger');
    await Promise.all([send(one, service, 4), send(other, service, 4)]);
    const foreign = (): number => Math.max(one.limiter.stats().foreign, other.limiter.stats().foreign);
    await expect.poll(foreign, SOON).toBeGreaterThan(0);
  });

  test('a lower X-RateLimit-Limit seen by one applies to all', async () => {
    const redis = await redisServer();
    const [one, other] = [await join(redis), await join(redis)];
    await send(one, new SlidingWindow(4, 1_000), 1);
    const service = new SlidingWindow(4, 1_000);
    await send(other, service, 9);
    expect(refusedBy(service)).toBe(0);
    expect(other.limiter.stats().allowed).toBe(4);
  });

  test('a 429 pauses all of them, then a single request is sent first', async () => {
    const redis = await redisServer();
    const [one, other] = [await join(redis), await join(redis)];
    await one.limiter.schedule(async () => one.limiter.refused(1_500, systemClock.monotonic()));
    const refusedAt = systemClock.monotonic();
    const starts: number[] = [];
    let inFlight = 0;
    let together = 0;
    const job = (member: Member) => async (): Promise<void> => {
      const sentAt = systemClock.monotonic();
      starts.push(sentAt - refusedAt);
      inFlight += 1;
      if (starts.length <= 2) together = Math.max(together, inFlight);
      await sleep(100);
      inFlight -= 1;
      if (starts.length > 1) member.limiter.observe(200, {}, sentAt);
    };
    const jobs = [one, other, one, other].map((member) => member.limiter.schedule(job(member)));
    await expect.poll(() => other.limiter.waiting()?.reason, SOON).toBe('rate_limited');
    await Promise.all(jobs);
    expect(starts[0]).toBeGreaterThanOrEqual(1_450);
    expect(together).toBe(1);
  });

  test('a request withdrawn while waiting uses no token', async () => {
    const redis = await redisServer();
    const { limiter } = await join(redis, { rate: { requests: 1, seconds: 1 } });
    const controller = new AbortController();
    await limiter.schedule(async () => undefined);
    const waiting = limiter.schedule(async () => undefined, { signal: controller.signal });
    const refusing = limiter.schedule(async () => undefined, { mayStart: () => false });
    controller.abort();
    await expect(waiting).rejects.toBeInstanceOf(NotSent);
    await expect(refusing).rejects.toBeInstanceOf(NotSent);
    expect(await limiter.schedule(async () => 'sent')).toBe('sent');
    const last = expect(limiter.schedule(async () => 'sent')).rejects.toBeInstanceOf(NotSent);
    await limiter.stop();
    await last;
  });

  test('requests of an earlier run count if Redis has no state', async () => {
    const redis = await redisServer();
    const history = {
      load: () => [500, 100].map((age) => Date.now() - age),
      limit: undefined,
      pauseMs: 0,
      send: () => () => undefined,
      limitIs: () => undefined,
      pause: () => undefined,
    };
    const begunAt = systemClock.monotonic();
    const { limiter } = await join(redis, { rate: { requests: 2, seconds: 1 }, history });
    const after = await limiter.schedule(async () => systemClock.monotonic() - begunAt);
    expect(after).toBeGreaterThanOrEqual(500);
  });
});

/** The window of one process, which allows so many requests in so many milliseconds. */
async function openWindow(redis: RedisServer, requests: number, windowMs: number): Promise<RedisWindow> {
  const window = await RedisWindow.open({
    redis: new Secret(redis.url),
    baseUrl: 'https://api.example.test',
    apiKey: new Secret(KEY),
    windowMs,
    timeoutSeconds: 0.7,
    clock: systemClock,
    earlierAges: [],
    notify: () => undefined,
  });
  onTestFinished(() => window.stop());
  window.allow({ requests, windowMs, distanceMs: 0 });
  return window;
}

test.skipIf(!hasRedis)('a process with a shorter window does not discard what a longer one still counts', async () => {
  const redis = await redisServer();
  const [short, long] = [await openWindow(redis, 1, 100), await openWindow(redis, 1, 30_000)];
  const { tokens } = await long.take();
  long.giveBack(tokens[0]!, true);
  await sleep(150);
  expect(await short.take()).toMatchObject({ tokens: [expect.any(String)] });
  long.allow({ requests: 2, windowMs: 30_000, distanceMs: 0 });
  expect(await long.take()).toMatchObject({ tokens: [] });
  expect(long.waiting()!.nextInMs).toBeGreaterThan(20_000);
});

describe.skipIf(!hasRedis)('a process that dies', () => {
  test('leaks no tokens: they are returned after timeout plus window', async () => {
    const redis = await redisServer();
    const dying = await openWindow(redis, 3, 300);
    for (let nth = 0; nth < 3; nth += 1) expect(await dying.take()).toMatchObject({ tokens: [expect.any(String)] });
    await dying.stop();
    const living = await openWindow(redis, 3, 300);
    const askedAt = systemClock.monotonic();
    expect(await living.take()).toMatchObject({ tokens: [] });
    for (let nth = 0; nth < 3; nth += 1) {
      await expect.poll(() => living.take(), SOON).toMatchObject({ tokens: [expect.any(String)] });
      expect(systemClock.monotonic() - askedAt).toBeGreaterThanOrEqual(600);
    }
  });
});

describe.skipIf(!hasRedis)('a Redis that goes away', { timeout: 60_000 }, () => {
  test('pauses sending and reports it once; the limit still applies when Redis returns without its state', async () => {
    const redis = await redisServer();
    const members = [await join(redis), await join(redis)];
    const service = new SlidingWindow(20, 1_000);
    const sending = Promise.all(members.map((member) => send(member, service, 60)));
    await sleep(1_200);
    await redis.kill();
    await expect.poll(() => members.map(({ limiter }) => limiter.waiting()?.reason), SOON).toEqual(['redis', 'redis']);
    const sent = service.acceptedBy.get('ours');
    await sleep(1_100);
    expect(service.acceptedBy.get('ours')).toBe(sent);
    await redis.start();
    await sending;
    expect(refusedBy(service)).toBe(0);
    expect(service.acceptedBy.get('ours')).toBe(120);
    for (const { said } of members) {
      expect(said.filter((message) => message.includes('cannot be reached'))).toHaveLength(1);
      expect(said.filter((message) => message.includes('is reachable again'))).toHaveLength(1);
      expect(said.filter((message) => message.includes('has lost its record'))).toHaveLength(1);
    }
  });

  test('a flushed Redis is detected too', async () => {
    const redis = await redisServer();
    const member = await join(redis);
    const service = new SlidingWindow(20, 1_000);
    await send(member, service, 15);
    const client = new Redis(redis.url);
    await client.flushall();
    client.disconnect();
    await send(member, service, 15);
    expect(refusedBy(service)).toBe(0);
    expect(member.said).toHaveLength(1);
  });
});

describe('at the start', () => {
  test('an unreachable Redis is an error', async () => {
    const away = { url: 'redis://:not-to-be-shown@127.0.0.1:1' } as RedisServer;
    const refusal = await join(away).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(UserError);
    expect((refusal as UserError).exitCode).toBe(2);
    expect((refusal as UserError).message).toContain('ECONNREFUSED');
    expect(JSON.stringify([(refusal as UserError).message, (refusal as UserError).cause])).not.toContain('not-to-be');
  });

  test.skipIf(!hasRedis)('a wrong password is an error, and the password is not shown', async () => {
    const redis = await redisServer({ password: randomUUID() });
    const wrong = { ...redis, url: redis.url.replace(/:[^:@]*@/, ':not-to-be-shown@') };
    const refusal = await join(wrong).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(UserError);
    expect((refusal as UserError).message).toContain('WRONGPASS');
    expect((refusal as UserError).message).not.toContain('not-to-be');
    expect((await join(redis)).said).toEqual([]);
  });
});

test.skipIf(!hasRedis)('Redis contains neither the API key nor the base URL', async () => {
  const redis = await redisServer();
  const member = await join(redis);
  await send(member, new SlidingWindow(20, 1_000), 3);
  const client = new Redis(redis.url);
  onTestFinished(() => client.disconnect());
  const keys = await client.keys('*');
  expect(keys).toHaveLength(2);
  const tokens = await client.zrange(
    keys.find((key) => key.endsWith(':tokens'))!,
    '0',
    '-1',
  );
  const state = await client.hgetall(keys.find((key) => key.endsWith(':state'))!);
  expect(tokens).toHaveLength(3);
  expect(JSON.stringify([keys, tokens, state])).not.toMatch(/key-kept-secret|example\.test/);
  expect(await client.pttl(keys[0]!)).toBeGreaterThan(0);
});
