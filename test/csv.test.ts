import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { neutralise, restore } from '../src/cells.ts';
import { csvLine } from '../src/csv.ts';

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
