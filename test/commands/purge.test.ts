import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { purge } from '../../src/commands/purge.ts';
import { report } from '../../src/commands/report.ts';
import { run } from '../../src/commands/run.ts';
import { status } from '../../src/commands/status.ts';
import { verify } from '../../src/commands/verify.ts';
import type { Summary } from '../../src/report/summary.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { Lock } from '../../src/lock.ts';
import { StateDir } from '../../src/state-dir.ts';
import { backfill, files, filesBelow, sandbox, workspace } from '../e2e/harness.ts';
import { call, envFile } from './in-process.ts';

/** The demo after a dry run, a run, a verification and a report: every file that can exist. */
async function migrated(service: Sandbox): Promise<{ mapping: string; state: string; argv: Record<string, unknown> }> {
  const cwd = await workspace('demo');
  const mapping = join(cwd, 'mapping.yaml');
  const argv = { mapping, envFile: await envFile(service), rate: '100000/1s', quiet: true };
  await call(run, { ...argv, dryRun: true });
  await call(run, argv);
  await call(verify, argv);
  await call(report, { mapping, withValues: true });
  return { mapping, state: join(cwd, '.backfill/demo'), argv };
}

async function totalsIn(state: string): Promise<Summary['totals']> {
  return (JSON.parse(await readFile(join(state, 'summary.json'), 'utf8')) as Summary).totals;
}

describe('purge', () => {
  it('deletes files with values of records and names of users, and keeps what a rerun needs', async () => {
    const service = await sandbox();
    const { mapping, state, argv } = await migrated(service);
    await mkdir(join(state, 'fixes'));
    await writeFile(join(state, 'fixes/contacts.0001.csv'), 'x');
    await writeFile(join(state, 'report.html.tmp'), 'half a page');
    const totals = await totalsIn(state);
    const before = await readdir(state);
    expect(before).toEqual(expect.arrayContaining(['account.json', 'dry-run', 'errors.csv', 'rejects', 'verify.csv']));

    const { code, stderr } = await call(purge, { mapping, yes: true });
    expect(code, stderr).toBe(0);
    const kept = [
      'checkpoint.ndjson',
      'ids.csv',
      'mapping.json',
      'metrics.prom',
      'rate.ndjson',
      'run.log',
      'summary.json',
      'survey.json',
    ];
    expect((await readdir(state)).sort()).toEqual(kept);
    const gone = before.filter((name) => !kept.includes(name));
    for (const name of gone) expect(stderr).toContain(`to delete  ${name}:`);
    for (const name of kept) expect(stderr).toContain(`to keep    ${name}:`);

    // Nothing is left of a record but its ids, and no name of a user.
    const left = [...(await filesBelow(state)).values()].join('\n');
    for (const { fullName, email, phoneNumber } of service.state().leads) {
      for (const value of [fullName, email, phoneNumber]) if (value) expect(left).not.toContain(value);
    }
    for (const { names } of service.account.users) expect(left).not.toContain(names[0]);
    expect(totals.length).toBeGreaterThan(4);
    expect(await totalsIn(state)).toEqual(totals.map((total) => ({ ...total, from_owner: null, owner: null })));

    const posts = service.requests().filter(({ method }) => method === 'POST').length;
    const again = await call(run, { ...argv, json: true });
    expect(JSON.parse(again.stdout)).toMatchObject({ this_run: { events_sent: 0 } });
    expect(service.requests().filter(({ method }) => method === 'POST')).toHaveLength(posts);
  });

  it('leaves status and report working', async () => {
    const { mapping } = await migrated(await sandbox());
    await call(purge, { mapping, yes: true });
    expect((await call(status, { mapping })).code).toBe(0);
    expect((await call(report, { mapping })).code).toBe(0);
  });

  it('has nothing to delete the second time', async () => {
    const { mapping, state } = await migrated(await sandbox());
    await call(purge, { mapping, yes: true });
    const before = await filesBelow(state);
    const { code, stderr } = await call(purge, { mapping, yes: true });
    expect(code).toBe(0);
    expect(stderr).toContain('nothing to delete');
    expect(await filesBelow(state)).toEqual(before);
  });

  it('warns that rejects of events that were not accepted are deleted too', async () => {
    const { mapping, state } = await migrated(await sandbox());
    const summary = JSON.parse(await readFile(join(state, 'summary.json'), 'utf8')) as Summary;
    const { invalid, rejected, blocked } = summary.events;
    const { stderr } = await call(purge, { mapping, yes: true });
    expect(stderr).toContain(`warning: ${invalid + rejected + blocked} events not accepted`);
    expect(stderr).not.toContain('not sent yet');
  });

  it('counts events that were not sent apart from events that were not accepted', async () => {
    const cwd = await workspace('demo');
    const mapping = join(cwd, 'mapping.yaml');
    const argv = { mapping, envFile: await envFile(await sandbox()), rate: '100000/1s', quiet: true, json: true };
    const { events } = JSON.parse((await call(run, { ...argv, only: 'lead/created' })).stdout) as Summary;
    expect(events.pending).toBeGreaterThan(0);
    // A run that was killed wrote no summary.
    for (const killed of [false, true]) {
      if (killed) await rm(join(cwd, '.backfill/demo/summary.json'));
      await writeFile(join(cwd, '.backfill/demo/omitted.csv'), 'x');
      const { stderr } = await call(purge, { mapping, yes: true });
      expect(stderr).toContain(`warning: ${events.invalid + events.rejected + events.blocked} event`);
      expect(stderr).toContain(`warning: ${events.pending} events not sent yet`);
    }
  });

  it('deletes no unknown files, and nothing outside the directory', async () => {
    const { mapping, state } = await migrated(await sandbox());
    const outside = await workspace('demo');
    await writeFile(join(state, 'notes.txt'), 'mine');
    await symlink(outside, join(state, 'fixes'));
    const { stderr } = await call(purge, { mapping, yes: true });
    expect(await readFile(join(state, 'notes.txt'), 'utf8')).toBe('mine');
    expect(stderr).toContain('notes.txt: not written by this program');
    expect(await readdir(state)).not.toContain('fixes');
    expect(await readdir(outside)).toContain('mapping.yaml');
  });

  it('touches no directory that this program has not used', async () => {
    const foreign = await workspace();
    const theirs = { 'report.html': 'mine', 'run.log': 'mine\n', 'lock.json': '{}', 'checkpoint.ndjson': '{}\n' };
    await files(foreign, theirs);
    await mkdir(join(foreign, 'rejects'));
    const { code, stderr } = await call(purge, { mapping: 'x.yaml', state: foreign, yes: true });
    expect(code).toBe(2);
    expect(stderr).toContain('is not a state directory');
    expect((await readdir(foreign)).sort()).toEqual([...Object.keys(theirs), 'rejects'].sort());
  });

  it('deletes the files of a migration that has only been rehearsed by a dry run', async () => {
    const service = await sandbox();
    const mapping = join(await workspace('demo'), 'mapping.yaml');
    await call(run, { mapping, envFile: await envFile(service), rate: '100000/1s', quiet: true, dryRun: true });
    const { code, stderr } = await call(purge, { mapping, yes: true });
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('deleted dry-run');
  });

  it('refuses while a run uses the state directory', async () => {
    const { mapping, state } = await migrated(await sandbox());
    const lock = await Lock.acquire(await StateDir.existing(state), { takeOver: false });
    onTestFinished(() => lock.release());
    const { code, stderr } = await call(purge, { mapping, yes: true });
    expect(code).toBe(3);
    expect(stderr).toContain('in use');
    expect(await readdir(state)).toContain('errors.csv');
  });
});

