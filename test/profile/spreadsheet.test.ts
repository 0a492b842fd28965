// Lost without it: what a spreadsheet did to an export could pass unnoticed.
import { expect, it } from 'vitest';
import type { DamageNote } from '../../src/survey/profile/notes.ts';
import { profileOf } from './surveying.ts';

const MAPPING = `events:
  - type: lead/created
    source: it
    occurred_at: { from: Made, on_error: omit, apply: [{ date: ['d/M/yyyy', 'yyyy-MM-dd'] }] }
    data: { external_id: ID, full_name: Name, phone_number: { from: Phone, apply: [phone] } }
`;

type Column = 'ID' | 'Made';

/** The damage of an export with these cells in one column. */
async function damageOf(column: Column, cells: readonly string[]): Promise<readonly DamageNote[]> {
  const lines = cells.map((cell, n) => {
    const row = { ID: `${n + 1}`, Name: 'Ann', Made: '', Phone: '', [column]: cell };
    return Object.values(row).join(',');
  });
  const { damage } = await profileOf({ mapping: MAPPING, export: `ID,Name,Made,Phone\n${lines.join('\n')}\n` });
  return damage;
}

const numbers = (count: number, cell: (n: number) => string): string[] =>
  Array.from({ length: count }, (_, n) => cell(n));
const late = numbers(6, (n) => `${20 + n}/03/2024`);

it.each<[string, Column, readonly string[], Partial<DamageNote>]>([
  [
    'long ids that were rounded to 15 digits',
    'ID',
    ['123456789012345000', '123456789012346000', '17'],
    { kind: 'rounded_id', count: 2, example: '123456789012345000', line: 2 },
  ],
  [
    'dates that were converted to another format beside those that could not be',
    'Made',
    [...late, ...numbers(5, (n) => `2024-0${n + 1}-04`)],
    { kind: 'day_month_exchanged', count: 5, example: '2024-01-04', line: 8 },
  ],
  [
    'dates that lost their zeros beside those that could not be converted',
    'Made',
    [...late, ...numbers(5, (n) => `${n + 1}/4/2024`)],
    { kind: 'day_month_exchanged', count: 5, example: '1/4/2024', line: 8 },
  ],
])('a spreadsheet that saved the export is recognised by %s', async (_, column, cells, expected) => {
  expect(await damageOf(column, cells)).toMatchObject([{ column, ...expected }]);
});

it.each<[string, Column, readonly string[]]>([
  ['long ids with all their digits', 'ID', ['123456789012345000', '123456789012346007', '123456789012347000']],
  ['one long id that ends in zeros', 'ID', ['1234567890123450', '17']],
  ['dates in one format with zeros', 'Made', [...late, ...numbers(9, (n) => `0${n + 1}/04/2024`)]],
  [
    'dates in one format without zeros',
    'Made',
    [...numbers(9, (n) => `${n + 15}/3/2024`), ...numbers(9, (n) => `${n + 1}/4/2024`)],
  ],
  [
    'days with zeros and months without',
    'Made',
    [...late.map((date) => date.replace('/0', '/')), '04/3/2024', ...numbers(9, (n) => `0${n + 1}/11/2024`)],
  ],
  ['dates of two systems', 'Made', [...late, '04/03/2024', ...numbers(9, (n) => `2024-01-1${n}`)]],
])('an export is not suspected for %s', async (_, column, cells) => {
  expect(await damageOf(column, cells)).toEqual([]);
});
