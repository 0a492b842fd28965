/**
 * The limiter beside recipes for p-queue and bottleneck, by the real clock and over HTTP: each has a server of its own with a
 * strict window of 100 requests in 60 s, which it keeps on arrival, and answers after 60 to 300 ms. All run at once.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { leastTime, SENDERS, STRATEGIES, type Scenario, type Strategy } from './simulation.ts';
import { SlidingWindow } from './window.ts';

const SCENARIO: Scenario = { limit: 100, windowMs: 60_000, requests: 301, concurrency: 10, latency: [60, 300] };

export interface PeerResult {
  readonly strategy: Strategy;
  /** The minimum time that a strict window allows, divided by the time taken. */
  readonly utilisation: number;
  readonly refused: number;
  readonly seconds: number;
}

export function comparePeers(): Promise<PeerResult[]> {
  return Promise.all(STRATEGIES.map(measure));
}

async function measure(strategy: Strategy): Promise<PeerResult> {
  const { limit, windowMs, requests, concurrency, latency } = SCENARIO;
  const window = new SlidingWindow(limit, windowMs);
  const server = createServer((_request, response) => {
    const { status, headers } = window.call(performance.now(), 'own');
    const [least, most] = latency;
    setTimeout(() => response.writeHead(status, headers).end('{}'), least + Math.random() * (most - least));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dispatcher = new Agent({ connections: 2 * concurrency });
  const wire = async (): Promise<{ status: number; headers: Record<string, string>; sentAt: number }> => {
    const sentAt = Date.now();
    const { statusCode, headers, body } = await request(url, { method: 'POST', dispatcher });
    await body.dump();
    return { status: statusCode, headers: headers as Record<string, string>, sentAt };
  };
  const { send, stop } = SENDERS[strategy](SCENARIO, wire);
  const startedAt = performance.now();
  let left = requests;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      while ((await send()) === 429) await sleep(0);
    }
  };
  await Promise.all(Array.from({ length: 2 * concurrency }, lane));
  const took = performance.now() - startedAt;
  await stop();
  await dispatcher.close();
  server.close();
  const refused = window.refusedBy.get('own') ?? 0;
  return { strategy, utilisation: leastTime(SCENARIO) / took, refused, seconds: took / 1000 };
}
