import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { handler as run } from '../../src/commands/run.ts';
import { files, sandbox, workspace } from '../e2e/harness.ts';
import { call, envFile } from './in-process.ts';

const MAPPING = `version: 1
migration: m
sources: { people: { path: people.csv } }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name, phone_number: { from: phone, apply: [phone] }, email: email }
`;
const PEOPLE = `id,name,phone,email
1,Ada,+39 02 8088 1234 ext. 12,a@example.test
2,Grace,+39 02 8088 1235,not an address
`;

it('a rerun shows only the warnings that are new, and ends with how it ended and the next command', async () => {
  const cwd = await workspace();
  await files(cwd, { 'mapping.yaml': MAPPING, 'people.csv': PEOPLE });
  const job = { mapping: join(cwd, 'mapping.yaml'), envFile: await envFile(await sandbox()), rate: '100000/1s' };
  const shown = async (more: object = {}): Promise<string> => (await call(run, { ...job, ...more })).stdout;
  const again = '1 warning, unchanged since the last survey';

  // A dry run is there to be read, as often as it is repeated.
  for (const _ of [1, 2]) expect(await shown({ dryRun: true })).toContain('extension_dropped');

  const sent = await shown();
  expect(sent).toContain(again);
  expect(sent).not.toContain('extension_dropped');
  const lines = sent.trim().split('\n');
  expect(lines.findIndex((line) => line.startsWith('DONE   2 of 2 events acknowledged'))).toBeGreaterThan(0);
  expect(sent).toMatch(/Next [^]* crm-backfill verify/);

  await appendFile(join(cwd, 'people.csv'), '3,Alan,+39 02 8088 1236 ext. 7,alan@example.test\n');
  const added = await shown();
  // A run that ended well fits in twelve lines, so the report has the warnings themselves.
  expect(added).toMatch(/^CHECK +2 warnings in report\.html$/m);

  await files(cwd, { 'mapping.yaml': `${MAPPING}# another mapping\n` });
  const whole = await shown();
  expect(whole).toMatch(/^CHECK +3 warnings in report\.html$/m);
});
