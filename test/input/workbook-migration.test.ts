// Lost without it: a workbook could make another plan than its CSV files.
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backfill, files, FIXTURES, summaryOf, workspace } from '../e2e/harness.ts';
import { workbookOf } from './zip.ts';

const DRY = ['--dry-run', '--offline', '--json'];

test('one workbook with a sheet for each file gives the same plan as the CSV files', async () => {
  const cwd = await workspace('demo');
  await copyFile(join(FIXTURES, 'workbooks/demo.xlsx'), join(cwd, 'crm.xlsx'));
  const mapping = await readFile(join(cwd, 'mapping.yaml'), 'utf8');
  const sheets = mapping.replace(/path: (\w+)\.csv/g, 'path: crm.xlsx, sheet: $1');
  expect(sheets).toContain('{ path: crm.xlsx, sheet: deals }');
  await writeFile(join(cwd, 'sheets.yaml'), sheets);
  const [csv, xlsx] = [
    summaryOf(await backfill(['run', 'mapping.yaml', ...DRY], { cwd })),
    summaryOf(await backfill(['run', 'sheets.yaml', ...DRY, '--state', 'state'], { cwd })),
  ];
  expect(xlsx.plan).toEqual(csv.plan);
  expect([xlsx.records, xlsx.events]).toEqual([csv.records, csv.events]);

  const state = join(cwd, 'state/dry-run');
  const errors = await readFile(join(state, 'errors.csv'), 'utf8');
  expect(errors).toMatch(/^contacts,crm\.xlsx#contacts!H19,19,18,lead\/created,.*bad_date/m);
  expect(errors).toMatch(/^deals,crm\.xlsx#deals!E12,12,11,deal\/created,.*bad_number/m);
  expect(errors).toMatch(/^contacts,crm\.xlsx#contacts!A32,32,31,.*too_many_cells/m);
  expect(await readFile(join(state, 'left_out.csv'), 'utf8')).toMatch(
    /^contacts,crm\.xlsx#contacts!E11,11,51000634,phone_number/m,
  );
  const html = await readFile(join(state, 'report.html'), 'utf8');
  expect(html).toContain('crm.xlsx#deals!E12');
  expect((await backfill(['explain', 'sheets.yaml', 'deal:9700220', '--state', 'state'], { cwd })).stdout).toContain(
    'crm.xlsx#deals!A12',
  );

  const rejects = await readFile(join(state, 'rejects/deals.csv'), 'utf8');
  expect(rejects).toMatch(/^\ufeffRecord ID,Deal Name,.*,_file,_line,_error,_row\n/);
  await writeFile(join(cwd, 'corrected.csv'), rejects.replace('1.2.3', '"1.200,00"'));
  await writeFile(join(cwd, 'sheets.yaml'), sheets.replace('sheet: deals }', 'sheet: deals, fixes: corrected.csv }'));
  const again = summaryOf(await backfill(['run', 'sheets.yaml', ...DRY, '--state', 'state'], { cwd }));
  expect(again.events.invalid).toBe(csv.events.invalid - 1);
});

test('a number of a sheet is taken as it is, whatever separators its texts have, also in a corrected record', async () => {
  const cwd = await workspace();
  const row = (...cells: string[]): string => `<row>${cells.join('')}</row>`;
  const text = (value: string): string => `<c t="str"><v>${value}</v></c>`;
  const number = (value: string): string => `<c><v>${value}</v></c>`;
  const rows = [
    row(text('id'), text('amount'), text('currency')),
    row(text('1'), number('12.345'), text('EUR')),
    row(text('2'), text('12.345'), text('EUR')),
    row(text('3'), number('1234.5'), text('EUR')),
    row(text('4'), text('48.900,-'), text('EUR')),
    row(text('5'), number('7.125'), text('?')),
  ];
  await writeFile(
    join(cwd, 'deals.xlsx'),
    workbookOf(`<worksheet><sheetData>${rows.join('')}</sheetData></worksheet>`),
  );
  const mapping = (fixes: string): string => `version: 1
migration: m
sources: { deals: { path: deals.xlsx${fixes} } }
events:
  - type: deal/created
    source: deals
    data: { external_id: id, amount: { from: amount, apply: [{ number: { decimal: "," } }] }, currency: currency }
`;
  await files(cwd, { 'm.yaml': mapping('') });
  await backfill(['run', 'm.yaml', ...DRY], { cwd });
  const rejects = await readFile(join(cwd, '.backfill/m/dry-run/rejects/deals.csv'), 'utf8');
  await files(cwd, { 'fixed.csv': rejects.replace('?', 'EUR'), 'm.yaml': mapping(', fixes: fixed.csv') });
  await backfill(['run', 'm.yaml', ...DRY], { cwd });
  const { stdout } = await backfill(['plan', 'm.yaml', '--dry-run', '--json'], { cwd });
  const amounts = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { data: { amount: number } }).data.amount);
  expect(amounts).toEqual([12.345, 12345, 1234.5, 48900, 7.125]);
});
