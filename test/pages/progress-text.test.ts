import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import {
  progressLines,
  progressLogLine,
  RateMeter,
  waitingText,
  type ProgressSnapshot,
  type TypeProgress,
} from '../../src/pages/progress-text.ts';
import { FIXTURES } from './hostile.ts';

vi.stubEnv('TZ', 'UTC');

const NOW = new Date('2026-03-02T10:42:00Z');
const plain = (_colour: string, text: string): string => text;

const TYPES: TypeProgress[] = [
  { type: 'lead/created', total: 61_234, acknowledged: 61_200, rejected: 0, settled: 61_234 },
  { type: 'deal/created', total: 5_000, acknowledged: 1_234, rejected: 17, settled: 1_251 },
  { type: 'comment/created', total: 300, acknowledged: 0, rejected: 0, settled: 2 },
];
const PACE: ProgressSnapshot = { perMinute: 98.4, left: 4_047, secondsLeft: 2_460, waiting: undefined, now: NOW };

const SITUATIONS: Readonly<Record<string, ProgressSnapshot>> = {
  sending: PACE,
  'window full': { ...PACE, waiting: { reason: 'rate', nextInMs: 600, forMs: 600 } },
  'rate-limited': { ...PACE, waiting: { reason: 'rate_limited', nextInMs: 12_300, forMs: 1_000 } },
  'service down': {
    ...PACE,
    perMinute: 0,
    secondsLeft: undefined,
    waiting: { reason: 'outage', nextInMs: 20_000, forMs: 240_000 },
  },
  'checking /health': { ...PACE, perMinute: 12, waiting: { reason: 'outage', nextInMs: 0, forMs: 7_200_000 } },
  'credentials refused': { ...PACE, waiting: { reason: 'credentials', nextInMs: 3_000, forMs: 2_000 } },
  'nothing left': { ...PACE, left: 0, secondsLeft: 0 },
  'days to go': { ...PACE, left: 480_000, secondsLeft: 290_000 },
};

describe('progress', () => {
  it('fits every width', async () => {
    const screens = [40, 59, 60, 80, 120, 200].flatMap((columns) =>
      Object.entries(SITUATIONS).map(
        ([name, pace]) => `--- ${columns} columns, ${name}\n${progressLines(TYPES, pace, columns, plain).join('\n')}`,
      ),
    );
    await expect(`${screens.join('\n')}\n`).toMatchFileSnapshot(join(FIXTURES, 'progress.txt'));
  });

  it('never wraps', () => {
    for (let columns = 21; columns <= 220; columns += 1) {
      for (const pace of Object.values(SITUATIONS)) {
        for (const line of progressLines(TYPES, pace, columns, plain)) expect(line.length).toBeLessThan(columns);
      }
    }
  });

  it('shows 100 % only when all events are settled', () => {
    const almost = { type: 'lead/created', total: 100_000, acknowledged: 99_999, rejected: 0, settled: 99_999 };
    expect(progressLines([almost], PACE, 80, plain)[0]).toContain('99 %');
    expect(progressLines([{ ...almost, settled: 100_000 }], PACE, 80, plain)[0]).toContain('100 %');
  });

  it('colours rejections and a service that is down', () => {
    const painted = progressLines(TYPES, SITUATIONS['service down']!, 120, (colour, text) => `<${colour}>${text}</>`);
    expect(painted[1]).toMatch(/<red>17 rejected<\/>$/);
    expect(painted.at(-1)).toMatch(/^<yellow>service down for 4 min/);
  });

  it('is one line in a log file', () => {
    expect(progressLogLine(TYPES, PACE)).toBe(
      '10:42 lead/created 61,200/61,234, deal/created 1,234/5,000 (17 rejected), comment/created 0/300; ' +
        '98/min, 4,047 left, about 41 min (until 11:23)',
    );
    expect(progressLogLine(TYPES, SITUATIONS['service down']!)).toMatch(
      /; service down for 4 min, next check in 20 s$/,
    );
    expect(progressLogLine(TYPES, SITUATIONS['window full']!)).not.toContain('window');
  });

  it('shows tenths of a second only below ten seconds', () => {
    expect(waitingText({ reason: 'rate', nextInMs: 640, forMs: 0 })).toBe('window full, next in 0.6 s');
    expect(waitingText({ reason: 'retry', nextInMs: 640, forMs: 0 })).toBe(
      'waiting to send events again, next in 0.6 s',
    );
    expect(waitingText({ reason: 'intercepted', nextInMs: 640, forMs: 0 })).toBe(
      'refused, but not by the webhook, retrying in 0.6 s',
    );
    expect(waitingText({ reason: 'rate', nextInMs: 59_100, forMs: 0 })).toBe('window full, next in 1 min');
  });
});

describe('the rate', () => {
  const allowed = { requests: 100, seconds: 60 };

  it('is not measured over the burst of the first window', () => {
    const meter = new RateMeter(allowed);
    meter.measure(0, 0, 3_000);
    expect(meter.measure(2_000, 100, 2_900)).toEqual({ perMinute: 100, secondsLeft: 1_740 });
  });

  it('is measured over the last five minutes', () => {
    const meter = new RateMeter(allowed);
    for (let second = 0; second <= 600; second += 1) {
      meter.measure(second * 1_000, second < 300 ? second : 300 + (second - 300) / 2, 500);
    }
    const { perMinute, secondsLeft } = meter.measure(600_000, 450, 500);
    expect(perMinute).toBeCloseTo(30, 0);
    expect(secondsLeft).toBeCloseTo(1_000, -1);
  });

  it('is measured anew when other hours begin, and the time left counts in those ahead', () => {
    const hours = [{ requests: 20, seconds: 60, from: 480, until: 1140, days: [1], text: '08:00-19:00 mon' }];
    const meter = new RateMeter({ ...allowed, timezone: 'UTC', hours });
    const eight = Date.parse('2026-03-02T08:00:00Z');
    for (let second = -600; second < 0; second += 1) {
      meter.measure(second * 1_000, (second + 600) * (5 / 3), 30_000, eight + second * 1_000);
    }
    // Until 19:00 at 20 a minute: 13,200 events. The rest at 100 a minute.
    const atEight = meter.measure(0, 1_000, 30_000, eight);
    expect(atEight.secondsLeft).toBe((660 + (30_000 - 13_200) / 100) * 60);
    expect(meter.measure(120_000, 1_020, 29_980, eight + 120_000).perMinute).toBe(10);
  });

  it('is estimated by the rate that holds, also for the hours after it', () => {
    const hours = [{ requests: 30, seconds: 60, from: 480, until: 1140, days: [1], text: '08:00-19:00 mon' }];
    const meter = new RateMeter({ ...allowed, timezone: 'UTC', hours });
    const six = Date.parse('2026-03-02T18:00:00Z');
    meter.measure(0, 0, 7_805, six);
    // At 30 a minute until 19:00, then at 100.
    expect(meter.measure(5_000, 5, 7_800, six)).toEqual({ perMinute: 5, secondsLeft: (60 + 60) * 60 });
    const half = meter.measure(60_000, 15, 900 + 3_000, six);
    expect(half.perMinute).toBe(15);
    // Half as fast as the rate allows: 900 in an hour, the rest at 50 a minute.
    expect(half.secondsLeft).toBe((60 + 60) * 60);
  });

  it('gives no estimate while nothing is settled', () => {
    const meter = new RateMeter(allowed);
    meter.measure(0, 40, 100);
    expect(meter.measure(120_000, 40, 100)).toEqual({ perMinute: 0, secondsLeft: undefined });
  });
});
