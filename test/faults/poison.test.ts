// Lost without it: one event that fails could stop all, or an outage reject all.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { summaryOf } from '../e2e/harness.ts';
import type { FaultySandbox } from '../sandbox/faults.ts';
import { useFastClock } from '../clock.ts';
import { bodyOf, expectUndisturbed, ingested, inScene, undisturbed, type Undisturbed } from './scene.ts';

useFastClock();
let calm: Undisturbed;
beforeAll(async () => {
  calm = await undisturbed();
});

/** How often a lead's created event was sent. */
function sends(service: FaultySandbox, externalId: string): number {
  const events = ingested(service).map(bodyOf);
  return events.filter(({ type, data }) => type === 'lead/created' && data.external_id === externalId).length;
}

describe.concurrent('a single event that fails', () => {
  it.each([
    [
      'a 500 is rejected after five attempts',
      { status: 500 },
      5,
      /,lead\/created,10114,[^,]*,send,internal,500,.*,5,[^,]*$/m,
    ],
    ['a page of a firewall is rejected', { status: 403, code: 'waf' }, 2, /,lead\/created,10114,.*waf.*403/],
  ] as const)('%s, blocks only its children, and is sent once it may pass', async (_what, answer, times, listed) => {
    const poison = { kind: 'status', ...answer, when: { event: { external_id: '10114' } } } as const;
    await inScene({ faults: { rules: [poison] } }, async ({ service, cwd, run }) => {
      // Lead 10114 has three updates, a deal with an update, and a note on that deal.
      const first = await run();
      expect(first.exit).toEqual({ code: 1, reason: 'rejected' });
      expect(sends(service, '10114')).toBe(times);
      const { acknowledged, blocked } = calm.summary.events;
      expect(first.events).toMatchObject({ rejected: 1, blocked: blocked + 2, acknowledged: acknowledged - 3 });
      expect(await readFile(join(cwd, '.backfill/faults/errors.csv'), 'utf8')).toMatch(listed);

      if (answer.status === 500) {
        const before = ingested(service).length;
        expect((await run()).events).toEqual(first.events);
        expect(ingested(service).length).toBe(before + times);
      }

      service.setFaults({ rules: [] });
      expectUndisturbed(service, await run(), calm);
    });
  });
});

describe.concurrent('a service that is down', () => {
  it('makes the run wait, and does not count against the events', async () => {
    const outages = [20, 45].map((from) => ({
      kind: 'outage' as const,
      lasts_ms: 1000,
      when: { requests: { from }, times: 1 },
    }));
    await inScene({ faults: { rules: outages } }, async ({ service, run }) => {
      expectUndisturbed(service, await run(), calm);
      // Between the outages, only one event at a time tests whether the outage is over.
      const failed = ingested(service).filter(({ status }) => status === undefined || status >= 500);
      expect(failed.length).toBeLessThanOrEqual(2 * 10);
    });
  });

  it('for longer than --max-outage ends the run with exit 3; a rerun resumes', async () => {
    const down = { kind: 'outage', lasts_ms: 60_000, status: 503, when: { requests: { from: 30 }, times: 1 } } as const;
    await inScene({ faults: { rules: [down] } }, async ({ service, command, run }) => {
      const ended = await command('--max-outage', '3s');
      expect(ended.code, ended.stderr).toBe(3);
      const summary = summaryOf(ended);
      expect(summary.exit).toMatchObject({ code: 3, reason: 'outage' });
      expect(summary.events.rejected).toBe(0);
      expect(ended.stderr).toMatch(/service down since \d\d:\d\d/);
      expect(ended.stderr).toMatch(/Resume[^]* npx crm-backfill run mapping\.yaml/);
      service.setFaults({ rules: [] });
      expectUndisturbed(service, await run(), calm);
    });
  });

  it('for the first event alone lets others show that the service is up: it is rejected', async () => {
    const poison = { kind: 'status' as const, status: 500, when: { event: { external_id: '10100' } } };
    await inScene({ faults: { rules: [poison] } }, async ({ service, run }) => {
      const summary = await run();
      expect(summary.errors_by_code).toMatchObject({ internal: 1 });
      expect(sends(service, '10100')).toBe(5);
    });
  });
});

describe.concurrent('credentials that are refused during a run', () => {
  it.each(['rotate_token', 'rotate_key'] as const)(
    '(%s) end it within seconds; it completes with the new ones',
    async (kind) => {
      const rules = [
        { kind: 'latency' as const, min_ms: 10, max_ms: 40 },
        { kind, when: { requests: { from: 25 }, times: 1 } },
      ];
      await inScene({ faults: { rules } }, async ({ service, command, run }) => {
        const ended = await command();
        expect(ended.code, ended.stderr).toBe(3);
        const summary = summaryOf(ended);
        expect(summary.exit.reason).toBe(kind === 'rotate_token' ? 'webhook_auth_failed' : 'unauthorised');
        expect(summary.events.rejected).toBe(0);
        const refused = service.requests().filter(({ status }) => status === 401 || status === 403);
        // The requests in flight, and one retry of one of them five seconds later.
        expect(refused.length).toBeLessThanOrEqual(11);
        expect(refused.at(-1)!.at - refused[0]!.at).toBeGreaterThan(4_900);
        // Not the pause of an outage, which is a minute.
        expect(refused.at(-1)!.at - refused[0]!.at).toBeLessThan(60_000);
        service.setFaults({ rules: [] });
        expectUndisturbed(service, await run(), calm);
      });
    },
  );
});
