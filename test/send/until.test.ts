import { expect, it } from 'vitest';
import { momentOf } from '../../src/send/until.ts';

const NOON = Date.parse('2026-07-01T12:00:00Z');

it.each([
  ['06:00 in Rome, seen at noon UTC', { hours: 6, minutes: 0 }, 'Europe/Rome', '2026-07-02T04:00:00.000Z'],
  ['15:00 in Rome', { hours: 15, minutes: 0 }, 'Europe/Rome', '2026-07-01T13:00:00.000Z'],
  ['14:00 in Rome, which it is', { hours: 14, minutes: 0 }, 'Europe/Rome', '2026-07-02T12:00:00.000Z'],
  [
    '06:00 in Auckland, where the next day has begun',
    { hours: 6, minutes: 0 },
    'Pacific/Auckland',
    '2026-07-01T18:00:00.000Z',
  ],
  ['a local time', { local: Date.UTC(2026, 11, 24, 18) }, 'America/New_York', '2026-12-24T23:00:00.000Z'],
  ['an instant, whatever the zone', new Date('2026-07-01T15:00:00Z'), 'Europe/Rome', '2026-07-01T15:00:00.000Z'],
])('%s', (_name, stop, zone, expected) => {
  expect(momentOf(stop, zone, NOON).toISOString()).toBe(expected);
});

it('a time that the change to daylight saving skips is when it would have been', () => {
  const before = Date.parse('2026-03-28T23:00:00Z');
  expect(momentOf({ hours: 2, minutes: 30 }, 'Europe/Rome', before).toISOString()).toBe('2026-03-29T01:30:00.000Z');
});

it('without a zone in the mapping, that of this machine is meant', () => {
  const moment = momentOf({ hours: 6, minutes: 0 }, undefined);
  expect(moment.getHours()).toBe(6);
  expect(moment.getTime()).toBeGreaterThan(Date.now());
});
