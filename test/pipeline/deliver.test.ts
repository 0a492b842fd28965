import { describe, expect, test } from 'vitest';
import { failed, processed, type Answer } from '../service/scripted-server.ts';
import { delivery, KEY, startBench, TOKEN } from './delivery.ts';

/** Answers in turn; the last one again and again. */
function inTurn(...answers: Answer[]) {
  return (_request: unknown, nth: number): Answer => answers[Math.min(nth, answers.length) - 1]!;
}

describe('what is sent', () => {
  test('one event goes out once, with triggers suppressed in envelope and header, under its own id', async () => {
    const bench = await startBench(() => processed());
    const outcome = await bench.deliver(delivery('e1'));
    expect(outcome).toEqual({ status: 'acknowledged', outcome: 'created', entityId: 'srv-1', attempts: 1 });
    expect(bench.server.arrived).toHaveLength(1);
    const [request] = bench.server.arrived;
    expect(request!.method).toBe('POST');
    expect(request!.url).toBe(`/webhooks/ingest/${TOKEN}`);
    expect(request!.headers['x-api-key']).toBe(KEY);
    expect(request!.headers['x-suppress-triggers']).toBe('true');
    expect(request!.body).toEqual({
      id: 'e1',
      type: 'lead/created',
      suppress_triggers: true,
      data: { external_id: 'x-e1', full_name: 'Ada' },
    });
    expect(bench.deliverer.counters).toEqual({ requests: 1, events_sent: 1, retries: 0, rate_limited: 0 });
  });
});
