import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { status } from '../../src/commands/status.ts';
import { Lock } from '../../src/lock.ts';
import { StateDir } from '../../src/state-dir.ts';
import { workspace } from '../e2e/harness.ts';
import { call } from './in-process.ts';

const MINUTE = 60_000;

/** A state directory with a run under way: `settled` are the ages of its answers in milliseconds. */
async function underWay(settled: readonly number[], surveyAge: number, rate: object): Promise<string> {
  const cwd = await workspace('demo');
  const state = join(cwd, '.backfill/demo');
  await mkdir(state, { recursive: true });
  const at = (age: number): string => new Date(Date.now() - age).toISOString();
  const counts = { total: 1000, acknowledged: 0, duplicates: 0, invalid: 0, rejected: 0, blocked: 0, pending: 1000 };
  const survey = {
    migration: 'demo',
    base_url: 'https://crm.example',
    at: at(surveyAge),
    records: { read: 1000, mapped: 1000, skipped: 0, unreadable: 0 },
    by_type: { 'lead/created': counts },
    to_send: 1000,
    rate,
  };
  await writeFile(join(state, 'survey.json'), JSON.stringify(survey));
  const lines = settled.map((age) =>
    JSON.stringify({
      id: randomUUID(),
      type: 'lead/created',
      external_id: randomUUID(),
      status: 'acknowledged',
      outcome: 'created',
      entity_id: randomUUID(),
      code: null,
      content_sha: 'x',
      fields: {},
      at: at(age),
    }),
  );
  await writeFile(join(state, 'checkpoint.ndjson'), `${lines.join('\n')}\n`);
  const lock = await Lock.acquire(await StateDir.existing(state), { takeOver: false });
  onTestFinished(() => lock.release());
  return join(cwd, 'mapping.yaml');
}

interface Shown {
  readonly per_minute: number;
  readonly left: number;
}

async function shown(mapping: string): Promise<Shown> {
  return JSON.parse((await call(status, { mapping, json: true })).stdout) as Shown;
}

it('status shows the speed of the run, without the answers of the run before it', async () => {
  const earlier = Array.from({ length: 200 }, () => 3 * MINUTE);
  const own = Array.from({ length: 100 }, () => MINUTE);
  const { per_minute, left } = await shown(
    await underWay([...earlier, ...own], 2 * MINUTE, { requests: 50, seconds: 60 }),
  );
  expect(left).toBe(900);
  expect(per_minute).toBeCloseTo(50, 0);
});

it('status estimates the time left from the rate of the run before its first window is over', async () => {
  const mapping = await underWay(
    Array.from({ length: 50 }, () => 1_000),
    5_000,
    { requests: 50, seconds: 600 },
  );
  const { stdout } = await call(status, { mapping });
  // 950 events at 50 in ten minutes, as the progress of the run says.
  expect(stdout).toContain('950 left, about 3 h 10 min');
});
