// Lost without it: a rate could exceed the limit of the service.
import { describe, expect, it } from 'vitest';
import { allowed, estimateSeconds, within } from '../src/rate.ts';

const USUAL = { requests: 100, seconds: 60 };

describe('a rate above the limit of the service', () => {
  it('has that limit, in the published window', () => {
    expect(within(100, { requests: 10, seconds: 1 })).toEqual(USUAL);
    expect(within(100, { requests: 10_000, seconds: 1 })).toEqual(USUAL);
    expect(within(100, { requests: 500, seconds: 3_600 })).toEqual({ requests: 100, seconds: 3_600 });
    expect(within(50, { requests: 200, seconds: 3_600 })).toEqual({ requests: 50, seconds: 3_600 });
  });

  it('is the only one that changes', () => {
    expect(within(100, { requests: 1, seconds: 1 })).toEqual({ requests: 1, seconds: 1 });
    expect(within(40, { requests: 40, seconds: 4 })).toEqual({ requests: 40, seconds: 4 });
    expect(within(undefined, USUAL)).toBe(USUAL);
  });

  it.each([
    [600, USUAL, { requests: 600, seconds: 60 }],
    [100, USUAL, undefined],
    [100, { requests: 10, seconds: 1 }, undefined],
    [undefined, USUAL, undefined],
  ])('is proposed where the service allows more: %j', (limit, rate, more) => {
    expect(allowed(limit, rate)).toEqual(more);
  });
});

it.each([
  [0, 0],
  [100, 0],
  [101, 60],
  [200, 60],
  [250, 120],
  [1_000, 540],
  [6_100, 3_600],
])('%i events go in whole windows: at 100 per 60 s in %i s', (events, seconds) => {
  expect(estimateSeconds(events, { requests: 100, seconds: 60 })).toBe(seconds);
});
