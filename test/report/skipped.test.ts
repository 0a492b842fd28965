/** Rows that become no event: said by source and reason, listed one by one, and never called "no problems". */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { project, summaryOf } from '../e2e/harness.ts';

const MAPPING = `version: 1
migration: m
sources: { people: { path: people.csv }, log: { path: log.json } }
events:
  - type: lead/created
    source: people
    when: { from: kind, equals: lead }
    data: { external_id: id, full_name: name }
  - type: comment/created
    source: log
    each: notes
    if_parent_missing: skip
    data: { external_id: id, content: text, lead_external_id: $.lead }
`;
const PEOPLE = `id,name,kind\n${Array.from({ length: 10 }, (_, n) => `${n},P${n},${n < 3 ? 'other' : 'lead'}\n`).join('')}`;
const LOG = JSON.stringify([
  { lead: '5', notes: [{ id: 'a', text: 'kept' }] },
  { lead: '6', notes: [] },
  { lead: '77', notes: [{ id: 'b', text: 'of nobody' }] },
]);

it('rows that are skipped are counted by source and reason, on the screen, in the summary, in left_out.csv and on the page', async () => {
  const { cwd, run } = await project({ 'mapping.yaml': MAPPING, 'people.csv': PEOPLE, 'log.json': LOG });
  const ended = await run('--dry-run', '--all');
  const summary = summaryOf(ended);
  expect(summary.records).toMatchObject({ read: 13, mapped: 8, skipped: 5 });
  expect(summary.skipped).toEqual({ people: { when: 3 }, log: { each: 1, orphan: 1 } });
  expect(summary.warnings_by_code).toMatchObject({ rows_skipped: 5 });
  expect(ended.stderr).not.toContain('no problems');
  expect(ended.stderr).toMatch(/Rows skipped[^]*people +no entry .* 3 +10 +when\n[^]*log .* 1 +3 +orphan\n/);
  const listed = await readFile(join(cwd, '.backfill/m/dry-run/left_out.csv'), 'utf8');
  expect(listed.trim().split(/\r?\n/)).toHaveLength(6);
  expect(listed).toMatch(/^people,.*people\.csv,2,1,.*when/m);
  const page = await readFile(join(cwd, '.backfill/m/dry-run/report.html'), 'utf8');
  expect(page).toContain('<h2 id="skipped-title">');
  expect(page.replace(/<[^>]*>|\s+/g, ' ')).toMatch(/people\.csv +10 +7 leads ready to send, 3 skipped/);
});
