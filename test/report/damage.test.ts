import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { SettledLine } from '../../src/checkpoint/lines.ts';
import { writeReport } from '../../src/report/html/write.ts';
import { MigrationStatusReader } from '../../src/report/migration-status.ts';
import { statusText } from '../../src/report/status-text.ts';
import { stateDirectory } from './state.ts';

function settled(externalId: string): string {
  const line: SettledLine = {
    id: '11111111-1111-5111-8111-111111111111',
    type: 'lead/created',
    external_id: externalId,
    status: 'acknowledged',
    outcome: 'created',
    entity_id: 'e1',
    code: null,
    content_sha: 'a'.repeat(32),
    fields: {},
    at: '2026-01-01T00:00:00.000Z',
  };
  return `${JSON.stringify(line)}\n`;
}

it('status and report count the valid lines of a damaged checkpoint, and report the damage', async () => {
  const state = await stateDirectory();
  const path = state.file('checkpoint.ndjson');
  const reader = new MigrationStatusReader(state);
  const status = async (): Promise<string> => {
    const view = { holder: undefined, downSince: undefined, path: state.path, now: new Date() };
    return statusText({ status: await reader.read(), ...view }, 80);
  };

  await writeFile(path, settled('1'));
  expect(await status()).toContain('1 event acknowledged');
  expect(await status()).not.toContain('damaged');

  await appendFile(path, `\0\0\0\n${settled('2')}`);
  expect(await status()).toContain('2 events acknowledged');
  expect(await status()).toContain('The checkpoint is damaged (line 2)');

  await appendFile(path, '{"id":1}\n');
  expect(await status()).toContain('The checkpoint is damaged (line 2 and 1 more)');
  const page = await readFile(await writeReport(state, { withValues: false }), 'utf8');
  expect(page).toContain('The checkpoint is damaged (line 2 and 1 more)');
});
