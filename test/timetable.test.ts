import { describe, expect, it, test } from 'vitest';
import { estimateSeconds } from '../src/summarise.ts';
import { ratesOr } from '../src/options/checks.ts';
import { rateAt, rateText, secondsToSend, within, type Rate } from '../src/timetable.ts';

const HOUR = 3_600;

function rate(timezone: string, ...texts: string[]): Rate {
  return { ...ratesOr({ requests: 100, seconds: 60 }).parse(texts), timezone };
}
const at = (instant: string): number => Date.parse(instant);

const ROME = rate('Europe/Rome', '20/60s@08:00-19:00 mon-fri');
const NEW_YORK = rate('America/New_York', '10/60s@01:30-03:30');
const NIGHT = rate('Europe/Rome', '20/60s', '200/60s@22:00-06:00 fri');

describe('the rate at an instant', () => {
  test.each([
    ['before the hours', ROME, '2026-03-02T07:59:59+01:00', 100],
    ['at their first instant', ROME, '2026-03-02T08:00:00+01:00', 20],
    ['at their last instant', ROME, '2026-03-02T18:59:59.999+01:00', 20],
    ['after them', ROME, '2026-03-02T19:00:00+01:00', 100],
    ['on another day', ROME, '2026-03-01T12:00:00+01:00', 100],
    ['in summer, by the local clock', ROME, '2026-06-01T06:00:00Z', 20],
    ['in winter, by the local clock', ROME, '2026-12-01T06:00:00Z', 100],
    ['on the evening on which hours across midnight begin', NIGHT, '2026-03-06T22:00:00+01:00', 200],
    ['on the morning after it', NIGHT, '2026-03-07T05:59:59+01:00', 200],
    ['when they have ended', NIGHT, '2026-03-07T06:00:00+01:00', 20],
    ['on the evening after it', NIGHT, '2026-03-07T22:00:00+01:00', 20],
    ['before the night is skipped an hour', NEW_YORK, '2026-03-08T01:59:59-05:00', 10],
    ['after the night was skipped an hour', NEW_YORK, '2026-03-08T03:29:59-04:00', 10],
    ['when the short hours have ended', NEW_YORK, '2026-03-08T03:30:00-04:00', 100],
    ['the first time that the clock shows 01:30', NEW_YORK, '2026-11-01T01:30:00-04:00', 10],
    ['the second time that it does', NEW_YORK, '2026-11-01T01:30:00-05:00', 10],
    ['between the two, when the clock is back at 01:00', NEW_YORK, '2026-11-01T01:00:00-05:00', 100],
  ])('%s', (_when, each, instant, expected) => {
    expect(rateAt(each, at(instant))).toMatchObject({ requests: expected, seconds: 60 });
  });

  it('is the lowest of those that hold, and the plain one outside', () => {
    const several = rate('UTC', '50/60s', '200/60s@00:00-24:00 sat,sun', '20/60s@08:00-09:00');
    expect(rateAt(several, at('2026-03-07T08:30:00Z')).requests).toBe(20);
    expect(rateAt(several, at('2026-03-07T23:59:00Z')).requests).toBe(200);
    expect(rateAt(several, at('2026-03-09T00:00:00Z')).requests).toBe(50);
  });

  it('is written with its hours', () => {
    expect(rateText(ROME)).toBe('100 requests per 60 s (20 within 08:00-19:00 mon-fri)');
  });
});

/** Adds up minute by minute. */
function counted(requests: number, each: Rate, from: number): number {
  let minutes = 0;
  for (let left = requests; left > 0; minutes += 1) {
    const { requests: most, seconds } = rateAt(each, from + minutes * 60_000);
    left -= (most * 60) / seconds;
  }
  return minutes * 60;
}

describe('the time that requests take', () => {
  it('is as long as if it was added up minute by minute, on days of 23 and 25 hours too', () => {
    for (const [each, instant] of [
      [ROME, '2026-03-27T16:20:00Z'],
      [ROME, '2026-10-23T02:00:00Z'],
      [NEW_YORK, '2026-03-08T04:59:00Z'],
      [NEW_YORK, '2026-11-01T03:00:00Z'],
      [NIGHT, '2026-03-27T20:00:00Z'],
      [rate('America/New_York', '20/60s@01:30-03:30', '30/60s@22:00-24:00'), '2026-11-01T01:00:00Z'],
      [rate('Australia/Lord_Howe', '10/60s@01:40-02:10', '1/60s@12:00-13:00 tue'), '2026-04-04T10:00:00Z'],
    ] as const) {
      for (const requests of [1_000, 60_000, 300_000]) {
        const expected = counted(requests, each, at(instant));
        expect(secondsToSend(requests, each, at(instant))).toBeGreaterThan(expected - 60.001);
        expect(secondsToSend(requests, each, at(instant))).toBeLessThanOrEqual(expected + 0.001);
      }
    }
  });

  it('counts in what is reserved, and the first full window', () => {
    const tuesday = new Date('2026-03-03T18:00:00+01:00');
    // An hour at 20 a minute, which leaves 10 of 100, then 90 a minute.
    expect(estimateSeconds(20 + 1_200 + 9_000, ROME, 10, tuesday)).toBe(HOUR + 6_000);
    expect(estimateSeconds(15, ROME, 10, tuesday)).toBe(0);
    // An hour at 5 a minute, then as many.
    expect(estimateSeconds(5 + 300 + 500, ROME, 95, tuesday)).toBe(HOUR + 6_000);
  });

  it('is found quickly, however far ahead it is', () => {
    const startedAt = performance.now();
    const seconds = secondsToSend(
      1e9,
      rate('Europe/Rome', '100/60s', '20/60s@08:00-19:00 mon-fri'),
      at('2026-03-02T00:00:00Z'),
    );
    expect(performance.now() - startedAt).toBeLessThan(200);
    // A week has 113 hours at 100 a minute and 55 at 20.
    expect(seconds / ((1e9 / (113 * 6_000 + 55 * 1_200)) * 168 * HOUR)).toBeCloseTo(1, 2);
  });
});

describe('a rate above the limit of the service', () => {
  it('is estimated by that limit, in the published window', () => {
    expect(within(100, { requests: 10_000, seconds: 1 })).toEqual({ requests: 100, seconds: 60 });
    expect(within(100, { requests: 500, seconds: 3_600 })).toEqual({ requests: 100, seconds: 3_600 });
    expect(within(50, ROME)).toMatchObject({ requests: 50, seconds: 60, hours: [{ requests: 20, seconds: 60 }] });
  });

  it('is the only one that changes', () => {
    expect(within(40, { requests: 40, seconds: 4 })).toEqual({ requests: 40, seconds: 4 });
    expect(within(undefined, ROME)).toBe(ROME);
  });
});
