import { onTestFinished } from 'vitest';
import { canonicalJson } from '../../src/json.ts';
import { Deliverer } from '../../src/send/deliver.ts';
import type { Delivered, Delivery } from '../../src/send/delivery.ts';
import { Halt } from '../../src/halt.ts';
import { Secret } from '../../src/redact.ts';
import { createClient, type Client } from '../../src/service/client.ts';
import type { Rate } from '../../src/rate.ts';
import { Limiter } from '../../src/service/limiter.ts';
import { startScripted, type Answer, type Arrived, type ScriptedServer } from '../service/scripted-server.ts';
import { VirtualClock } from '../service/virtual-clock.ts';

export interface Bench {
  readonly server: ScriptedServer;
  readonly client: Client;
  readonly clock: VirtualClock;
  readonly halt: Halt;
  readonly deliverer: Deliverer;
  /** Ids handed to `beforeSend`, in order. */
  readonly announced: string[];
  readonly logged: string[];
  /** What was shown. */
  readonly warned: string[];
  deliver(delivery: Delivery): Promise<Delivered>;
  /** From now on `beforeSend` throws this. */
  failAnnouncing(error: Error): void;
}

export const TOKEN = 'ingest-token-kept-secret';
export const KEY = 'api-key-kept-secret';

/** A deliverer over a real client and a real server that answers as scripted; waiting takes no real time. */
export async function startBench(
  answer: (request: Arrived, nth: number) => Answer,
  options: {
    concurrency?: number;
    maxOutageMs?: number;
    timeoutSeconds?: number;
    isSecure?: boolean;
    rate?: Rate;
  } = {},
): Promise<Bench> {
  const { concurrency = 10, maxOutageMs = 30 * 60_000, timeoutSeconds = 10 } = options;
  const { rate = { requests: 10_000, seconds: 60 } } = options;
  const server = await startScripted(answer);
  const clock = new VirtualClock();
  const halt = new Halt();
  const limiter = new Limiter({ rate, concurrency, clock });
  const client = createClient({
    // The server speaks plain HTTP all the same.
    baseUrl: options.isSecure ? server.baseUrl.replace('http:', 'https:') : server.baseUrl,
    apiKey: new Secret(KEY),
    ingestToken: new Secret(TOKEN),
    timeoutSeconds,
    concurrency,
    limiter,
    userAgent: 'test',
    clock,
  });
  const announced: string[] = [];
  const logged: string[] = [];
  const warned: string[] = [];
  let broken: Error | undefined;
  const deliverer = new Deliverer({
    client,
    limiter,
    halt,
    clock,
    concurrency,
    maxOutageMs,
    log: (event, fields) => logged.push(`${event} ${JSON.stringify(fields ?? {})}`),
    warn: (message) => warned.push(message),
    random: jitter(),
  });
  onTestFinished(async () => {
    halt.request({ code: 'test_over', message: 'the test is over', exitCode: 3 });
    client.dropSockets('aborted');
    deliverer.close();
    await client.close();
    clock.stop();
    await server.close();
  });
  return {
    server,
    client,
    clock,
    halt,
    deliverer,
    announced,
    logged,
    warned,
    deliver: (given) =>
      deliverer.deliver(given, async () => {
        if (broken) throw broken;
        announced.push(given.id);
      }),
    failAnnouncing: (error) => (broken = error),
  };
}

/** The same random numbers in every test (Park and Miller's generator). */
export function jitter(start = 20_260): () => number {
  let seed = start;
  return () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
}

export function delivery(
  id: string,
  {
    type = 'lead/created',
    mayHaveArrivedBefore = false,
    wasRejected = false,
  }: Partial<Pick<Delivery, 'type' | 'mayHaveArrivedBefore' | 'wasRejected'>> = {},
): Delivery {
  return {
    id,
    type,
    externalId: `x-${id}`,
    content: canonicalJson({ external_id: `x-${id}`, full_name: 'Ada' }),
    mayHaveArrivedBefore,
    wasRejected,
    place: 1,
  };
}
