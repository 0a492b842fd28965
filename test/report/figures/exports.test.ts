// Lost without it: a file could be missing from the list of what became of it.
import { expect, test } from 'vitest';
import { exportsSection, readExports } from '../../../src/report/figures/exports.ts';
import { readDocument } from '../../../src/report/files/documents.ts';
import { PLAN } from '../../../src/store/plan-schema.ts';
import { Database } from '../../../src/store/sqlite.ts';
import { backfill, files, workspace } from '../../e2e/harness.ts';

test('a file has a row for each of its sources, and each element of `each` and each part of a combined comment counts', async () => {
  const cwd = await workspace();
  const people = [
    { id: 1, deals: [{ id: 'a' }, { id: 'b' }], notes: [{ id: 'n1' }, { id: 'n2' }, { id: 'n3' }] },
    { id: 2, deals: [], notes: [] },
  ];
  await files(cwd, {
    'crm.json': JSON.stringify({ people, changes: [{ id: 1, name: 'Ada' }], users: [{ id: 'u' }] }),
    'm.yaml': `version: 1
migration: m
sources:
  people: { path: crm.json, records: people }
  changes: { path: crm.json, records: changes }
  users: { path: crm.json, records: users }
events:
  - type: lead/created
    source: people
    data: { external_id: id, custom_params: { owner: { lookup: { source: users, match: id, with: id, take: id, if_missing: skip } } } }
  - { type: lead/updated, source: changes, data: { external_id: id, full_name: name } }
  - { type: deal/created, source: people, each: deals, data: { external_id: id, lead_external_id: $.id } }
  - type: comment/created
    source: people
    each: notes
    combine: {}
    data: { external_id: id, content: id, lead_external_id: $.id }
`,
  });
  await backfill(['run', 'm.yaml', '--dry-run', '--offline'], { cwd });
  const db = Database.read(`${cwd}/.backfill/m/dry-run/plan.db`, PLAN)!;
  const section = exportsSection(readExports(db, readDocument(db, 'inputs')!), true)!;
  db.close();
  expect(section.rows.map(([file, rows, fate]) => [file, rows, fate])).toEqual([
    ['crm.json (people)', 2, '2 leads ready to send, 2 deals ready to send, 3 comments ready to send'],
    ['crm.json (changes)', 1, '1 lead ready to send'],
    ['crm.json (users)', 1, 'looked up'],
  ]);
});
