import { describe, expect, it } from 'vitest';
import { requestsLeft, within } from '../src/rate.ts';
import { estimateSeconds } from '../src/report/figures/summarise.ts';

const USUAL = { requests: 100, seconds: 60 };

describe('the time that events take', () => {
  it('is none for the first full window, and counts in what is reserved', () => {
    expect(estimateSeconds(100, USUAL, 0)).toBe(0);
    expect(estimateSeconds(6_100, USUAL, 0)).toBe(3_600);
    expect(estimateSeconds(90, USUAL, 10)).toBe(0);
    expect(estimateSeconds(90 + 9_000, USUAL, 10)).toBe(6_000);
  });

  it('is that of one request per window where all are reserved', () => {
    expect(requestsLeft(USUAL, { withheld: 100 })).toBe(1);
    expect(estimateSeconds(6, USUAL, 100)).toBe(300);
  });
});

describe('a rate above the limit of the service', () => {
  it('is estimated by that limit, in the published window', () => {
    expect(within(100, { requests: 10_000, seconds: 1 })).toEqual(USUAL);
    expect(within(100, { requests: 500, seconds: 3_600 })).toEqual({ requests: 100, seconds: 3_600 });
    expect(within(50, { requests: 200, seconds: 3_600 })).toEqual({ requests: 50, seconds: 3_600 });
  });

  it('is the only one that changes', () => {
    expect(within(40, { requests: 40, seconds: 4 })).toEqual({ requests: 40, seconds: 4 });
    expect(within(undefined, USUAL)).toBe(USUAL);
  });
});

it.each([
  [0, 0, 0],
  [100, 0, 0],
  [101, 0, 60],
  [200, 0, 60],
  [250, 0, 120],
  [1_000, 0, 540],
  [250, 50, 240],
])('%i events go in whole windows: at 100 per 60 s less %i reserved in %i s', (events, reserve, seconds) => {
  expect(estimateSeconds(events, { requests: 100, seconds: 60 }, reserve)).toBe(seconds);
});
