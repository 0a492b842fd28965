import fc from 'fast-check';
import { expect, test } from 'vitest';
import { neutralise, restore } from '../../src/cells.ts';

test.each([
  ['=SUM(A1:A9)', "'=SUM(A1:A9)"],
  ['+39 02 1234', "'+39 02 1234"],
  ['-5', "'-5"],
  ['@import', "'@import"],
  ['\t=1', "'\t=1"],
  ['\r=1', "'\r=1"],
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
  const cell = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', 'a') }));
  fc.assert(
    fc.property(cell, (text) => {
      expect(neutralise(text)).not.toMatch(/^[=+\-@\t\r]/);
      expect(restore(neutralise(text))).toBe(text);
    }),
    { numRuns: 2000 },
  );
});

test('a cell from which a person removed the prefix stays unchanged', () => {
  expect(restore('+39 02 1234')).toBe('+39 02 1234');
});
