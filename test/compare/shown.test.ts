// Lost without it: a form that nobody understands could be taken for an edit, or for agreement.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLikelyForm, shown, type Shown } from '../../src/plan/account/forms.ts';
import type { JsonValue } from '../../src/json.ts';
import { normalForm } from '../../src/store/field-hashes.ts';

/** `sent`: the values that the field may have; null is none. */
function show(field: string, raw: unknown, sent: readonly (JsonValue | null)[], wanted?: JsonValue): Shown {
  const form = (value: JsonValue | null): string => (value === null ? 'none' : `= ${normalForm(field, value)}`);
  return shown(field, raw, {
    mayBe: (value) => [...sent, ...(wanted === undefined ? [] : [wanted])].some((each) => form(each) === form(value)),
    wanted,
    region: 'IT',
  });
}

describe('no value, in any form, is nobody’s edit of a field that was never set', () => {
  it.each([
    ['email', null],
    ['email', ''],
    ['full_name', ' '],
    ['title', '\u00a0\t'],
    ['phone_number', []],
    ['email', ['']],
    ['stage_id', [null]],
    ['amount', 0],
    ['amount', '0'],
    ['amount', '0.00'],
    ['amount', { value: 0 }],
    ['amount', { value: null, currency: 'EUR' }],
    ['amount', ''],
  ])('%s: %j', (field, raw) => {
    expect(show(field, raw, [null])).toEqual({ kind: 'empty' });
  });
});

describe('a value that was sent is recognised', () => {
  it.each([
    ['amount', 980.5, [980.5], 980.5],
    ['amount', '980.50', [980.5], 980.5],
    ['amount', { value: '980.5', currency: 'EUR' }, [980.5], 980.5],
    ['amount', 0, [0], 0],
    ['amount', '0.00', [null, 0], 0],
    ['phone_number', '+39 06 6982 1000', ['+390669821000'], '+39 06 6982 1000'],
    ['phone_number', '06 6982 1000', ['+390669821000'], '+390669821000'],
    ['phone_number', '0039 06 6982 1000', ['+390669821000'], '+390669821000'],
    ['phone_number', '390669821000', ['+390669821000'], '390669821000'],
    ['phone_number', ['+390669821000'], ['+390669821000'], '+390669821000'],
    ['email', 'ADA@Example.test', ['ada@example.test'], 'ADA@Example.test'],
    ['email', ['ada@example.test'], ['ada@example.test'], 'ada@example.test'],
    ['email', 'ada@xn--bcher-kva.example', ['ada@bücher.example'], 'ada@bücher.example'],
    ['email', 'ada@bücher.example', ['ada@xn--bcher-kva.example'], 'ada@xn--bcher-kva.example'],
    ['full_name', ' Ada  Lovelace', ['Ada Lovelace'], ' Ada  Lovelace'],
    ['currency', 'eur', ['EUR'], 'eur'],
    ['stage_id', 'AB-1', ['ab-1'], 'AB-1'],
  ])('%s: %j', (field, raw, sent, value) => {
    expect(show(field, raw, sent)).toEqual({ kind: 'value', value });
  });
});

