import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { backfill, environmentOf, FAST, files, sandbox, summaryOf, workspace } from './harness.ts';

const MAPPING = `version: 1
migration: fix
sources:
  people: { path: people.csv }
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

describe('corrected rejects', () => {
  it('replace the original records, also in lookups, and acknowledged events are not sent again', async () => {
    const service = await sandbox();
    const cwd = await workspace();
    const env = environmentOf(service);
    await files(cwd, {
      'mapping.yaml': MAPPING,
      'people.csv':
        'id,name,email\n1,Ada,ada@example.test\n2,Bob,bob(at)example.test\n3,"=Cy, ""the""",cy example.test\n',
      'deals.csv':
        'id,title,contact\n10,First,ada@example.test\n20,Second,bob@example.test\n30,Third,cy@example.test\n',
    });
    const run = (...more: string[]) => backfill(['run', 'mapping.yaml', '--json', ...FAST, ...more], { cwd, env });
    const first = summaryOf(await run());
    expect(first.events).toMatchObject({ total: 6, acknowledged: 2, invalid: 4 });

    // Bob is fixed in the rejects file; the row of his deal needs no change, because it refers to him by the right address.
    const rejects = await readFile(join(cwd, '.backfill/fix/rejects/people.csv'), 'utf8');
    await files(cwd, { 'bob.csv': rejects.replace('bob(at)', 'bob@').replace(/^3,.*\n/m, '') });
    const second = summaryOf(await run('--fix', 'people=bob.csv'));
    expect(second.events).toMatchObject({ total: 6, acknowledged: 4, invalid: 2 });
    expect(second.this_run.events_sent).toBe(2);

    // A second file, run from another directory, adds to the first; a spreadsheet formula in it has been escaped.
    const remaining = await readFile(join(cwd, '.backfill/fix/rejects/people.csv'), 'utf8');
    expect(remaining).toContain(`"'=Cy, ""the"""`);
    const elsewhere = join(cwd, 'elsewhere');
    await mkdir(elsewhere);
    await files(elsewhere, { 'cy.csv': remaining.replace('cy example', 'cy@example') });
    const args = ['run', '../mapping.yaml', '--json', ...FAST];
    const dry = await backfill([...args, '--dry-run', '--fix', 'people=cy.csv'], { cwd: elsewhere, env });
    expect(summaryOf(dry).events).toMatchObject({ acknowledged: 4, pending: 2, invalid: 0 });
    const third = await backfill([...args, '--fix', 'people=cy.csv'], { cwd: elsewhere, env });
    expect(summaryOf(third)).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 6, changed: 0 } });
    expect(service.state().leads.map(({ fullName }) => fullName)).toEqual(['Ada', 'Bob', '=Cy, "the"']);

    // The fixes are kept: a rerun without --fix has the same result as the last run.
    expect((await stat(join(cwd, '.backfill/fix/fixes/people.0002.csv'))).mode & 0o777).toBe(0o600);
    const fourth = summaryOf(await run());
    expect(fourth).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
    const again = summaryOf(await backfill([...args, '--fix', 'people=cy.csv'], { cwd: elsewhere, env }));
    expect(again.this_run.events_sent).toBe(0);
    await expect(stat(join(cwd, '.backfill/fix/fixes/people.0003.csv'))).rejects.toThrow('ENOENT');
    expect(service.requests().filter(({ method }) => method === 'POST').length).toBe(6);
  });

  it('are refused for a source that the mapping does not have', async () => {
    const service = await sandbox();
    const cwd = await workspace();
    await files(cwd, {
      'mapping.yaml': MAPPING,
      'people.csv': 'id,name,email\n',
      'deals.csv': 'id,title,contact\n',
      'x.csv': '',
    });
    const ended = await backfill(['run', 'mapping.yaml', '--fix', 'peeple=x.csv'], {
      cwd,
      env: environmentOf(service),
    });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('did you mean `people`?');
  });
});
