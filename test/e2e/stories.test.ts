import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { handler as explain } from '../../src/commands/explain.ts';
import { handler as plan } from '../../src/commands/plan.ts';
import { handler as purge } from '../../src/commands/purge.ts';
import { handler as run } from '../../src/commands/run.ts';
import { handler as verify } from '../../src/commands/verify.ts';
import type { RecordStory } from '../../src/report/figures/story.ts';
import type { Summary } from '../../src/report/figures/summary.ts';
import type { Verification } from '../../src/report/figures/verification.ts';
import { call } from '../commands/in-process.ts';
import { filesBelow, workspace } from './harness.ts';

it(
  'after a rehearsal of the demo, plan, verify, explain and purge agree with its summary',
  { timeout: 60_000 },
  async () => {
    const cwd = await workspace('demo');
    const argv = { mapping: join(cwd, 'mapping.yaml'), sandbox: true, json: true };
    const summary = JSON.parse((await call(run, { ...argv, rate: '100000/1s', quiet: true })).stdout) as Summary;

    const lines = (await call(plan, argv)).stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(summary.events.total);
    const states = lines.map((line) => (JSON.parse(line) as { state: string }).state);
    expect(states.filter((state) => state === 'acknowledged')).toHaveLength(summary.events.acknowledged);

    const { entities, exit } = JSON.parse((await call(verify, { ...argv, sample: 'all' })).stdout) as Verification;
    expect(exit).toEqual({ code: 0, reason: 'same' });
    expect(entities.lead!.fields.full_name).toEqual({ same: 26 });
    expect(entities.deal!.fields.stage_id).toMatchObject({ same: 19 });

    const story = JSON.parse((await call(explain, { ...argv, record: 'deal:9700121' })).stdout) as RecordStory;
    expect(story).toMatchObject({ state: 'acknowledged', answers: [{ status: 'acknowledged', outcome: 'created' }] });

    const state = join(cwd, '.backfill/demo.sandbox');
    const name = (await readFile(join(state, 'sandbox.ndjson'), 'utf8')).match(/"full_?name":"([^"]+)"/i)![1]!;
    expect((await call(purge, { mapping: argv.mapping, sandbox: true, yes: true })).code).toBe(0);
    expect(await readdir(state)).not.toContain('checkpoint.db');
    expect([...(await filesBelow(state)).values()].join('\n')).not.toContain(name);
  },
);
