// Lost without it: a file that this program wrote could be read as an export.
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isOwnTable } from '../../src/files/own-tables.ts';
import { mapping, project } from '../e2e/harness.ts';
import { failure, folderWith, openIn, readAll } from './reading.ts';

const PERSON =
  'type: lead/created, data: { external_id: id, full_name: name, phone_number: { from: phone, apply: [phone] } }';
const DEAL =
  'type: deal/created, data: { external_id: id, title: name, lead_external_id: lead, stage_name: stage, owner_name: owner }';

test('a glob passes over every table of a state directory, and over copies of them', async () => {
  const { cwd, run, write, edit, summary, service } = await project({
    'mapping.yaml': mapping({ people: PERSON, deals: DEAL }),
    'people.csv': 'id,name,phone\n1,Ada,+39066982\n2,Bob,nonsense\n3,Cy\n4,Di,,surplus\n',
    'deals.csv': 'id,name,lead,stage,owner\n7,One,1,Lost in space,Nobody\n8,Two,1,,\n',
  });
  await run('--state', 'state', '--pilot', '3').catch(() => undefined);
  await run('--state', 'state', '--yes').catch(() => undefined);
  const tables = readdirSync(join(cwd, 'state'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.csv$/.test(name),
  );
  expect(tables).toEqual(expect.arrayContaining(['errors.csv', 'ids.csv', 'references.csv', 'rejects/people.csv']));
  const alone = tables.filter((name) => !isOwnTable(readFileSync(join(cwd, 'state', name), 'utf8')));
  expect(alone).toEqual([]);
  cpSync(join(cwd, 'state/rejects/people.csv'), join(cwd, 'people-corrected.csv'));
  await write({ 'PEOPLE-2.CSV': 'id,name\n9,Zoe\n', '~$people.csv': '\u0000' });
  await edit('mapping.yaml', (text) => text.replace('people.csv', "'**/*people*.csv'"));
  const again = await summary('--state', 'state', '--yes');
  expect(again).toMatchObject({ records: { read: 6 }, warnings_by_code: { not_an_export: 1 } });
  expect(service.state().leads.map(({ externalId }) => externalId)).toEqual(['1', '2', '3']);
});

test('a glob says which files it passes over, and for what', async () => {
  const folder = folderWith({
    'a.csv': 'id\n1\n',
    'B.CSV': 'id\n2\n',
    '~$a.csv': '\0\0',
    'references.csv':
      '\ufeff"kind";"pipeline";"old_name";"records";"suggestion";"new_name";"choices"\r\nowner;;Ada;1;;;\r\n',
    'rejects.ndjson': '{"id":1,"_row":"r0123456789abcdef0123"}\n',
  });
  const source = await openIn(folder, '*.csv');
  expect((await readAll(source)).map(({ raw }) => raw)).toEqual([['1']]);
  const [said] = source.notices();
  expect(said).toMatchObject({ code: 'not_an_export', at: { file: '*.csv' } });
  for (const name of ['B.CSV', '~$a.csv', 'references.csv']) expect(said!.message).toContain(name);
  expect((await failure(openIn(folder, 'r*.*'))).message).toContain('rejects.ndjson');
  expect((await openIn(folder, 'references.csv')).columns).toContain('new_name');
});
