// Lost without it: real kills under faults could lose or double something.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { CHECKPOINT } from '../../src/store/checkpoint-schema.ts';
import { Database } from '../../src/store/sqlite.ts';
import { summaryOf } from '../e2e/harness.ts';
import { bodyOf, expectUndisturbed, ingested, inScene, undisturbed, type Scene } from '../faults/scene.ts';
import { EVENTS_PER_COPY, multiply } from './copies.ts';
import type { FaultRule } from '../sandbox/faults.ts';

/** SOAK_SEED and SOAK_KILLS repeat a run: the same faults at the same requests, and kills drawn from the same numbers. */
const SEED = Number(process.env.SOAK_SEED ?? Math.floor(Math.random() * 2 ** 31));
const KILLS = Number(process.env.SOAK_KILLS ?? 200);
const CONCURRENCY = 4;
const OPTIONS = ['--concurrency', String(CONCURRENCY), '--timeout', '1'];

/** Maximum number of requests that a run makes before it is killed, and enough copies of the events for all runs. */
const REQUESTS_PER_KILL = 12;
const COPIES = Math.ceil((KILLS * REQUESTS_PER_KILL) / EVENTS_PER_COPY);

/** Some of every fault, on about every tenth request; short, so that kills happen during them. */
const TROUBLE: readonly FaultRule[] = [
  { kind: 'latency', min_ms: 5, max_ms: 60 },
  { kind: 'drop', when: { probability: 0.01 } },
  { kind: 'drop', committed: true, when: { probability: 0.02 } },
  { kind: 'reset', committed: true, when: { probability: 0.01 } },
  { kind: 'status', status: 503, when: { probability: 0.01 } },
  { kind: 'status', status: 429, retry_after_s: 1, when: { probability: 0.003 } },
  { kind: 'status', committed: true, status: 500, when: { probability: 0.01 } },
  { kind: 'html', committed: true, when: { probability: 0.005 } },
  { kind: 'cut_body', when: { probability: 0.01 } },
  { kind: 'bad_ack', when: { probability: 0.01 } },
  { kind: 'hang', committed: true, when: { probability: 0.005 } },
  { kind: 'outage', lasts_ms: 400, when: { probability: 0.002 } },
  { kind: 'outage', lasts_ms: 400, status: 503, when: { probability: 0.002 } },
];

/** The same numbers for the same seed (Park and Miller's generator). */
function numbersFrom(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}

/**
 * Starts a run and kills it: half of the time at any moment, half of the time shortly after some requests, and always
 * before it has made too many. Returns false if the run ended before.
 */
async function killOne({ service, start }: Scene, random: () => number): Promise<boolean> {
  const before = ingested(service).length;
  const most = 1 + random() * (REQUESTS_PER_KILL - 1);
  const until = performance.now() + (random() < 0.5 ? random() * 1500 : Infinity);
  const moment = random() * 40;
  const run = start(...OPTIONS);
  let hasEnded = false;
  void run.ended.then(() => (hasEnded = true));
  while (!hasEnded && performance.now() < until && ingested(service).length - before < most) await sleep(2);
  await sleep(moment);
  run.child.kill('SIGKILL');
  const { signal } = await run.ended;
  // Time for what the killed process wrote to its sockets to arrive.
  await sleep(30);
  return signal === 'SIGKILL';
}

it(`survives ${KILLS} kills during faults (seed ${SEED})`, async () => {
  process.stderr.write(`to repeat: SOAK_SEED=${SEED} SOAK_KILLS=${KILLS} npm run soak\n`);
  const calm = await undisturbed((cwd) => multiply(cwd, COPIES));
  const random = numbersFrom(SEED);
  await inScene({ faults: { seed: SEED, rules: TROUBLE } }, async (scene) => {
    const { service, cwd, start } = scene;
    await multiply(cwd, COPIES);

    /** The events that each killed run sent, by id. */
    const rounds: Set<string>[] = [];
    while (rounds.length < KILLS) {
      const from = ingested(service).length;
      expect(await killOne(scene, random), 'the run ended before it was killed').toBe(true);
      rounds.push(idsOf(scene, from));
    }
    const from = ingested(service).length;
    const summary = summaryOf(await start(...OPTIONS).ended);
    const last = idsOf(scene, from);

    expectUndisturbed(service, summary, calm);
    const checkpoint = Database.read(join(cwd, '.backfill/faults/checkpoint.db'), CHECKPOINT)!;
    expect(checkpoint.all("select * from request where status = 'rejected'")).toEqual([]);
    checkpoint.close();

    // Of the events that a killed run sent, later runs send at most those again that were in flight.
    const resent = rounds.map((ids, round) => {
      const later = [...rounds.slice(round + 1), last];
      return [...ids].filter((id) => later.some((others) => others.has(id))).length;
    });
    expect(Math.max(...resent)).toBeLessThanOrEqual(CONCURRENCY);

    const requests = ingested(service);
    const struck = requests.filter(({ fault }) => fault !== undefined).length;
    const sum = resent.reduce((total, count) => total + count, 0);
    process.stderr.write(
      `${KILLS} kills, ${rounds.filter(({ size }) => size > 0).length} of them while sending; ` +
        `${calm.summary.events.acknowledged} events in ${requests.length} requests, ${struck} of which had a fault; ` +
        `sent again per kill: ${(sum / KILLS).toFixed(2)} on average, ${Math.max(...resent)} at most\n`,
    );
  });
});

function idsOf({ service }: Scene, from: number): Set<string> {
  return new Set(
    ingested(service)
      .slice(from)
      .map((request) => bodyOf(request).id),
  );
}
