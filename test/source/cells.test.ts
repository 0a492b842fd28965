import fc from 'fast-check';
import { expect, test } from 'vitest';
import { neutralise, restore } from '../../src/cells.ts';

test.each([
  ['=SUM(A1:A9)', "'=SUM(A1:A9)"],
  ['+39 02 1234', "'+39 02 1234"],
  ['-5', "'-5"],
  ['@import', "'@import"],
  ['\t=1', "'\t'=1"],
  ['\r=1', "'\r'=1"],
  ['\n=1', "'\n'=1"],
  ['\tone', "'\tone"],
  ['＝1', "'＝1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠1', "'＠1"],
  [' =1', "' =1"],
  ['"=1', `'"=1`],
  ['one;=1', "one;'=1"],
  ['one; "=1', `one;' "=1`],
  ["one;'=1", "one;''=1"],
  ['one;two;@1;-1', "one;two;'@1;'-1"],
  ['first\n+1\r\n-1', "first\n'+1\r\n'-1"],
  ['a - b; c', 'a - b; c'],
  ["'=1", "''=1"],
  ["''=1", "'''=1"],
  ["'Ndrangheta", "'Ndrangheta"],
  ["'", "'"],
  ['', ''],
  ['a=b', 'a=b'],
])('%j is written as %j and read back as it was', (cell, written) => {
  expect(neutralise(cell)).toBe(written);
  expect(restore(written)).toBe(cell);
});

test('no cell can run as a formula, and every cell can be restored', () => {
  const cell = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...`'=+-@\t\r\n;" ＝＠a`) }));
  fc.assert(
    fc.property(cell, (text) => {
      expect(neutralise(text)).not.toMatch(/^[\t\r\n]|(?:^|[;\t\r\n])["\s]*[=+\-@＝＋－＠]/);
      expect(restore(neutralise(text))).toBe(text);
    }),
    { numRuns: 2000 },
  );
});

test('a cell from which a person removed the prefix stays unchanged', () => {
  expect(restore('+39 02 1234')).toBe('+39 02 1234');
});

test('a long cell of line breaks and blanks takes linear time', () => {
  const cell = '\n'.repeat(500_000) + ' '.repeat(500_000);
  const before = performance.now();
  expect(restore(neutralise(cell))).toBe(cell);
  expect(performance.now() - before).toBeLessThan(5_000);
});
