import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { csv, MAPPING, recordsOf } from '../pipeline/troubled.ts';
import { ONE_CORE } from '../one-core.ts';
import { backfill, files, filesBelow, summaryOf, workspace } from './harness.ts';

it('a survey says the same with a second thread as on a machine of one core', async () => {
  const directory = await workspace();
  await files(directory, {
    'records.csv': csv(recordsOf(100_000)),
    'mapping.yaml': MAPPING.replace('FILE', 'records.csv'),
  });
  const survey = async (env: Record<string, string>) => {
    const args = ['run', 'mapping.yaml', '--dry-run', '--offline', '--state', 'state', '--json'];
    const ended = await backfill(args, { cwd: directory, env });
    const { started_at: _started, finished_at: _finished, this_run: _time, ...summary } = summaryOf(ended);
    const written = [...(await filesBelow(join(directory, 'state')))].sort();
    await rm(join(directory, 'state'), { recursive: true });
    const [, batches] = /"event":"mapping_thread","batches":(\d+)/.exec(textOf(written, 'run.log')) ?? [];
    const reports = written.filter(([path]) => /\.(?:csv|ndjson)$/.test(path));
    // When all would be sent is told to the minute, and one may pass between the two.
    const stderr = ended.stderr.replace(/until .+ if begun/, 'until then if begun');
    return { batches: Number(batches ?? 0), stderr, summary, reports };
  };
  const alone = await survey({ NODE_OPTIONS: `--import=${ONE_CORE}` });
  const helped = await survey({});
  expect(alone.batches).toBe(0);
  expect(helped.batches).toBeGreaterThan(0);
  expect(alone.reports.map(([path]) => basename(path)).sort()).toEqual([
    'errors.csv',
    'errors.ndjson',
    'omitted.csv',
    'records.csv',
  ]);
  expect(helped.summary).toEqual(alone.summary);
  expect(helped.stderr).toBe(alone.stderr);
  const [mine, theirs] = [linesOf(helped.reports), linesOf(alone.reports)];
  expect(mine.filter((line, index) => line !== theirs[index])).toEqual([]);
  expect(mine.length).toBe(theirs.length);
});

type Written = readonly (readonly [path: string, text: string])[];

/** Without the times at which they were written. */
function linesOf(written: Written): string[] {
  return written.flatMap(([path, text]) => [path, ...text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '').split('\n')]);
}

function textOf(written: Written, name: string): string {
  return written.find(([path]) => basename(path) === name)![1];
}
