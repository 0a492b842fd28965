import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../../src/commands/run.ts';
import type { Summary } from '../../src/report/summary.ts';
import { sandbox, workspace } from '../e2e/harness.ts';
import { call, envFile } from './in-process.ts';

it('a dry run with --pilot says what the pilot covers, in the survey and in the summary, and shows its events', async () => {
  const cwd = await workspace('demo');
  const { stdout, stderr } = await call(run, {
    mapping: join(cwd, 'mapping.yaml'),
    envFile: await envFile(await sandbox()),
    dryRun: true,
    json: true,
    pilot: '3',
  });
  const { pilot } = JSON.parse(stdout) as Summary;
  expect(pilot).toMatchObject({ records: 3, features: { entry: { covered: 3, occurring: 3 } } });
  const text = stderr.replaceAll(/\s+/g, ' ');
  expect(text).toContain(`pilot of 3 records, ${pilot!.events} events with their parents: 3 of 3 entries`);
  expect(text).toContain('in the input but not in the pilot: ');
  const shown = stderr.slice(stderr.indexOf('lead/created, picked:')).split('\n\n')[0]!;
  expect([...shown.matchAll(/"external_id"/g)]).toHaveLength(pilot!.events);
});
