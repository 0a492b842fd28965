import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { migrate } from '../faults/in-process.ts';
import { files, sandbox, workspace } from './harness.ts';

const MAPPING = `version: 1
migration: changes
sources: { deals: { path: deals.csv } }
events:
  - type: deal/created
    source: deals
    stage_pipeline: { value: Sales }
    data: { external_id: id, title: title, stage_name: stage, owner_name: owner }
`;

it('changes.csv shows the names of stages and users beside their ids', async () => {
  const service = await sandbox();
  const cwd = await workspace();
  const day = (stage: string, owner: string): Promise<void> =>
    files(cwd, { 'mapping.yaml': MAPPING, 'deals.csv': `id,title,stage,owner\n1,One,${stage},${owner}\n` });
  await day('New', 'Ada Lovelace');
  await migrate(service, join(cwd, 'mapping.yaml'));
  await day('Won', 'Grace Hopper');
  expect((await migrate(service, join(cwd, 'mapping.yaml'))).exit.reason).toBe('changed');
  const text = await readFile(join(cwd, '.backfill/changes/changes.csv'), 'utf8');
  const { pipelines, users } = service.account;
  const won = pipelines[0]!.stages.find(({ name }) => name === 'Won')!.id;
  const grace = users.find(({ names }) => names[0] === 'Grace Hopper')!.id;
  expect(text).toContain(`Sales / Won (${won})`);
  expect(text).toContain(`Grace Hopper (${grace})`);
});
