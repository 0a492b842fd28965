import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { backfill, environmentOf, FAST, files, sandbox, workspace } from './harness.ts';

const MAPPING = `version: 1
migration: acme
defaults: { timezone: America/New_York }
sources: { people: { path: people.csv } }
references: { file: names.csv }
events:
  - type: lead/created
    source: people
    when: { from: kind, equals: lead }
    data: { external_id: id, full_name: { from: name, apply: [uppercase] }, email: email }
`;

const PEOPLE = `id,name,email,kind,fax,pager
1,Ada,a@example.com,lead,555-FAX-1,
2,Alan,not an address,lead,,
3,Grace,g@example.com,lead,555-FAX-3,
`;

const WORKSHEET = 'kind,pipeline,old_name,records,suggestion,new_name\nowner,,Old Rep,1,,\n';

/** A page as text, its rows in lines. */
function textOf(page: string): string {
  const rows = page.replace(/<style>.*?<\/style>/s, '').replace(/<\/(?:tr|p|h\d|dd|caption)>/g, '\n');
  return rows.replace(/<[^>]*>/g, ' ').replace(/[^\S\n]+/g, ' ');
}

it('is a hand-over: the mapping, what was not carried, and times in the zone of the mapping; written again, it is the same', async () => {
  const cwd = await workspace();
  await files(cwd, { 'mapping.yaml': MAPPING, 'people.csv': PEOPLE, 'calls.csv': 'id\n1\n', 'names.csv': WORKSHEET });
  const env = environmentOf(await sandbox());
  await backfill(['run', 'mapping.yaml', ...FAST], { cwd, env });
  const path = join(cwd, '.backfill/acme/report.html');
  const written = await readFile(path, 'utf8');
  const text = textOf(written);
  expect(text).toMatch(/in the time zone America\/New_York/);
  expect(text).toMatch(/Last run \n .*, \d\d:\d\d GMT-[45] –/);
  expect(text).toContain('Leads from people');
  expect(text).toContain('Every record in which kind is lead');
  expect(text).toMatch(/name name converts to upper case/);
  expect(text).toMatch(/people\.csv 3 3 leads [0-9a-f]{64}/);
  expect(text).toMatch(/fax people 2 3/);
  expect(text).toContain('Not used and without any value: pager (people) .');
  expect(text).toContain('No source reads these files, which lie beside the exports: calls.csv .');
  expect(text).toMatch(/e-mail address email Leads 1 An e-mail address is invalid. invalid_email/);
  for (const value of ['555-FAX', 'not an address', 'Grace']) expect(written).not.toContain(value);
  expect(written).not.toContain('class="banner"');

  // Written again, it is about the run and not about what the mapping has become since.
  await files(cwd, { 'mapping.yaml': MAPPING.replace('uppercase', 'lowercase') });
  const again = await backfill(['report', 'mapping.yaml'], { cwd });
  expect(again).toMatchObject({ code: 0, stdout: `${path}\n` });
  const withoutTime = (page: string): string => page.replace(/Written .*? by/s, '');
  expect(withoutTime(await readFile(path, 'utf8'))).toBe(withoutTime(written));
});
