// Lost without it: the line of progress could be wider than its terminal.
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { paceOf } from '../../../src/rate.ts';
import {
  progressLogLine,
  statusLine,
  waitingText,
  type ProgressSnapshot,
  type TypeProgress,
} from '../../../src/report/print/progress-text.ts';
import { FIXTURES } from './hostile.ts';

vi.stubEnv('TZ', 'UTC');

const NOW = new Date('2026-03-02T10:42:00Z');

const TYPES: TypeProgress[] = [
  { type: 'lead/created', total: 61_234, acknowledged: 61_200, rejected: 0 },
  { type: 'deal/created', total: 5_000, acknowledged: 1_234, rejected: 17 },
  { type: 'comment/created', total: 300, acknowledged: 0, rejected: 0 },
];
const PACE: ProgressSnapshot = { perMinute: 98.4, left: 4_047, secondsLeft: 2_460, waiting: undefined, now: NOW };

const SITUATIONS: Readonly<Record<string, ProgressSnapshot>> = {
  sending: PACE,
  'limit reached': { ...PACE, waiting: { reason: 'rate', nextInMs: 600, forMs: 600 } },
  'rate-limited': { ...PACE, waiting: { reason: 'rate_limited', nextInMs: 12_300, forMs: 1_000 } },
  'service down': {
    ...PACE,
    perMinute: 0,
    secondsLeft: undefined,
    waiting: {
      reason: 'outage',
      nextInMs: 20_000,
      forMs: 240_000,
      givesUpInMs: 1_560_000,
      because: 'the service cannot be reached (ECONNREFUSED)',
    },
  },
  'checking /health': { ...PACE, perMinute: 12, waiting: { reason: 'outage', nextInMs: 0, forMs: 7_200_000 } },
  'credentials refused': { ...PACE, waiting: { reason: 'credentials', nextInMs: 3_000, forMs: 2_000 } },
  'nothing left': { ...PACE, left: 0, secondsLeft: 0 },
  'days to go': { ...PACE, left: 480_000, secondsLeft: 290_000 },
};

describe('progress', () => {
  it('is told in a line that fits every width', async () => {
    const lines = Object.entries(SITUATIONS).flatMap(([name, pace]) => [
      `--- ${name}`,
      ...[40, 60, 80, 120].map((columns) => statusLine(pace, columns - 1)),
    ]);
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(join(FIXTURES, 'progress.txt'));
    for (let columns = 20; columns <= 220; columns += 1) {
      for (const pace of Object.values(SITUATIONS))
        expect(statusLine(pace, columns).length).toBeLessThanOrEqual(columns);
    }
  });

  it('is one line in a log file', () => {
    expect(progressLogLine(TYPES, PACE)).toBe(
      '10:42 lead/created 61,200/61,234, deal/created 1,234/5,000 (17 rejected), comment/created 0/300; ' +
        '98/min, 4,047 left, about 41 min (until 11:23)',
    );
    expect(progressLogLine(TYPES, SITUATIONS['service down']!)).toMatch(
      /; SERVICE DOWN 4 min · next check 20 s · gives up 11:08 · ECONNREFUSED$/,
    );
    expect(progressLogLine(TYPES, SITUATIONS['limit reached']!)).not.toContain('limit');
  });

  it('shows tenths of a second only below ten seconds', () => {
    expect(waitingText({ reason: 'rate', nextInMs: 640, forMs: 0 }, NOW)).toBe('limit reached, next in 0.6 s');
    expect(waitingText({ reason: 'retry', nextInMs: 640, forMs: 0 }, NOW)).toBe(
      'waiting to send events again, next in 0.6 s',
    );
    expect(waitingText({ reason: 'intercepted', nextInMs: 640, forMs: 0 }, NOW)).toBe(
      'refused on the way to the webhook, retrying in 0.6 s',
    );
    expect(waitingText({ reason: 'rate', nextInMs: 59_100, forMs: 0 }, NOW)).toBe('limit reached, next in 60 s');
  });
});

describe('the pace', () => {
  const allowed = { requests: 100, seconds: 60 };

  it('is not measured over the burst of the first window', () => {
    expect(paceOf({ settled: 100, ms: 2_000 }, 2_900, allowed)).toEqual({ perMinute: 100, secondsLeft: 1_740 });
  });

  it('is that of the last answers', () => {
    expect(paceOf({ settled: 150, ms: 300_000 }, 500, allowed)).toEqual({ perMinute: 30, secondsLeft: 1_000 });
  });

  it('is never estimated to be faster than the rate', () => {
    expect(paceOf({ settled: 900, ms: 60_000 }, 500, allowed)).toEqual({ perMinute: 900, secondsLeft: 240 });
  });

  it('gives no estimate while nothing is settled', () => {
    expect(paceOf({ settled: 0, ms: 120_000 }, 60, allowed)).toEqual({ perMinute: 0, secondsLeft: undefined });
  });
});
