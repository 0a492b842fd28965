import { describe, expect, it } from 'vitest';
import { namedField } from '../../src/send/refusals.ts';

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
