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
  const first = 'warnings\n  1  extension_dropped\n     ';
  const again = '1 warning that the last survey gave too: see the report\n';

  // A dry run is there to be read, as often as it is repeated.
  expect(await shown({ dryRun: true })).toContain(`\n${first}`);
  expect(await shown({ dryRun: true })).toContain(`\n${first}`);

  const sent = await shown();
  expect(sent).toContain(`\n${again}`);
  expect(sent).not.toContain('extension_dropped');
  const lines = sent.trim().split('\n');
  const end = lines.findIndex((line) => line.startsWith('Done: all events are acknowledged'));
  expect(lines.slice(end + 1, end + 3)).toEqual(['', 'next: read the records back and compare them:']);
  expect(lines.slice(end + 3).every((line) => /^( {2}|then )/.test(line))).toBe(true);

  await appendFile(join(cwd, 'people.csv'), '3,Alan,+39 02 8088 1236 ext. 7,alan@example.test\n');
  const added = await shown();
  expect(added).toContain(`\nnew ${first}`);
  expect(added).toContain('people.csv:4: dropped the extension');
  expect(added).toContain(`\n${again}`);

  await files(cwd, { 'mapping.yaml': `${MAPPING}# another mapping\n` });
  expect(await shown()).toContain('\nwarnings\n  2  extension_dropped\n');
});
