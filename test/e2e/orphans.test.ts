import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { migrate } from '../faults/in-process.ts';
import { files, sandbox, workspace } from './harness.ts';

const MAPPING = `version: 1
migration: orphans
sources:
  people: { path: people.csv }
  deals: { path: deals.csv }
  notes: { path: notes.csv }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name }
  - type: deal/created
    source: deals
    if_parent_missing: skip
    data: { external_id: id, title: title, lead_external_id: lead }
  - type: comment/created
    source: notes
    if_parent_missing: skip
    data: { external_id: id, content: text, deal_external_id: deal }
`;

it('records whose parent is nowhere are left out, and listed, with what belongs to them', async () => {
  const service = await sandbox();
  const cwd = await workspace();
  await files(cwd, {
    'mapping.yaml': MAPPING,
    'people.csv': 'id,name\n1,Ada\n',
    'deals.csv': 'id,title,lead\n10,One,1\n20,Two,2\n',
    'notes.csv': 'id,text,deal\nn1,Called,10\nn2,Wrote,20\nn3,Met,30\n',
  });
  const summary = await migrate(service, join(cwd, 'mapping.yaml'));
  expect(summary).toMatchObject({
    exit: { code: 0 },
    events: { total: 3, acknowledged: 3 },
    records: { read: 6, mapped: 3, skipped: 3, unreadable: 0 },
  });
  const { deals, comments } = service.state();
  expect([deals, comments].map((list) => list.map(({ externalId }) => externalId))).toEqual([['10'], ['n1']]);
  const omitted = await readFile(join(cwd, '.backfill/orphans/omitted.csv'), 'utf8');
  expect(
    omitted
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[0]),
  ).toEqual(['deals', 'notes', 'notes']);

  // The parent comes later: then it is a record like any other.
  await files(cwd, { 'people.csv': 'id,name\n1,Ada\n2,Grace\n' });
  expect(await migrate(service, join(cwd, 'mapping.yaml'))).toMatchObject({ exit: { code: 0 }, events: { total: 6 } });
  expect(service.state().comments).toHaveLength(2);
});
