// Lost without it: a kill while the plan is replaced could leave a state that no run can use.
import { expect, it } from 'vitest';
import { useFastClock } from '../clock.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { FAST, project, start, summaryOf } from './harness.ts';

useFastClock();

/**
 * A program to import first: kills the process at the moment that is given, when the plan of this survey takes the place of
 * the one before.
 */
const killAtRename = (moment: string): string => `
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const { renameSync, rmSync } = fs;
  const die = () => process.kill(process.pid, 'SIGKILL');
  fs.rmSync = (path, options) => {
    if ('${moment}' === 'log' && String(path).endsWith('plan.db-wal')) die();
    rmSync(path, options);
  };
  fs.renameSync = (from, to) => {
    const isPlan = String(to).endsWith('plan.db');
    if (isPlan && '${moment}' === 'before') die();
    renameSync(from, to);
    if (isPlan && '${moment}' === 'after') die();
  };
  syncBuiltinESMExports();`;

it.each([
  ['before the log of the plan before is removed', 'log'],
  ['immediately before the rename', 'before'],
  ['immediately after the rename', 'after'],
])('goes on after it was killed while a new plan took the place of the old one: %s', async (_when, moment) => {
  const { service, cwd, env, summary, command, stoppedAfter } = await project('demo');
  // A run that stopped halfway: its plan and its checkpoint are in use.
  const first = await stoppedAfter(17);
  expect(first.events.acknowledged).toBeGreaterThan(0);
  const sent = new Set(idsOf(service));

  const preload = `--import=data:text/javascript,${encodeURIComponent(killAtRename(moment))}`;
  const args = ['run', 'mapping.yaml', '--json', ...FAST];
  const killed = await start(args, { cwd, env: { ...env, NODE_OPTIONS: preload } }).ended;
  expect(killed.signal, killed.stderr).toBe('SIGKILL');
  expect(new Set(idsOf(service))).toEqual(sent);

  const status = await command('status', '--json');
  expect(summaryOf(status).events.acknowledged, status.stderr).toBe(first.events.acknowledged);
  const last = await summary();
  expect(last.events.pending).toBe(0);
  expect(last.this_run.already_acknowledged).toBe(first.events.acknowledged);
  expect(idsOf(service)).toHaveLength(new Set(idsOf(service)).size);
});

/** The ids of all events that were sent and not refused, in their order. */
function idsOf(service: Sandbox): unknown[] {
  const posts = service.requests().filter(({ method, status }) => method === 'POST' && status !== 401);
  return posts.map(({ body }) => (body as { id: unknown }).id);
}
