import { join } from 'node:path';
import { expect, it } from 'vitest';
import { handler as run } from '../../src/commands/run.ts';
import type { Summary } from '../../src/report/summary.ts';
import { files, sandbox, workspace } from '../e2e/harness.ts';
import { call, envFile } from './in-process.ts';

const MAPPING = `version: 1
migration: picked
sources:
  leads: { path: leads.csv }
  deals: { path: deals.csv }
  notes: { path: notes.csv }
events:
  - type: lead/created
    source: leads
    data: { external_id: id, full_name: name }
  - type: deal/created
    source: deals
    data: { external_id: id, title: title, lead_external_id: lead }
  - type: comment/created
    source: notes
    data: { external_id: id, content: text, deal_external_id: deal }
`;

it('a dry run with --pick shows the picked record with its parents and children, and no other', async () => {
  const cwd = await workspace();
  const rows = Array.from({ length: 9 }, (_, at) => at);
  await files(cwd, {
    'mapping.yaml': MAPPING,
    'leads.csv': `id,name\n${rows.map((at) => `L${at},Lead ${at}\n`).join('')}`,
    'deals.csv': `id,title,lead\n${rows.map((at) => `D${at},Deal ${at},L${at}\n`).join('')}`,
    'notes.csv': `id,text,deal\n${rows.map((at) => `N${at},Note ${at},D${at < 5 ? 8 : at}\n`).join('')}`,
  });
  const { stdout } = await call(run, {
    mapping: join(cwd, 'mapping.yaml'),
    envFile: await envFile(await sandbox()),
    dryRun: true,
    pick: ['deal:D8'],
  });
  const lines = stdout.matchAll(/^ {2}(leads|deals|comments) +9 +(\d) +(\d)$/gm);
  const counts = new Map(Array.from(lines, ([, kind, sent, left]) => [kind, [sent, left]]));
  expect(Object.fromEntries(counts)).toEqual({ leads: ['1', '8'], deals: ['1', '8'], comments: ['6', '3'] });
});

it('a pilot has a deal that lacks what others have, and a comment without an id, although the plan only counts those', async () => {
  const cwd = await workspace();
  const rows = Array.from({ length: 40 }, (_, at) => at);
  await files(cwd, {
    'mapping.yaml': MAPPING.replace('external_id: id, content', 'content'),
    'leads.csv': `id,name\n${rows.map((at) => `L${at},Lead ${at}\n`).join('')}`,
    'deals.csv': `id,title,lead\n${rows.map((at) => `D${at},${at === 31 ? '' : `Deal ${at}`},L${at}\n`).join('')}`,
    'notes.csv': 'id,text,deal\n1,Note,D17\n',
  });
  const envFileOf = await envFile(await sandbox());
  const given = { mapping: join(cwd, 'mapping.yaml'), envFile: envFileOf, dryRun: true, pilot: '4', json: true };
  const { stdout } = await call(run, given);
  expect((JSON.parse(stdout) as Summary).pilot!.features.warning).toEqual({ covered: 4, occurring: 4 });
});
