import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LookupValues, SEVERAL, type LookedUp } from '../../src/mapping/lookup-values.ts';

const value = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ minLength: 0, maxLength: 3 }),
  fc.constant('x'.repeat((1 << 20) - 3)),
  fc.constantFrom<LookedUp>(undefined, SEVERAL, 5, true, ''),
);

it('gives back what was last set for a text, like a Map', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), value), { maxLength: 40 }), (entries) => {
      const values = new LookupValues();
      const map = new Map<string, LookedUp>();
      for (const [text, given] of entries) {
        values.set(text, given);
        map.set(text, given);
      }
      for (const [text] of [...entries, ['absent' + String(entries.length)] as const]) {
        expect(values.has(text)).toBe(map.has(text));
        expect(values.get(text)).toBe(map.get(text));
      }
    }),
    { numRuns: 50 },
  );
});

it('takes an empty text where a chunk has just been filled', () => {
  const values = new LookupValues();
  values.set('fills it', 'x'.repeat(1 << 20));
  values.set('comes next', '');
  expect(values.get('comes next')).toBe('');
  expect(values.get('fills it')).toHaveLength(1 << 20);
});
