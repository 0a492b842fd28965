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

/** A run of the first rows, then one of the second rows; then the checkpoint of the first is put back. */
async function olderAfter(first: readonly string[], second: readonly string[], policies?: string): Promise<Place> {
  const place = await migration(policies);
  await place.export(...first);
  await place.run();
  const putBack = await place.backup();
  await place.export(...second);
  await place.run();
  await putBack();
  return place;
}

function changesIn({ state }: Place): unknown[] {
  const db = Database.read(state('plan.db'), PLAN)!;
  onTestFinished(() => db.close());
  return db.all('select external_id, field, verdict from change order by id');
}

describe('a checkpoint that is older than the plan beside it', () => {
  it('stops the run, again and again, before anything is sent', async () => {
    const place = await olderAfter(['1,Ada,Roma'], ['1,Ada Lovelace,Roma']);
    await place.export('1,Ada,Roma', '3,Alan,Bari');
    for (let times = 0; times < 2; times += 1) {
      await expect(place.run()).rejects.toMatchObject({ exitCode: 3 });
    }
    expect(place.names()).toEqual(['Ada Lovelace']);
  });

  it('stops the run where the plan is gone, too, at the first answer that it does not explain', async () => {
    const place = await olderAfter(['1,Ada,Roma'], ['1,Ada,Roma', '2,Grace,Pisa']);
    await rm(place.state('plan.db'));
    for (let times = 0; times < 2; times += 1) {
      expect((await place.run()).exit).toEqual({ code: 3, reason: 'unknown_history' });
    }
    expect((await place.run({ adopt: true })).exit.code).toBe(0);
    expect(place.names()).toEqual(['Ada', 'Grace']);
  });

  it('does not send comments again that went out combined, and a dry run shows the same plan', async () => {
    const service = await sandbox();
    const cwd = await workspace();
    const notes = (...ids: string[]): Promise<void> =>
      files(cwd, { 'notes.csv': `id,text\n${ids.map((id) => `${id},Text ${id}\n`).join('')}` });
    await files(cwd, {
      'mapping.yaml': `version: 1
migration: older
sources: { leads: { path: leads.csv }, notes: { path: notes.csv } }
events:
  - { type: lead/created, source: leads, data: { external_id: id } }
  - { type: comment/created, source: notes, combine: { heading: "" }, data: { external_id: id, content: text, lead_external_id: { value: "1" } } }
`,
      'leads.csv': 'id\n1\n',
    });
    const run = (options?: Options): Promise<Summary> => migrate(service, join(cwd, 'mapping.yaml'), options);
    const texts = (): string[] =>
      service
        .state()
        .comments.map((each) => (each as unknown as { content: string }).content.replaceAll('\n\n', ', '))
        .sort();
    await notes('n1');
    await run();
    const state = join(cwd, '.backfill/older/checkpoint.db');
    const db = Database.open(state, CHECKPOINT);
    db.run('vacuum checkpoint into ?', join(cwd, 'copy.db'));
    db.close();
    await notes('n1', 'n2', 'n3');
    await run();
    for (const suffix of ['-wal', '-shm']) await rm(`${state}${suffix}`, { force: true });
    await copyFile(join(cwd, 'copy.db'), state);
    await notes('n0', 'n1', 'n2', 'n3');
    const { plan } = await run({ dryRun: true });
    await expect(run()).rejects.toMatchObject({ exitCode: 3 });
    // What the dry run showed is what --adopt sends: the same parts are left out.
    expect((await run({ adopt: true, plan: plan!.digest })).exit.code).toBe(0);
    expect(texts()).toEqual(['Text n0', 'Text n1', 'Text n2, Text n3']);
    expect(await run()).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
  });

  it('is not believed: what it calls unchanged is read back, and a difference is reported', async () => {
    const place = await olderAfter(['1,Ada,Roma', '2,Grace,Pisa'], ['1,Ada Lovelace,Roma', '2,Grace,Pisa']);
    // The export is as it was when the copy was made, and the service is not.
    await place.export('1,Ada,Roma', '2,Grace,Pisa');
    const { exit } = await place.run({ adopt: true });
    expect(exit).toEqual({ code: 1, reason: 'changed' });
    expect(place.names()).toEqual(['Ada Lovelace', 'Grace']);
    expect(changesIn(place)).toMatchObject([{ external_id: '1', field: 'full_name' }]);
  });

  it('sends nothing that the service shows already, and is believed again once it was read back', async () => {
    const place = await olderAfter(['1,Ada,Roma'], ['1,Ada,Roma', '2,Grace,Pisa']);
    const again = await place.run({ adopt: true });
    expect(again).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
    expect(place.names()).toEqual(['Ada', 'Grace']);
    const last = await place.run();
    expect(last).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
  });

  it('overwrites what is there if the mapping says so', async () => {
    const place = await olderAfter(
      ['1,Ada,Roma'],
      ['1,Ada Lovelace,Roma'],
      'if_changed: update\n    if_edited: overwrite',
    );
    await place.export('1,Ada,Roma');
    expect((await place.run({ adopt: true })).exit.code).toBe(0);
    expect(place.names()).toEqual(['Ada']);
  });

  it('is left as it is by a dry run', async () => {
    const place = await olderAfter(['1,Ada,Roma'], ['1,Ada Lovelace,Roma']);
    await place.run({ dryRun: true });
    const db = Database.read(place.state('checkpoint.db'), CHECKPOINT)!;
    onTestFinished(() => db.close());
    expect(db.all('select is_adopted from migration')).toEqual([{ is_adopted: 0 }]);
  });
});
