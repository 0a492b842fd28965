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

it('keeps a hundred thousand keys in a few megabytes', () => {
  const before = process.memoryUsage().arrayBuffers;
  const values = new LookupValues();
  for (let id = 0; id < 100_000; id += 1) values.set(`user${id}@example.test`, `00Q${id}`);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
  expect(values.get('user4711@example.test')).toBe('00Q4711');
});
