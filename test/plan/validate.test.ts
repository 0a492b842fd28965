// Lost without it: an event could be sent that the service must refuse.
import { describe, expect, it } from 'vitest';
import { canonicalJson, type JsonObject } from '../../src/json.ts';
import type { EventType } from '../../src/model.ts';
import { validate } from '../../src/survey/prepare.ts';

const UUID = '8f2f6c1e-5b0a-4c0f-9a3e-7d41c6b25e90';

describe('validation', () => {
  it.each<[string, EventType, JsonObject]>([
    [
      'a lead with every field',
      'lead/created',
      {
        external_id: '1',
        full_name: 'A',
        email: 'a@b',
        phone_number: '+390612345678',
        custom_params: { a: 1, b: true },
      },
    ],
    ['a lead with only an id', 'lead/updated', { external_id: '1' }],
    [
      'a deal with every field',
      'deal/created',
      {
        external_id: '1',
        title: 't',
        amount: -0.5,
        currency: 'EUR',
        lead_external_id: '2',
        stage_id: UUID,
        owner_id: UUID,
        custom_fields: {},
      },
    ],
    ['a comment on a lead', 'comment/created', { content: 'x', lead_external_id: '1' }],
    ['an emoji', 'comment/created', { content: '👋', deal_external_id: '1' }],
  ])('accepts %s', (_name, type, data) => {
    expect(validate(type, data, canonicalJson(data))).toEqual([]);
  });

  it.each<[string, EventType, JsonObject, string, string]>([
    ['an undocumented key', 'lead/created', { external_id: '1', fullName: 'A' }, 'invalid_value', ''],
    ['no external id', 'lead/created', {}, 'invalid_value', 'external_id'],
    ['an amount that is text', 'deal/created', { external_id: '1', amount: '5' }, 'invalid_value', 'amount'],
    ['an amount that is infinite', 'deal/created', { external_id: '1', amount: Infinity }, 'invalid_value', 'amount'],
    [
      'a stage id that is not a UUID',
      'deal/created',
      { external_id: '1', stage_id: 'won' },
      'invalid_value',
      'stage_id',
    ],
    ['an id with NUL', 'lead/created', { external_id: 'a\0b' }, 'invalid_value', 'external_id'],
    [
      'the id of a parent with NUL',
      'deal/created',
      { external_id: '1', lead_external_id: '\0' },
      'invalid_value',
      'lead_external_id',
    ],
    ['an empty comment', 'comment/created', { content: '', lead_external_id: '1' }, 'invalid_value', 'content'],
    [
      'half a surrogate pair',
      'lead/created',
      { external_id: '1', custom_params: { a: ['\ud83d'] } },
      'lone_surrogate',
      'custom_params.a.0',
    ],
  ])('rejects %s', (_name, type, data, code, field) => {
    expect(validate(type, data, canonicalJson(data))).toMatchObject([{ severity: 'error', code, field }]);
  });
});
