/** The demo's data in one workbook: the same plan as from its CSV files, and cells as places. */
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backfill, FIXTURES, summaryOf, workspace } from '../e2e/harness.ts';

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
  expect(await readFile(join(state, 'omitted.csv'), 'utf8')).toMatch(
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

test('init takes each sheet with rows as a table, and its mapping loads', async () => {
  const cwd = await workspace();
  await copyFile(join(FIXTURES, 'workbooks/demo.xlsx'), join(cwd, 'crm.xlsx'));
  const ended = await backfill(['init', 'crm.xlsx', '--out', 'acme.yaml'], { cwd });
  expect(ended.code).toBe(0);
  expect(`${ended.stdout}${ended.stderr}`).toContain('crm.xlsx#contacts');
  const mapping = await readFile(join(cwd, 'acme.yaml'), 'utf8');
  for (const sheet of ['contacts', 'deals', 'notes'])
    expect(mapping).toContain(`${sheet}: { path: crm.xlsx, sheet: ${sheet} }`);
  const survey = summaryOf(await backfill(['run', 'acme.yaml', ...DRY], { cwd }));
  expect(survey.records.read).toBe(82);
});
