/**
 * Simulates clients of a strict sliding window. Time comes from timers that the caller has faked (setTimeout, Date), so
 * that ten minutes take seconds; nothing here measures real time.
 */
import Bottleneck from 'bottleneck';
import PQueue from 'p-queue';
import type { Clock } from '../../src/clock.ts';
import { Limiter } from '../../src/service/limiter.ts';
import { readRetryAfter } from '../../src/service/reply.ts';
import { SlidingWindow } from './window.ts';

export interface Scenario {
  readonly limit: number;
  readonly windowMs: number;
  readonly requests: number;
  readonly concurrency: number;
  /** Round-trip time, in milliseconds. */
  readonly latency: readonly [least: number, most: number];
  readonly countsRefused?: boolean;
  /** Requests per window that another client makes, at regular intervals. */
  readonly foreign?: number;
  /** How many windows after our start it begins; by default, it was active before. */
  readonly foreignAfter?: number;
}

export interface Measured {
  /** The minimum time that a strict window allows for these requests, divided by the time taken. */
  readonly utilisation: number;
  readonly refused: number;
  readonly accepted: number;
  readonly foreignRefused: number;
  readonly minutes: number;
}

export const STRATEGIES = ['limiter', 'bottleneck minTime', 'bottleneck refresh', 'p-queue interval'] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** A clock that reads the faked Date. */
export const fakedClock: Clock = {
  monotonic: () => Date.now(),
  wall: () => Date.now(),
  uptime: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (ms <= 0 || signal?.aborted) return resolve();
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, Math.ceil(ms));
      signal?.addEventListener('abort', end, { once: true });
    }),
  every: (ms, tick) => {
    const interval = setInterval(tick, ms);
    return () => clearInterval(interval);
  },
};

type Send = () => Promise<number>;

/** Sends all requests, retrying refused ones, and resolves when the last one was accepted. */
export async function simulate(strategy: Strategy, scenario: Scenario): Promise<Measured> {
  const { limit, windowMs, requests, foreign = 0, countsRefused = false } = scenario;
  const window = new SlidingWindow(limit, windowMs, { countsRefused });
  const random = generator();
  const over = new AbortController();
  if (foreign > 0) {
    const { foreignAfter = -1 } = scenario;
    void fakedClock
      .sleep(foreignAfter * windowMs, over.signal)
      .then(() => beForeign(window, windowMs / foreign, over.signal));
    await fakedClock.sleep(-foreignAfter * windowMs);
  }
  const startedAt = Date.now();
  const wire = async (): Promise<{ status: number; headers: Record<string, string>; sentAt: number }> => {
    const [least, most] = scenario.latency;
    const latency = least + random() * (most - least);
    const sentAt = Date.now();
    const there = random() * latency;
    await fakedClock.sleep(there);
    const answer = window.call(Date.now(), 'own');
    await fakedClock.sleep(latency - there);
    return { ...answer, sentAt };
  };
  const { send, stop } = SENDERS[strategy](scenario, wire);
  let left = requests;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      while ((await send()) === 429);
    }
  };
  // More workers than requests allowed in flight: the strategy decides which one continues.
  await Promise.all(Array.from({ length: scenario.concurrency * 2 }, lane));
  const took = Date.now() - startedAt;
  over.abort();
  await stop();
  const least = leastTime(scenario);
  return {
    utilisation: least / took,
    refused: window.refusedBy.get('own') ?? 0,
    accepted: window.acceptedBy.get('own') ?? 0,
    foreignRefused: window.refusedBy.get('foreign') ?? 0,
    minutes: took / 60_000,
  };
}

/** The earliest time by which a strict window can have accepted this many requests, minus the other client's share. */
export function leastTime({ limit, windowMs, requests, foreign = 0, foreignAfter = 0 }: Scenario): number {
  const before = Math.min(requests, limit * foreignAfter);
  const windows =
    before === requests ? (requests - 1) / limit : foreignAfter + (requests - 1 - before) / (limit - foreign);
  return Math.floor(windows) * windowMs;
}

type Wire = () => Promise<{ status: number; headers: Record<string, string>; sentAt: number }>;
type Sender = (scenario: Scenario, wire: Wire) => { send: Send; stop: () => void | Promise<void> };

const nothing = (): void => undefined;

export const SENDERS: Readonly<Record<Strategy, Sender>> = {
  limiter({ limit, windowMs, concurrency }, wire) {
    const limiter = new Limiter({
      rate: { requests: limit, seconds: windowMs / 1000 },

      concurrency,
      clock: fakedClock,
    });
    const send = (): Promise<number> =>
      limiter.schedule(async () => {
        const { status, headers, sentAt } = await wire();
        limiter.observe(status, headers, sentAt);
        if (status === 429) limiter.refused(readRetryAfter(headers, Date.now()), sentAt);
        return status;
      });
    return { send, stop: () => limiter.stop() };
  },
  'bottleneck minTime'({ limit, windowMs, concurrency }, wire) {
    const bottleneck = new Bottleneck({ minTime: windowMs / limit, maxConcurrent: concurrency });
    return { send: () => bottleneck.schedule(() => obeying(wire)), stop: nothing };
  },
  'bottleneck refresh'({ limit, windowMs, concurrency }, wire) {
    const bottleneck = new Bottleneck({
      reservoir: limit,
      reservoirRefreshAmount: limit,
      reservoirRefreshInterval: windowMs,
      maxConcurrent: concurrency,
    });
    return { send: () => bottleneck.schedule(() => obeying(wire)), stop: () => void bottleneck.disconnect() };
  },
  'p-queue interval'({ limit, windowMs, concurrency }, wire) {
    const queue = new PQueue({ concurrency, interval: windowMs, intervalCap: limit, carryoverIntervalCount: true });
    return { send: () => queue.add(() => obeying(wire)), stop: () => queue.clear() };
  },
};

/** The simplest strategy: the refused request waits, the others continue. */
async function obeying(wire: Wire): Promise<number> {
  const { status, headers } = await wire();
  if (status === 429) await fakedClock.sleep(Number(headers['retry-after']) * 1000);
  return status;
}

/** Waits for nothing but its own interval. */
async function beForeign(window: SlidingWindow, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    window.call(Date.now(), 'foreign');
    await fakedClock.sleep(everyMs, signal);
  }
}

/** The same random numbers every time (Park-Miller generator). */
function generator(): () => number {
  let seed = 1_234_567;
  return () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
}
