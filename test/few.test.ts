import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Few } from '../src/few.ts';

it('holds what a Set holds, in the same order', () => {
  const step = fc.record({ isAdded: fc.boolean(), member: fc.nat(9) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const few = new Few<number>();
      const set = new Set<number>();
      for (const { isAdded, member } of steps) {
        if (!isAdded) few.delete(member);
        else if (!set.has(member)) few.add(member);
        if (isAdded) set.add(member);
        else set.delete(member);
        expect([...few]).toEqual([...set]);
        expect(few.size).toBe(set.size);
        expect(few.first).toBe([...set][0]);
        expect(few.find((each) => each > 4)).toBe([...set].find((each) => each > 4));
      }
    }),
  );
});

it('goes through those of the moment, whatever leaves meanwhile', () => {
  const few = new Few<number>();
  for (const member of [1, 2, 3]) few.add(member);
  const seen: number[] = [];
  for (const member of few) {
    seen.push(member);
    few.delete(member);
  }
  expect(seen).toEqual([1, 2, 3]);
  expect(few.size).toBe(0);
});
