// Lost without it: a value in another form could count as an edit, or a wrong one as equal.
import { describe, expect, it } from 'vitest';
import { likeness } from '../../src/plan/account/fields.ts';
import { CHECKED, comparedFields } from '../../src/kinds/index.ts';
import type { Entity } from '../../src/model.ts';

function like(entity: Entity, name: string, expected: string, actual: unknown): string {
  return likeness(
    comparedFields(entity).find((field) => field.name === name)!,
    expected,
    actual,
    'IT',
  );
}

describe('a value read back', () => {
  it.each([
    ['lead', 'full_name', 'Ada Lovelace', 'Ada Lovelace', 'same'],
    ['lead', 'full_name', 'Ada  Lovelace', 'ada lovelace ', 'normalised'],
    ['lead', 'full_name', 'Zoe\u0301', 'Zoé', 'normalised'],
    ['lead', 'full_name', 'Ada Lovelace', 'Ada Byron', 'different'],
    ['lead', 'full_name', 'Ada Lovelace', null, 'different'],
    ['lead', 'full_name', 'Ada Lovelace', undefined, 'not_comparable'],
    ['lead', 'email', 'Ada@example.test', 'ada@example.test', 'normalised'],
    ['lead', 'email', 'ada@example.test', 'ada@example.com', 'different'],
    ['lead', 'phone_number', '+390669821000', '+39 06 6982 1000', 'normalised'],
    ['lead', 'phone_number', '+390669821000', '+390669821001', 'different'],
    ['lead', 'phone_number', '+390669821000', '06 6982 1000', 'normalised'],
    ['lead', 'email', 'ada@bücher.example', 'ada@xn--bcher-kva.example', 'normalised'],
    ['lead', 'full_name', 'Rossi & C.', 'Rossi &amp; C.', 'other_form'],
    ['lead', 'full_name', 'Rossi & C.', ['Rossi & C.', 'Bianchi'], 'other_form'],
    ['deal', 'amount', '980.5', 980.5, 'same'],
    ['deal', 'amount', '980.5', '980.50', 'same'],
    ['deal', 'amount', '5.10', 5.1, 'same'],
    ['deal', 'amount', '980.505', 980.51, 'normalised'],
    ['deal', 'amount', '980.5', 9805, 'different'],
    ['deal', 'amount', '0', '', 'different'],
    ['deal', 'amount', '0', null, 'different'],
    ['deal', 'amount', '980.5', '980,50', 'other_form'],
    ['deal', 'amount', '980.5', 98050, 'other_form'],
    ['deal', 'amount', '980.5', { value: '980.50', currency: 'EUR' }, 'normalised'],
    ['deal', 'currency', 'EUR', 'eur', 'normalised'],
    ['deal', 'stage_id', 'AB-1', 'ab-1', 'same'],
    ['deal', 'stage_id', 'ab-1', 'ab-2', 'different'],
    ['deal', 'lead_external_id', 'ab-1', { id: 'ab-1' }, 'other_form'],
    ['deal', 'lead_external_id', 'ab-1', ['ab-1'], 'normalised'],
  ] as const)('%s %s: sent %j, shown %j: %s', (entity, name, expected, actual, verdict) => {
    expect(like(entity, name, expected, actual)).toBe(verdict);
  });

  it('decides no update if no documented answer has the field; `verify` looks for it', () => {
    const silent = CHECKED.flatMap(comparedFields).filter(({ shown }) => shown === undefined);
    expect(silent.map(({ name }) => name)).toEqual([
      ...['custom_params', 'owner_id', 'custom_fields'],
      ...['content', 'author_name', 'lead_external_id', 'deal_external_id'],
    ]);
  });
});
