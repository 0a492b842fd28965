// Lost without it: a value could reach the log in a message, or `--until` end at the wrong moment.
import { describe, expect, it } from 'vitest';
import { namedField } from '../../src/send/refusals.ts';
import { momentOf } from '../../src/send/until.ts';
import { withoutValues } from '../../src/send/without-values.ts';

const DATA = {
  external_id: 'd-1',
  title: 'Renewal',
  amount: 5,
  stage_id: 'ab-1',
  custom_fields: { origin: 'web', in: 'Bari', 'Close reason': 'price' },
};

describe('the field that a message of the service names', () => {
  it.each([
    ['amount must be positive', 'amount'],
    ['data.amount: expected a number', 'amount'],
    ['"stage_id" is not a stage of a pipeline with a title', 'stage_id'],
    ['Invalid value for field `title`', 'title'],
    ['custom_fields.origin is too long', 'custom_fields.origin'],
    ['custom_fields: unknown key "Close reason"', 'custom_fields'],
    ['unknown key "Close reason"', 'custom_fields.Close reason'],
    ['custom_fields is no object', 'custom_fields'],
    ['no such deal in this account', undefined],
    ['amounts or subtitle are wrong', undefined],
    ['currency is missing', undefined],
    ['', undefined],
  ])('%s: %s', (message, field) => {
    expect(namedField(message, DATA)).toBe(field);
  });
});

const data = { external_id: 'L-7', full_name: 'Mario Rossi', phone_number: '+393331234567', amount: 12550.5 };

it.each([
  ['a quoted value', 'invalid value "Anna B." for email', 'invalid value … for email'],
  ['a value in backticks', 'field `x y` unknown', 'field … unknown'],
  ['a value of the event', 'Rossi, MARIO cannot be stored', '…, … cannot be stored'],
  ['an e-mail address', 'duplicate of anna@example.com in lead', 'duplicate of … in lead'],
  ['a phone number in another form', 'number 333 123-4567 is taken', 'number … is taken'],
  [
    'nothing',
    "can't store the record: the account's quota is used up",
    "can't store the record: the account's quota is used up",
  ],
])('cuts %s', (_name, message, clean) => {
  expect(withoutValues(message, data)).toBe(clean);
});

it('cuts a word of a long comment', () => {
  const content = Array.from({ length: 200_000 }, (_, n) => `word${n}`).join(' ');
  expect(withoutValues('refused: word199999 and wordless', { content })).toBe('refused: … and wordless');
});

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
