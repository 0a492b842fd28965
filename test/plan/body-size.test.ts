// Lost without it: a body could be larger than the service takes.
import { expect, it } from 'vitest';
import { oversized } from '../../src/plan/rows/body-size.ts';
import { envelope } from '../../src/service/envelope.ts';

const ID = '0d1f0f5e-9a52-5a58-8b0e-3c4ac6c6a0b1';

it.each([undefined, '2024-01-01T00:00:00.000Z'])(
  'an event is as large as the body that is sent (at %s)',
  (occurredAt) => {
    const event = { type: 'comment/created', occurred_at: occurredAt } as const;
    const bodyOf = (text: string): string =>
      envelope({ content: JSON.stringify({ content: text }), occurredAt }, ID, event.type);
    const room = 10_000_000 - Buffer.byteLength(bodyOf(''));
    const largest = 'é'.repeat(10) + 'x'.repeat(room - 20);
    expect(Buffer.byteLength(bodyOf(largest))).toBe(10_000_000);
    expect(oversized(JSON.stringify({ content: largest }), event)).toEqual([]);
    const [issue] = oversized(JSON.stringify({ content: `${largest}x` }), event);
    expect(issue).toMatchObject({ code: 'body_too_large' });
    expect(issue!.message).toContain('10,000,001');
  },
);
