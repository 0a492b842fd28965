import { expect, it } from 'vitest';
import { counted, numberText, percentText } from '../../src/terminal/numbers.ts';

it('numbers have separators of thousands', () => {
  expect([0, 999, 3900, 1_234_567].map(numberText)).toEqual(['0', '999', '3,900', '1,234,567']);
});

it('counts agree with their nouns', () => {
  expect([0, 1, 3900].map((count) => counted(count, 'event'))).toEqual(['0 events', '1 event', '3,900 events']);
});

it('only all of them are 100 %', () => {
  expect(percentText(99_999, 100_000)).toBe('99 %');
  expect(percentText(99_999, 100_000, 1)).toBe('99.9 %');
  expect(percentText(1, 8, 1)).toBe('12.5 %');
  expect([percentText(5, 5, 1), percentText(0, 0)]).toEqual(['100 %', '100 %']);
});
