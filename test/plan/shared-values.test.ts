import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SharedValues } from '../../src/plan/shared-values.ts';

/** What a plain Map of all values finds. */
function expected(values: readonly string[]): { count: number; ordinal: number | undefined } {
  const seen = new Set<string>();
  const again = values.flatMap((value, ordinal) => {
    if (seen.has(value)) return [ordinal];
    seen.add(value);
    return [];
  });
  return { count: again.length, ordinal: again[0] };
}

it('counts the leads that share a value with an earlier lead, and names the first of them', () => {
  const value = fc.oneof(
    fc.integer({ min: 0, max: 20 }).map((id) => `p${id}@example.test`),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(value, { maxLength: 60 }), (values) => {
      const shared = new SharedValues();
      for (const [ordinal, each] of values.entries()) shared.add(each, ordinal);
      expect(shared.count()).toEqual(expected(values));
    }),
  );
});

it('tells 200,000 similar values apart', () => {
  const shared = new SharedValues();
  for (let id = 0; id < 200_000; id += 1) shared.add(`user${id}@example.test`, id);
  expect(shared.count()).toEqual({ count: 0, ordinal: undefined });
  shared.add('user199999@example.test', 200_000);
  expect(shared.count()).toEqual({ count: 1, ordinal: 200_000 });
});
