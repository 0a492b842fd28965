import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/commands/sandbox/index.ts';
import { backfill, environmentOf, FAST, files, sandbox, summaryOf, workspace, type Ended } from './harness.ts';

function mappingWith(fixes: string): string {
  return `version: 1
migration: fix
sources:
  people: { path: people.csv, ${fixes} }
  deals: { path: deals.csv }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name, email: { from: email, on_error: reject } }
  - type: deal/created
    source: deals
    data:
      external_id: id
      title: title
      lead_external_id: { lookup: { source: people, match: email, with: contact, take: id } }
`;
}

const PEOPLE = 'id,name,email\n1,Ada,ada@example.test\n02,Bob,bob(at)example.test\n3,"=Cy, ""the""",cy example.test\n';
const DEALS = 'id,title,contact\n10,First,ada@example.test\n20,Second,bob@example.test\n30,Third,cy@example.test\n';

describe('the `fixes` of a source', () => {
  let service: Sandbox;
  let cwd: string;

  beforeEach(async () => {
    service = await sandbox();
    cwd = await workspace();
    await files(cwd, { 'mapping.yaml': mappingWith(''), 'people.csv': PEOPLE, 'deals.csv': DEALS });
  });

  function run(...more: string[]): Promise<Ended> {
    return backfill(['run', 'mapping.yaml', '--json', ...FAST, ...more], { cwd, env: environmentOf(service) });
  }

  const rejects = (): Promise<string> => readFile(join(cwd, '.backfill/fix/rejects/people.csv'), 'utf8');

  const names = (): unknown[] =>
    service
      .state()
      .leads.map(({ fullName }) => fullName)
      .sort();

  it('replace the original records, also in lookups, and acknowledged events are not sent again', async () => {
    const first = summaryOf(await run());
    expect(first.events).toMatchObject({ total: 6, acknowledged: 2, invalid: 4 });

    // Bob is fixed in the rejects file; the row of his deal needs no change, because it refers to him by the right address.
    await files(cwd, {
      'bob.csv': (await rejects()).replace('bob(at)', 'bob@').replace(/^3,.*\n/m, ''),
      'mapping.yaml': mappingWith('fixes: bob.csv'),
    });
    const second = summaryOf(await run());
    expect(second.events).toMatchObject({ total: 6, acknowledged: 4, invalid: 2 });
    expect(second.this_run.events_sent).toBe(2);

    // A second file, in another directory, adds to the first; a spreadsheet formula in it has been escaped.
    const remaining = await rejects();
    expect(remaining).toContain(`"'=Cy, ""the"""`);
    await mkdir(join(cwd, 'more'));
    await files(cwd, {
      'more/cy.csv': remaining.replace('cy example', 'cy@example'),
      'mapping.yaml': mappingWith('fixes: [bob.csv, more/*.csv]'),
    });
    const third = summaryOf(await run());
    expect(third).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 6, changed: 0 } });
    expect(names()).toEqual(['=Cy, "the"', 'Ada', 'Bob']);
    expect(summaryOf(await run())).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
    expect(service.requests().filter(({ method }) => method === 'POST').length).toBe(6);
  });

  it('also correct a source that only lookups read, and an export that --source names', async () => {
    await run();
    await files(cwd, {
      'bob.csv': (await rejects()).replace('bob(at)', 'bob@').replace(/^3,.*\n/m, ''),
      'newer.csv': `${PEOPLE}4,Di,di@example.test\n`,
      'mapping.yaml': mappingWith('fixes: bob.csv').replace(/ {2}- type: lead[^]*?(?= {2}- type: deal)/, ''),
    });
    const dry = summaryOf(await run('--dry-run', '--yes', '--source', 'people=newer.csv'));
    expect(dry.events).toMatchObject({ total: 3, invalid: 1 });
    expect(dry.warnings_by_code).not.toHaveProperty('unused_fix');
  });

  it('make another plan, which --plan then refuses', async () => {
    const { plan } = summaryOf(await run('--dry-run'));
    const text = await readFile(join(cwd, '.backfill/fix/dry-run/rejects/people.csv'), 'utf8');
    await files(cwd, { 'fixed.csv': text, 'mapping.yaml': mappingWith('fixes: fixed.csv') });
    expect(summaryOf(await run('--dry-run')).plan.digest).toBe(plan.digest);
    await files(cwd, { 'fixed.csv': text.replace('bob(at)', 'bob@') });
    expect(summaryOf(await run('--dry-run')).plan.digest).not.toBe(plan.digest);
    const refused = await run('--plan', plan.digest!);
    expect(refused.code).toBe(2);
    expect(service.requests().filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('warn with both ids where a correction changes the external id, as spreadsheets do', async () => {
    await run();
    const saved = (await rejects()).replace('02,Bob,bob(at)', '2,Bob,bob@').replace('cy example', 'cy@example');
    await files(cwd, { 'saved.csv': saved, 'mapping.yaml': mappingWith('fixes: saved.csv') });
    const dry = await run('--dry-run', '--all');
    expect(summaryOf(dry).warnings_by_code).toMatchObject({ corrected_id: 1 });
    expect(dry.stderr.replace(/\s+/g, ' ')).toMatch(/"2".*lead.*"02" .*saved\.csv:2 /);
  });

  it('are read from what spreadsheets make of the rejects, which begin with a byte-order mark', async () => {
    await files(cwd, { 'people.csv': PEOPLE.replace('Bob', 'Žofie') });
    await run();
    const text = await rejects();
    expect(text).toMatch(/^\ufeffid,name,email,_file,_line,_error,_row\n/);
    const saved = text.replace('bob(at)', 'bob@').replaceAll('\n', '\r\n').replaceAll(',', ';');
    await writeFile(join(cwd, 'saved.csv'), saved);
    await files(cwd, { 'mapping.yaml': mappingWith('fixes: saved.csv') });
    await run();
    expect(names()).toEqual(['Ada', 'Žofie']);
  });
});