describe('a form that cannot be interpreted is neither an edit nor an agreement', () => {
  it.each([
    ['amount', 98050, [980.5], undefined, '98050'],
    ['amount', 981, [980.5], undefined, '981'],
    ['amount', 980, [980.99], undefined, '980'],
    ['amount', 980.51, [980.505], undefined, '980.51'],
    ['amount', '980,50', [980.5], undefined, '980,50'],
    ['amount', { cents: 98050 }, [980.5], undefined, '{"cents":98050}'],
    ['amount', [980.5, 10], [980.5], undefined, '[980.5,10]'],
    ['amount', true, [1], undefined, 'true'],
    ['phone_number', '020 7946 0018', ['+442079460018'], undefined, '020 7946 0018'],
    ['phone_number', 'unknown', ['+442079460018'], undefined, 'unknown'],
    [
      'email',
      ['ada@example.test', 'b@example.test'],
      ['ada@example.test'],
      undefined,
      '["ada@example.test","b@example.',
    ],
    ['email', { address: 'ada@example.test' }, ['ada@example.test'], undefined, '{"address":"ada@example.test"}'],
    ['full_name', 'Rossi &amp; C.', ['Rossi & C.'], 'Rossi', 'Rossi &amp; C.'],
    ['title', 'Bj&#246;rn&#x27;s', ["Björn's"], undefined, 'Bj&#246;rn&#x27;s'],
    ['full_name', 'ADA BYRON', ['Ada Byron'], 'Ada Lovelace', 'ADA BYRON'],
    ['title', 'A renewal for', ['A renewal for one year'], 'A renewal for two years', 'A renewal for'],
    ['title', 'A renewal for …', ['A renewal for one year'], 'A renewal for two years', 'A renewal for …'],
    ['currency', 'EUR', [null], 'USD', 'EUR'],
    ['currency', '€', ['EUR'], undefined, '€'],
    ['stage_id', { id: 'ab-1' }, ['ab-1'], undefined, '{"id":"ab-1"}'],
  ])('%s: %j', (field, raw, sent, wanted, example) => {
    const found = show(field, raw, sent, wanted);
    expect(found).toEqual({ kind: 'not_comparable', example: expect.stringContaining(example) as string });
  });

  it('and its example is one short line', () => {
    const { example } = show('email', ['a\n\u001b[2J', 'b'.repeat(500)], []) as { example: string };
    expect(example).toMatch(/^[ -~]{1,60}…?$/);
  });
});

describe('an edit stays one', () => {
  it.each([
    ['amount', 1200, [980.5], 1000],
    ['amount', 0, [980.5], 1000],
    ['phone_number', '+39 06 6982 1001', ['+390669821000'], '+390669821002'],
    ['email', 'new@example.test', ['ada@example.test'], 'ada@example.com'],
    ['email', 'new@example.test', ['ada@example.test'], 'Ada.Lovelace@example.test'],
    ['full_name', 'Ada Byron', ['Ada'], 'Ada Lovelace'],
    ['currency', 'USD', ['EUR'], 'GBP'],
    ['stage_id', 'ab-2', ['ab-1'], 'ab-3'],
  ])('%s: %j', (field, raw, sent, wanted) => {
    expect(show(field, raw, sent, wanted)).toEqual({ kind: 'value', value: raw });
  });

  it('where a value was removed in the service', () => {
    expect(show('email', '', ['ada@example.test'], 'new@example.test')).toEqual({ kind: 'empty' });
  });
});

it('what the service shows as it was sent is that value, whatever it is', () => {
  const values = {
    full_name: fc.string({ unit: 'grapheme' }).filter((text) => text.trim() !== ''),
    email: fc.emailAddress(),
    amount: fc.integer({ min: -1e11, max: 1e11 }).map((cents) => cents / 100),
  };
  for (const [field, arbitrary] of Object.entries(values)) {
    fc.assert(
      fc.property(arbitrary as fc.Arbitrary<string | number>, (value) => {
        expect(show(field, value, [value])).toEqual({ kind: 'value', value });
      }),
    );
  }
});

it('never throws, and never agrees with what was not sent, whatever the service shows', () => {
  const fields = ['full_name', 'email', 'phone_number', 'title', 'amount', 'currency', 'stage_id', 'lead_external_id'];
  fc.assert(
    fc.property(fc.constantFrom(...fields), fc.jsonValue(), (field, raw) => {
      const asked: unknown[] = [];
      const found = shown(field, raw, { mayBe: (value) => asked.push(value) < 0, wanted: 'x' });
      expect(['empty', 'value', 'not_comparable']).toContain(found.kind);
      if (found.kind === 'value') expect(asked).toContain(found.value);
    }),
  );
});

it('a field that most records show with values that were never sent is shown in another form', () => {
  expect(isLikelyForm({ read: 100, unexplained: 90 })).toBe(true);
  expect(isLikelyForm({ read: 100, unexplained: 50 })).toBe(false);
  expect(isLikelyForm({ read: 4, unexplained: 4 })).toBe(false);
});
