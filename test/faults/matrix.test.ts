// Lost without it: a fault could lose or double a record: each fault of the plan over a small migration.
import { beforeAll, describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/index.ts';
import { useFastClock } from '../clock.ts';
import type { Options } from './in-process.ts';
import { expectUndisturbed, inScene, ingested, undisturbed, type Undisturbed } from './scene.ts';
import type { FaultRule } from '../sandbox/faults.ts';

type When = NonNullable<FaultRule['when']>;

useFastClock();
let calm: Undisturbed;
beforeAll(async () => {
  calm = await undisturbed();
});

/** The fault hits about every seventh event, on its first delivery. */
const SOME: When = { delivery: { from: 1, to: 1 }, probability: 0.15 };

interface Case {
  readonly fault: string;
  readonly rules: FaultRule[];
  readonly service?: SandboxOptions;
  readonly options?: Options;
  /** How often the fault must occur at least; 1 by default. */
  readonly strikes?: number;
  /** Maximum number of 429 answers to events. */
  readonly refusals?: number;
}

const CASES: Case[] = [
  { fault: 'slow answers', rules: [{ kind: 'latency', min_ms: 5, max_ms: 60 }], strikes: 0 },
  { fault: 'connections closed before the event is processed', rules: [{ kind: 'drop', when: SOME }] },
  { fault: 'connections closed after the event is processed', rules: [{ kind: 'drop', committed: true, when: SOME }] },
  { fault: 'connection resets before the event is processed', rules: [{ kind: 'reset', when: SOME }] },
  { fault: 'connection resets after the event is processed', rules: [{ kind: 'reset', committed: true, when: SOME }] },
  { fault: 'status 500', rules: [{ kind: 'status', status: 500, when: SOME }] },
  { fault: 'status 502', rules: [{ kind: 'status', status: 502, when: SOME }] },
  { fault: 'status 503', rules: [{ kind: 'status', status: 503, when: SOME }] },
  { fault: 'status 408 and 425', rules: [408, 425].map((status) => ({ kind: 'status', status, when: SOME })) },
  {
    fault: 'status 500 after the event is processed',
    rules: [{ kind: 'status', committed: true, status: 500, when: SOME }],
  },
  {
    fault: 'status 504 after the event is processed, twice in a row',
    rules: [{ kind: 'status', committed: true, status: 504, when: { delivery: { from: 1, to: 2 }, probability: 0.1 } }],
  },
  {
    fault: 'a burst of 429 answers',
    rules: [{ kind: 'status', status: 429, retry_after_s: 1, when: { requests: { from: 20, to: 23 } } }],
    strikes: 4,
    refusals: 4,
  },
  { fault: 'a page of a proxy instead of a request to the service', rules: [{ kind: 'html', when: SOME }] },
  { fault: 'a page of a proxy instead of the answer', rules: [{ kind: 'html', committed: true, when: SOME }] },
  { fault: 'truncated answers', rules: [{ kind: 'cut_body', when: SOME }] },
  {
    fault: 'no answer at all',
    rules: [{ kind: 'hang', when: { requests: { from: 10 }, times: 3 } }],
    options: { timeout: '1' },
    strikes: 3,
  },
  {
    fault: 'no answer although the event is processed',
    rules: [{ kind: 'hang', committed: true, when: { requests: { from: 30 }, times: 3 } }],
    options: { timeout: '1' },
    strikes: 3,
  },
  { fault: 'redirects', rules: [{ kind: 'redirect', when: SOME }] },
  { fault: 'a 200 that is not an acknowledgement', rules: [{ kind: 'bad_ack', when: SOME }] },
  {
    fault: 'another client with the same key, in bursts',
    rules: [{ kind: 'foreign', requests: 15, when: { requests: { from: 15 }, times: 2 } }],
    service: { rate: { requests: 40, seconds: 2 }, countRefused: true },
    options: { rate: '40/2s' },
    strikes: 2,
    refusals: 12,
  },
  {
    fault: 'another client with the same key, continuously',
    rules: [{ kind: 'foreign', requests: 25, per_second_for_ms: 4_000, when: { requests: { from: 5 }, times: 1 } }],
    service: { rate: { requests: 40, seconds: 2 } },
    options: { rate: '40/2s' },
    refusals: 12,
  },
  {
    fault: 'an outage with refused connections',
    rules: [{ kind: 'outage', lasts_ms: 1500, when: { requests: { from: 25 }, times: 1 } }],
  },
  {
    fault: 'an outage with status 503',
    rules: [{ kind: 'outage', lasts_ms: 1500, status: 503, when: { requests: { from: 40 }, times: 1 } }],
  },
  {
    fault: 'an outage at the first event',
    rules: [{ kind: 'outage', lasts_ms: 1000, when: { requests: { from: 1 }, times: 1 } }],
  },
  { fault: 'a lost first answer', rules: [{ kind: 'drop', committed: true, when: { requests: { from: 1, to: 1 } } }] },
  {
    fault: 'faults while the account is read',
    rules: [
      { kind: 'status', status: 503, when: { path: '/pipelines', times: 1 } },
      { kind: 'drop', committed: true, when: { path: '/platform-users', times: 1 } },
      { kind: 'html', when: { path: '/pipelines', times: 1 } },
    ],
    strikes: 3,
  },
];

/**
 * An event that fails five times while others succeed is rejected, as it should be. So many faults in a row are possible by
 * chance, and which event a fault hits depends on the load of the machine: from its fourth delivery on, an event is spared.
 */
const sometimes = (probability: number): When => ({ delivery: { from: 1, to: 3 }, probability });

/** Some of every fault; the position among the requests and the seed decide which. */
const MIX: FaultRule[] = [
  { kind: 'latency', min_ms: 0, max_ms: 30 },
  { kind: 'drop', when: sometimes(0.03) },
  { kind: 'drop', committed: true, when: sometimes(0.03) },
  { kind: 'reset', when: sometimes(0.02) },
  { kind: 'reset', committed: true, when: sometimes(0.02) },
  { kind: 'status', status: 500, when: sometimes(0.02) },
  { kind: 'status', status: 429, retry_after_s: 1, when: sometimes(0.01) },
  { kind: 'status', committed: true, status: 502, when: sometimes(0.02) },
  { kind: 'html', committed: true, when: sometimes(0.02) },
  { kind: 'cut_body', when: sometimes(0.02) },
  { kind: 'redirect', when: sometimes(0.01) },
  { kind: 'bad_ack', when: sometimes(0.02) },
  { kind: 'hang', committed: true, when: { times: 1, requests: { from: 30 } } },
  { kind: 'outage', lasts_ms: 800, when: { times: 1, requests: { from: 50 } } },
];

describe.concurrent('a migration ends in the same state as without faults after', () => {
  it.each(CASES)('$fault', async ({ rules, service: options, options: more, strikes = 1, refusals = 0 }) => {
    await inScene({ ...options, faults: { seed: 3, rules } }, async ({ service, run }) => {
      const summary = await run(more);
      expectUndisturbed(service, summary, calm);
      const requests = service.requests();
      const kinds = new Set(rules.map(({ kind }) => kind));
      expect(requests.filter(({ fault }) => kinds.has(fault as FaultRule['kind'])).length).toBeGreaterThanOrEqual(
        strikes,
      );
      expect(ingested(service).filter(({ status }) => status === 429).length).toBeLessThanOrEqual(refusals);
      const { events_sent: sent } = summary.this_run;
      expect(sent).toBe(calm.summary.this_run.events_sent);
      expect(new Set(ingested(service).map(({ body }) => (body as { id: string }).id)).size).toBe(sent);
    });
  });

  it.each([1, 2, 3])('a mix of all faults (seed %i)', async (seed) => {
    await inScene({ faults: { seed, rules: MIX } }, async ({ service, run }) => {
      const summary = await run({ timeout: '1', concurrency: seed === 3 ? '1' : '6' });
      expectUndisturbed(service, summary, calm);
    });
  });
});
