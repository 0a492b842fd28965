// Lost without it: the lines of operations.md could not work as they stand there.
import { execFile, execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Lock } from '../../src/store/lock.ts';
import type { StateDir } from '../../src/files/state-dir.ts';
import { stateDirectory, type GivenState } from '../state.ts';
import { CLI, workspace } from './harness.ts';

const OPERATIONS = new URL('../../mappings/operations.md', import.meta.url);

const hasJq = ((): boolean => {
  try {
    execFileSync('jq', ['--version']);
    return true;
  } catch {
    return false;
  }
})();

/** A run that holds the lock since 10:00 and began to send at 10:01. */
const RUN: GivenState = {
  events: [{ state: 'acknowledged', times: 3 }, { state: 'rejected' }, { state: 'ready', times: 6 }],
  survey: { at: '2026-01-31T10:01:00.000Z' },
  holder: '2026-01-31T10:00:00.000Z',
  runs: [{ at: '2026-01-31T10:01:00.000Z', answers: [] }],
};

let cwd: string;
beforeEach(async () => {
  cwd = await workspace();
});

/** Runs the line of operations.md that contains this text for a state directory. Returns its exit code. */
async function runLine(containing: string, state: StateDir): Promise<number> {
  const text = await readFile(OPERATIONS, 'utf8');
  const [line, ...more] = text
    .split('\n')
    .filter((each) => each.startsWith('crm-backfill') && each.includes(containing));
  expect(line).toBeDefined();
  expect(more).toEqual([]);
  const bin = join(cwd, 'bin');
  await mkdir(bin);
  const program = async (name: string, script: string): Promise<void> => {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  };
  await program('crm-backfill', `exec "${process.execPath}" "${CLI}" "$@" --state "${state.path}"`);
  await program('curl', `echo "$@" > "${join(cwd, 'called')}"`);
  const here = line!.replaceAll('/var/lib/node_exporter', cwd);
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
  return promisify(execFile)('sh', ['-c', here], { env, cwd }).then(
    () => 0,
    (error: { code: number }) => error.code,
  );
}

function hold(state: StateDir): void {
  const lock = Lock.acquire(state);
  onTestFinished(() => lock.release());
}

const title = hasJq ? 'operations.md' : 'operations.md (SKIPPED: jq is not installed)';

describe.skipIf(!hasJq)(title, () => {
  it('has a line that writes the figures of a run for Prometheus', async () => {
    const state = await stateDirectory(RUN);
    hold(state);
    expect(await runLine('node_exporter', state)).toBe(0);
    const lines = (await readFile(join(cwd, 'backfill.prom'), 'utf8')).trimEnd().split('\n');
    for (const line of lines) expect(line).toMatch(/^backfill_[a-z_]+\{migration="acme"\} -?\d+(\.\d+)?$/);
    const of = (name: string): string | undefined =>
      lines
        .find((line) => line.startsWith(`${name}{`))
        ?.split(' ')
        .at(-1);
    const figures = {
      total: '10',
      acknowledged: '3',
      rejected: '1',
      pending: '6',
      left: '6',
      running: '1',
      waiting: '0',
    };
    for (const [name, value] of Object.entries(figures)) expect(of(`backfill_${name}`), name).toBe(value);
    expect(of('backfill_per_minute')).toBeDefined();
  });

  it('has a line that calls a watchdog while a run sends', async () => {
    const state = await stateDirectory(RUN);
    hold(state);
    expect(await runLine('curl', state)).toBe(0);
    expect(await readFile(join(cwd, 'called'), 'utf8')).toContain('https://watchdog.example/acme');
  });

  it.each<[string, GivenState, boolean]>([
    [
      'that waits for the service',
      { runs: [{ ...RUN.runs![0]!, waits: { reason: 'outage', since: '2026-01-31T11:00:00.000Z' } }] },
      true,
    ],
    ['that was killed', {}, false],
  ])('has a line that does not call the watchdog for a run %s', async (_which, given, isHeld) => {
    const state = await stateDirectory({ ...RUN, ...given });
    if (isHeld) hold(state);
    expect(await runLine('curl', state)).toBe(1);
    await expect(readFile(join(cwd, 'called'))).rejects.toThrow('ENOENT');
  });
});
