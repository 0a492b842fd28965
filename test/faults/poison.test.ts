import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { summaryOf } from '../e2e/harness.ts';
import { bodyOf, expectUndisturbed, ingested, inScene, undisturbed, type Undisturbed } from './scene.ts';

let calm: Undisturbed;
beforeAll(async () => {
  calm = await undisturbed();
});

/** How often a lead's created event went out. */
function sends(service: Sandbox, externalId: string): number {
  const events = ingested(service).map(bodyOf);
  return events.filter(({ type, data }) => type === 'lead/created' && data.external_id === externalId).length;
}

describe.concurrent('an event that fails by itself', () => {
  it('is rejected after five attempts, blocks only its children, and is sent once it is fixed', async () => {
    const poison = { kind: 'status', status: 500, when: { event: { external_id: '10114' } } } as const;
    await inScene({ faults: { rules: [poison] } }, async ({ service, cwd, run }) => {
      // Lead 10114 has three updates, a deal with an update, and a note on that deal.
      const first = await run();
      expect(first.exit).toEqual({ code: 1, reason: 'rejected' });
      expect(sends(service, '10114')).toBe(5);
      const { acknowledged, blocked } = calm.summary.events;
      expect(first.events).toMatchObject({ rejected: 1, blocked: blocked + 6, acknowledged: acknowledged - 7 });
      expect(first.errors_by_code).toMatchObject({ internal: 1 });
      const errors = await readFile(join(cwd, '.backfill/faults/errors.ndjson'), 'utf8');
      const line = errors.split('\n').find((text) => text.includes('"internal"'))!;
      expect(JSON.parse(line)).toMatchObject({ kind: 'send', external_id: '10114', http_status: 500, attempts: 5 });

      const before = ingested(service).length;
      const again = await run();
      expect(again.events).toEqual(first.events);
      expect(ingested(service).length).toBe(before + 5);

      service.setFaults({ rules: [] });
      expectUndisturbed(service, await run(), calm);
    });
  });

  it('is sent last by a rerun that has other events to send', async () => {
    const poison = { kind: 'status', status: 500, when: { event: { external_id: '10107' } } } as const;
    await inScene({ faults: { rules: [poison] } }, async ({ service, run }) => {
      // The budget ends the first run soon after the fifth attempt.
      const first = await run({ only: 'lead', maxRequests: '19' });
      expect(first.events).toMatchObject({ rejected: 1 });
      service.setFaults({ rules: [] });
      const before = ingested(service).length;
      const summary = await run();
      const leads = ingested(service)
        .slice(before)
        .map(bodyOf)
        .filter(({ type }) => type === 'lead/created');
      expect(leads.length).toBeGreaterThan(1);
      expect(leads.at(-1)!.data.external_id).toBe('10107');
      expectUndisturbed(service, summary, calm);
    });
  });

  it('whose record the service stored anyway is recognised and not duplicated', async () => {
    const poison = { kind: 'status_after', status: 500, when: { event: { external_id: '10114' } } } as const;
    await inScene({ faults: { rules: [poison] } }, async ({ service, run }) => {
      expect((await run()).events.rejected).toBe(1);
      service.setFaults({ rules: [] });
      expectUndisturbed(service, await run(), calm);
    });
  });
});

describe.concurrent('a service that is down', () => {
  it('is waited out, and does not count against the events', async () => {
    const outages = [20, 45].map((from) => ({
      kind: 'outage' as const,
      lasts_ms: 2000,
      when: { requests: { from }, times: 1 },
    }));
    await inScene({ faults: { rules: outages } }, async ({ service, run }) => {
      expectUndisturbed(service, await run(), calm);
      // Between the outages one event at a time asks whether it is over; no flood.
      const failed = ingested(service).filter(({ status }) => status === undefined || status >= 500);
      expect(failed.length).toBeLessThanOrEqual(2 * 10);
    });
  });

  it('longer than --max-outage ends the run with exit 3; a rerun resumes', async () => {
    const down = { kind: 'outage', lasts_ms: 60_000, status: 503, when: { requests: { from: 30 }, times: 1 } } as const;
    await inScene({ faults: { rules: [down] } }, async ({ service, start, run }) => {
      const ended = await start('--max-outage', '3s').ended;
      expect(ended.code, ended.stderr).toBe(3);
      const summary = summaryOf(ended);
      expect(summary.exit).toEqual({ code: 3, reason: 'outage' });
      expect(summary.events.rejected).toBe(0);
      expect(ended.stderr).toContain('to resume: backfill run mapping.yaml');
      service.setFaults({ rules: [] });
      expectUndisturbed(service, await run(), calm);
    });
  });

  it('with 503 for every event while /health answers is an outage, not seventy rejections', async () => {
    // In the midst of one type: where fewer than three events are left of it, they cannot be told from poisoned ones.
    const rules = [{ kind: 'status' as const, status: 503, when: { requests: { from: 8 } } }];
    await inScene({ faults: { rules } }, async ({ service, run }) => {
      const summary = await run({ maxOutage: '4s' });
      expect(summary.exit).toEqual({ code: 3, reason: 'outage' });
      expect(summary.events.rejected).toBe(0);
      service.setFaults({ rules: [] });
      expectUndisturbed(service, await run(), calm);
    });
  });
});

describe.concurrent('credentials that are refused in mid-run', () => {
  it.each(['rotate_token', 'rotate_key'] as const)(
    '(%s) end it within seconds; the new ones complete it',
    async (kind) => {
      const rules = [
        { kind: 'latency' as const, min_ms: 10, max_ms: 40 },
        { kind, when: { requests: { from: 25 }, times: 1 } },
      ];
      await inScene({ faults: { rules } }, async ({ service, start }) => {
        const ended = await start().ended;
        expect(ended.code, ended.stderr).toBe(3);
        const summary = summaryOf(ended);
        expect(summary.exit.reason).toBe(kind === 'rotate_token' ? 'webhook_auth_failed' : 'unauthorised');
        expect(summary.events.rejected).toBe(0);
        const refused = service.requests().filter(({ status }) => status === 401 || status === 403);
        // Those that were in flight, and one more try of one of them, five seconds later.
        expect(refused.length).toBeLessThanOrEqual(11);
        expect(refused.at(-1)!.at - refused[0]!.at).toBeGreaterThan(4_900);
        expect(refused.at(-1)!.at - refused[0]!.at).toBeLessThan(15_000);
        service.setFaults({ rules: [] });
        expectUndisturbed(service, summaryOf(await start().ended), calm);
      });
    },
  );
});
