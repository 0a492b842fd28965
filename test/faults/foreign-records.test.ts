// Lost without it: records of somebody else could keep stale content under faults.
import { expect, it } from 'vitest';
import { useFastClock } from '../clock.ts';
import { mapping, project } from '../e2e/harness.ts';
import { send } from '../sandbox/client.ts';
import type { FaultRule } from '../sandbox/faults.ts';

useFastClock();
const IDS = Array.from({ length: 30 }, (_, index) => String(index + 1));

it.each([
  ['503 before the event counts', [{ kind: 'status', status: 503, when: { delivery: { from: 1, to: 1 } } }]],
  ['a lost connection before the event counts', [{ kind: 'drop', when: { delivery: { from: 1, to: 1 } } }]],
] as [string, FaultRule[]][])(
  'records of somebody else have our content under `if_exists: update` despite %s',
  async (_name, rules) => {
    const { service, summary: run } = await project({
      'people.csv': `id,name\n${IDS.map((id) => `${id},Ours ${id}`).join('\n')}\n`,
      'mapping.yaml': mapping({
        people: 'type: lead/created, if_exists: update, data: { external_id: id, full_name: name }',
      }),
    });
    for (const id of IDS) {
      const answer = await send(service, 'lead/created', { external_id: id, full_name: `Stale ${id}` });
      expect(answer.status).toBe(200);
    }
    const before = service.requests().length;
    service.setFaults({ rules });
    const summary = await run();
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 30 }, outcomes: { updated: 30 } });
    const names = service.state().leads.map(({ externalId, fullName }) => [externalId, fullName]);
    expect(Object.fromEntries(names)).toEqual(Object.fromEntries(IDS.map((id) => [id, `Ours ${id}`])));
    // Once the first was accepted, by its update, the others do not go one by one.
    const sent = service
      .requests()
      .slice(before)
      .filter(({ method }) => method === 'POST');
    const starts = sent.map(({ body }) => (body as { data: { external_id: string } }).data.external_id);
    const [second, third] = ['2', '3'].map((id) => [starts.indexOf(id), starts.lastIndexOf(id)] as const);
    expect(third![0]).toBeLessThan(second![1]);
  },
);