describe('purge, when it asks for confirmation,', () => {
  it('deletes nothing without a terminal, and says what to add', async () => {
    const { mapping, state } = await migrated(await sandbox());
    const ended = await backfill(['purge', mapping], { cwd: state });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('--yes');
    expect(await readdir(state)).toContain('errors.csv');
    expect(await readdir(state)).not.toContain('lock.json');
  });

  // `script` provides a terminal, but not every system has it.
  const script = spawnSync('script', ['--version']).status === 0;
  it.runIf(script).each([
    ['y', 0, false],
    ['n', 2, true],
    ['', 2, true],
  ])('follows the answer `%s` from a terminal', async (answer, code, isKept) => {
    const { mapping, state } = await migrated(await sandbox());
    const cli = join(import.meta.dirname, '../../dist/cli.js');
    const command = `'${process.execPath}' '${cli}' purge '${mapping}'`;
    const ended = spawnSync('script', ['-qec', command, '/dev/null'], { input: `${answer}\n`, encoding: 'utf8' });
    expect(ended.status, ended.stdout).toBe(code);
    expect(ended.stdout).toContain('Delete? This cannot be undone.');
    expect((await readdir(state)).includes('errors.csv')).toBe(isKept);
  });

  it('reports that there is no state directory if nothing ran yet', async () => {
    const cwd = await workspace('demo');
    const { code, stderr } = await call(purge, { mapping: join(cwd, 'mapping.yaml'), yes: true });
    expect(code).toBe(2);
    expect(stderr).toContain('no state directory');
  });
});
