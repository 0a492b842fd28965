// Lost without it: times could be misread.
import { describe, expect, it, vi } from 'vitest';
import { clockText, durationText } from '../../../src/report/words/times.ts';
import { shortPath } from '../../../src/files/paths.ts';

vi.stubEnv('TZ', 'UTC');

describe('times', () => {
  const now = new Date('2026-03-02T10:42:00Z');

  it.each([
    [0, '0 s'],
    [61.6, '62 s'],
    [99.2, '2 min'],
    [3_600, '1 h'],
    [5_990, '1 h 40 min'],
    [86_400 * 2, '2 d'],
    [86_400 * 3.2, '3 d 4 h'],
  ])('%d seconds are shown as %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });

  it.each([
    ['2026-03-02T21:40:00Z', '21:40'],
    ['2026-03-03T03:12:00Z', 'Tue 03:12'],
    ['2026-03-24T03:12:00Z', '24 Mar 03:12'],
    ['2026-02-20T03:12:00Z', '20 Feb 03:12'],
  ])('%s is shown as %s', (time, text) => {
    expect(clockText(new Date(time), now)).toBe(text);
  });
});

it('shows a relative path if it is shorter', () => {
  expect(shortPath(`${process.cwd()}/a/b.csv`)).toBe('a/b.csv');
  expect(shortPath('/x')).toBe('/x');
});
