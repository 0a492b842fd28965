import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { loadMapping } from '../../src/mapping/load.ts';
import { Halt } from '../../src/halt.ts';
import { pass, type PassJob } from '../../src/plan/pass.ts';
import { surveyMigration } from '../../src/plan/setup.ts';
import { Redactor } from '../../src/redact.ts';
import { RunLog } from '../../src/run-log.ts';
import { runSettings } from '../../src/settings.ts';
import { StateDir } from '../../src/state-dir.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'backfill-pass-'));
  onTestFinished(() => rm(directory, { recursive: true }));
});

const MAPPING = `version: 1
migration: passes
sources: { people: { path: people.csv } }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name, email: email }
`;

/** A survey of so many leads, every tenth of which is invalid for want of an id, and what its passes need. */
async function surveyed(count: number): Promise<PassJob> {
  const rows = Array.from({ length: count }, (_, id) => `${id % 10 === 9 ? '' : id},Name ${id},${id}@a.test`);
  await writeFile(join(directory, 'people.csv'), `id,name,email\n${rows.join('\n')}\n`);
  const path = join(directory, 'mapping.yaml');
  await writeFile(path, MAPPING);
  const mapping = await loadMapping(path, { sources: new Map() });
  const state = await StateDir.create(join(directory, 'state'));
  const log = await RunLog.open(state.file('run.log'), new Redactor());
  const found = await surveyMigration({
    settings: runSettings({ mapping: path, dryRun: true, offline: true }),
    mapping,
    state,
    output: state,
    target: undefined,
    offlineAccount: undefined,
    halt: new Halt(),
    log,
    trouble: () => undefined,
  });
  onTestFinished(() => Promise.all([log.close(), found.report.close()]).then(() => undefined));
  return { ...found, ...mapping, sources: found.input.sources, ledger: found.checkpoint.ledger, goesOn: () => true };
}

/** External ids in the order in which a pass hands the events over. */
async function handedOver(job: PassJob): Promise<number[]> {
  const ids: number[] = [];
  await pass(job, 'lead/created', 'ready', ({ event }) => void ids.push(Number(event.externalId)));
  return ids;
}

function valid(count: number): number[] {
  return Array.from({ length: count }, (_, id) => id).filter((id) => id % 10 !== 9);
}

describe('a pass', () => {
  it.each([10, 1111, 1112, 5000])('hands over each of %i due events once, in order', async (count) => {
    // None is settled meanwhile: those on their way still stand at `ready`.
    expect(await handedOver(await surveyed(count))).toEqual(valid(count));
  });

  it('needs not read the input again where the survey kept all that is due', async () => {
    const job = await surveyed(1000);
    await rm(join(directory, 'people.csv'));
    expect(await handedOver(job)).toEqual(valid(1000));
  });

  it('hands over none that was settled since the survey', async () => {
    const job = await surveyed(3000);
    for (const ordinal of [0, 5, 2990]) job.plan.settle('lead/created', ordinal, 'held');
    expect(await handedOver(job)).toEqual(valid(3000).filter((id) => ![0, 5, 2990].includes(id)));
  });

  it('stops between events that were kept, and begins no reading then', async () => {
    const job = await surveyed(2000);
    let left = 3;
    expect(await handedOver({ ...job, goesOn: () => left-- > 0 })).toEqual([0, 1, 2]);
  });
});
