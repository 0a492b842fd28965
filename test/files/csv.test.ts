// Lost without it: a cell could run as a formula in a spreadsheet, or come back changed.
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { csvLine, neutralise, restore } from '../../src/files/csv.ts';

const part = fc.constantFrom(
  'a',
  'Z',
  '0',
  '_',
  '.',
  '/',
  ':',
  '-',
  '=',
  '+',
  '@',
  "'",
  '"',
  ',',
  ';',
  '＝',
  ' ',
  '\t',
  '\r',
  '\n',
  'é',
  '\u001b',
  '\u0007',
  '\u009b',
  '[U+001B]',
  '[U+',
);
const cell = fc.oneof(
  fc.string(),
  fc.array(part, { maxLength: 6 }).map((parts) => parts.join('')),
  fc.uuid(),
);

it('writes cells that no spreadsheet evaluates, and that can be read back unchanged', () => {
  fc.assert(
    fc.property(fc.array(cell, { minLength: 2, maxLength: 4 }), (cells) => {
      const [read] = parse(csvLine(cells), { relax_column_count: true });
      expect(read).toEqual(cells.map(neutralise));
      expect(read!.map(restore)).toEqual(cells);
    }),
    { numRuns: 2000 },
  );
});

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
  ['\u001b[31mred', '[U+001B][31mred'],
  ['\u0007=1', '[U+0007]=1'],
  ['[U+001B]', '[U+005B]U+001B]'],
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

test('a long cell of line breaks and blanks takes linear time', () => {
  const cell = '\n'.repeat(500_000) + ' '.repeat(500_000);
  const before = process.cpuUsage();
  expect(restore(neutralise(cell))).toBe(cell);
  // Of this process: a busy machine takes no more of it.
  expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
});
