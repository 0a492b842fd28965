// Lost without it: a number of a workbook or of JSON could be read with the separators of texts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { project } from '../e2e/harness.ts';
import { workbookOf } from '../input/zip.ts';

const NUMBER = '{ number: { decimal: "," } }';
const VALUES = {
  plain: '{ from: Amount, apply: [NUMBER] }',
  collapsed: '{ from: Amount, apply: [collapse_whitespace, NUMBER] }',
  mapped: '{ from: Amount, apply: [{ map: { none: null, "*": "=" } }, NUMBER] }',
  listed: '{ list: [Amount, Empty], apply: [{ at: 0 }, NUMBER] }',
  joined: '{ list: [Amount, Currency], apply: [{ join: " " }, NUMBER] }',
  template: '{ template: "{Amount} {Currency}", apply: [NUMBER] }',
  replaced: '{ template: "{Amount} ({Currency})", apply: [{ replace: { pattern: "[()]", with: "" } }, NUMBER] }',
  split: '{ template: "{Amount} {Currency}", apply: [{ split: " " }, { at: 0 }, NUMBER] }',
  lookedUp: '{ lookup: { source: others, match: ID, with: ID, take: Amount }, apply: [NUMBER] }',
  first: '{ from: [Empty, Amount], apply: [collapse_whitespace, NUMBER] }',
  text: '{ template: "{Currency} {Amount}" }',
};

const mappingOf = (path: string) => `version: 1
migration: numbers
sources: { deals: { path: ${path} }, others: { path: ${path} } }
events:
  - type: deal/created
    source: deals
    data:
      external_id: ID
      title: ID
      custom_fields:
${Object.entries(VALUES)
  .map(([name, value]) => `        ${name}: ${value.replaceAll('NUMBER', NUMBER)}`)
  .join('\n')}
`;

const cell = (value: string | number) =>
  typeof value === 'number' ? `<c><v>${value}</v></c>` : `<c t="str"><v>${value}</v></c>`;
const sheet = (...rows: readonly (readonly (string | number)[])[]) =>
  `<worksheet><sheetData>${rows.map((row) => `<row>${row.map(cell).join('')}</row>`).join('')}</sheetData></worksheet>`;

test.each([
  ['a.json', '[{ "ID": "1", "Amount": 12.345, "Currency": "EUR", "Empty": null }]', 12.345],
  ['a.json', '[{ "ID": "1", "Amount": "12.345", "Currency": "EUR", "Empty": null }]', 12345],
  ['a.xlsx', workbookOf(sheet(['ID', 'Amount', 'Currency', 'Empty'], ['1', 12.345, 'EUR', ''])), 12.345],
  ['a.xlsx', workbookOf(sheet(['ID', 'Amount', 'Currency', 'Empty'], ['1', '12.345', 'EUR', ''])), 12345],
  ['a.csv', 'ID,Amount,Currency,Empty\n1,12.345,EUR,\n', 12345],
])('in %s', async (file, content, expected) => {
  const { cwd, summary, service } = await project({ 'mapping.yaml': mappingOf(file) });
  writeFileSync(join(cwd, file), content);
  expect(await summary()).toMatchObject({ exit: { code: 0 } });
  const { text, ...numbers } = service.state().deals[0]!.customFields as Record<string, unknown>;
  expect(text).toBe('EUR 12.345');
  expect(numbers).toEqual(Object.fromEntries(Object.keys(numbers).map((name) => [name, expected])));
});
