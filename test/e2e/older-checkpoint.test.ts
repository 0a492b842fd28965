import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Database } from '../../src/store/sqlite.ts';
import { PLAN } from '../../src/store/plan-schema.ts';
import { CHECKPOINT } from '../../src/store/checkpoint-schema.ts';
import { migrate, type Options } from '../faults/in-process.ts';
import type { Summary } from '../../src/report/summary.ts';
import { files, sandbox, workspace } from './harness.ts';

const MAPPING = (policies: string): string => `version: 1
migration: older
sources:
  leads: { path: leads.csv }
events:
  - type: lead/created
    source: leads
    data: { external_id: id, full_name: name, custom_params: { city: city } }
    ${policies}
`;

interface Place {
  readonly export: (...rows: string[]) => Promise<void>;
  readonly run: (options?: Options) => Promise<Summary>;
  readonly names: () => unknown[];
  readonly state: (name: string) => string;
  /** A copy of the checkpoint as it is now; the function that is returned puts it back. */
  readonly backup: () => Promise<() => Promise<void>>;
}

async function migration(policies = 'if_changed: update'): Promise<Place> {
  const service = await sandbox();
  const cwd = await workspace();
  await files(cwd, { 'mapping.yaml': MAPPING(policies) });
  const state = (name: string): string => join(cwd, '.backfill/older', name);
  return {
    export: (...rows) => files(cwd, { 'leads.csv': ['id,name,city', ...rows, ''].join('\n') }),
    run: (options) => migrate(service, join(cwd, 'mapping.yaml'), options),
    names: () => service.state().leads.map(({ fullName }) => fullName),
    state,
    backup: async () => {
      const db = Database.open(state('checkpoint.db'), CHECKPOINT);
      db.run('vacuum checkpoint into ?', join(cwd, 'copy.db'));
      db.close();
      return async () => {
        for (const suffix of ['-wal', '-shm']) await rm(`${state('checkpoint.db')}${suffix}`, { force: true });
        await copyFile(join(cwd, 'copy.db'), state('checkpoint.db'));
      };
    },
  };
}

function changesIn({ state }: Place): unknown[] {
  const db = Database.read(state('plan.db'), PLAN)!;
  onTestFinished(() => db.close());
  return db.all('select external_id, field, verdict from change order by id');
}

describe('a checkpoint that is older than the plan beside it', () => {
  it('is not believed: what it calls unchanged is read back, and a difference is reported', async () => {
    const place = await migration();
    await place.export('1,Ada,Roma', '2,Grace,Pisa');
    await place.run();
    const putBack = await place.backup();
    await place.export('1,Ada Lovelace,Roma', '2,Grace,Pisa');
    await place.run();
    await putBack();

    // The export is as it was when the copy was made, and the service is not.
    await place.export('1,Ada,Roma', '2,Grace,Pisa');
    const { exit } = await place.run();
    expect(exit).toEqual({ code: 1, reason: 'changed' });
    expect(place.names()).toEqual(['Ada Lovelace', 'Grace']);
    expect(changesIn(place)).toMatchObject([{ external_id: '1', field: 'full_name' }]);
  });

  it('sends nothing that the service shows already, and is believed again once it was read back', async () => {
    const place = await migration();
    await place.export('1,Ada,Roma');
    await place.run();
    const putBack = await place.backup();
    await place.export('1,Ada,Roma', '2,Grace,Pisa');
    await place.run();
    await putBack();

    const again = await place.run();
    expect(again).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
    expect(place.names()).toEqual(['Ada', 'Grace']);
    const last = await place.run();
    expect(last).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
  });

  it('overwrites what is there if the mapping says so', async () => {
    const place = await migration('if_changed: update\n    if_edited: overwrite');
    await place.export('1,Ada,Roma');
    await place.run();
    const putBack = await place.backup();
    await place.export('1,Ada Lovelace,Roma');
    await place.run();
    await putBack();

    await place.export('1,Ada,Roma');
    expect((await place.run()).exit.code).toBe(0);
    expect(place.names()).toEqual(['Ada']);
  });

  it('is left as it is by a dry run', async () => {
    const place = await migration();
    await place.export('1,Ada,Roma');
    await place.run();
    const putBack = await place.backup();
    await place.export('1,Ada Lovelace,Roma');
    await place.run();
    await putBack();
    await place.run({ dryRun: true });
    const db = Database.read(place.state('checkpoint.db'), CHECKPOINT)!;
    onTestFinished(() => db.close());
    expect(db.all('select is_adopted from migration')).toEqual([{ is_adopted: 0 }]);
  });
});
