import { expect, it } from 'vitest';
import { RecordNumbers } from '../../src/checkpoint/record-numbers.ts';

it('numbers records in the order in which they are first seen, by entity and exact id', () => {
  const numbers = new RecordNumbers();
  expect(numbers.intern('lead', '7')).toBe(0);
  expect(numbers.intern('deal', '7')).toBe(1);
  expect(numbers.intern('comment', '7')).toBe(2);
  expect(numbers.internEvent('7')).toBe(3);
  expect(numbers.intern('lead', '007')).toBe(4);
  expect(numbers.intern('lead', '7')).toBe(0);
  expect(numbers.internEvent('7')).toBe(3);
  expect(numbers.find('deal', '7')).toBe(1);
  expect(numbers.find('deal', '007')).toBeUndefined();
});

it('finds every id again, regardless of its characters', () => {
  const numbers = new RecordNumbers();
  const ids = ['', '__proto__', 'é', '\u2028', 'half a character: \ud83d', 'another half: \ude00', '"quoted\\"'];
  const found = ids.map((id) => numbers.intern('lead', id));
  expect(found).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(ids.map((id) => numbers.find('lead', id))).toEqual(found);
});
