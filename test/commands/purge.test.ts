// Lost without it: personal data could stay after a purge, or a file of somebody else go.
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { handler as purge } from '../../src/commands/purge.ts';
import { storeVerification } from '../../src/report/files/documents.ts';
import { verification } from '../verify/verification.ts';
import { StateDir } from '../../src/files/state-dir.ts';
import { CHECKPOINT } from '../../src/store/checkpoint-schema.ts';
import { Lock } from '../../src/store/lock.ts';
import type { UserError } from '../../src/errors.ts';
import { Database } from '../../src/store/sqlite.ts';
import { files, workspace } from '../e2e/harness.ts';
import { StateOf } from '../state.ts';
import { call } from './in-process.ts';

const ACCOUNT = { base_url: 'http://127.0.0.1:1', pipelines: [], users: [] };

const FILES = {
  ...{ 'errors.csv': 'Ada', 'verify.csv': 'Ada', 'references.csv': 'Ada', 'report.html.tmp': 'Ada' },
  ...{ 'rejects/people.csv': 'Ada', 'dry-run/plan.db': 'Ada', 'pilot.csv': 'Ada', 'ids.csv': 'lead,1' },
  'left_out.csv': 'people,people.csv,2,17,email,ada(at)',
};
const KEPT = ['checkpoint.db', 'ids.csv'];

/** Without the lock, and without what SQLite keeps beside a database, which goes when it likes. */
async function namesIn(state: string): Promise<string[]> {
  return (await readdir(state)).filter((name) => !/-(?:wal|shm)$|^run\.lock/.test(name)).sort();
}

/** A state directory with every kind of file. */
async function migrated(extra: Readonly<Record<string, string>> = {}): Promise<{ state: string; key: string }> {
  const state = join(await workspace(), 'state');
  const given = await StateOf.create(state);
  given.account(ACCOUNT, 'acme').source('people');
  given.event('lead/created', '1', { full_name: 'Ada' });
  given.event('lead/created', '2', null, { state: 'invalid', raw: { name: 'Bob' } });
  given.event('lead/created', '3', { full_name: 'Carl' }, { state: 'retry' });
  given.event('lead/created', '4', { full_name: 'Dora' }, { state: 'held' });
  given.request('lead/created', '1', { full_name: 'Ada' }, { serviceId: 's1' });
  given.close();
  for (const name of ['rejects', 'dry-run']) await mkdir(join(state, name));
  await files(state, { ...FILES, ...extra });
  return { state, key: given.hasher.key };
}

function purged(state: string, options: Readonly<Record<string, unknown>> = {}) {
  return call(purge, { mapping: 'm.yaml', state, yes: true, ...options });
}

describe('purge', () => {
  it('deletes files with values of records and names of users, and keeps what a rerun needs', async () => {
    const { state } = await migrated();
    const before = await namesIn(state);
    const { code, stdout, stderr } = await purged(state, { json: true });
    expect(code, stderr).toBe(0);
    expect(await namesIn(state)).toEqual(KEPT);
    const gone = before.filter((name) => !KEPT.includes(name));
    const { directories } = JSON.parse(stdout) as {
      directories: { path: string; deleted: string[]; kept: string[] }[];
    };
    expect(directories).toMatchObject([{ path: state, key_deleted: true }]);
    expect(directories[0]!.deleted).toEqual(expect.arrayContaining(gone));
    expect(directories[0]!.kept).toEqual(expect.arrayContaining(KEPT));
    for (const name of gone) expect(stderr).toMatch(new RegExp(`to delete: .*${name}`));
    for (const name of KEPT) expect(stderr).toMatch(new RegExp(`to keep: .*${name}`));
    const db = Database.read(join(state, 'checkpoint.db'), CHECKPOINT)!;
    expect(db.all('select external_id, status from sent')).toEqual([{ external_id: '1', status: 'acknowledged' }]);
    db.close();
  });

  it('says so while somebody reads the checkpoint, whose log keeps the key of the hashes', async () => {
    const { state } = await migrated();
    const path = join(state, 'checkpoint.db');
    const writer = Database.open(path, CHECKPOINT);
    const reader = Database.read(path, CHECKPOINT)!;
    reader.exec('begin');
    reader.get('select count(*) from request');
    writer.run('delete from run where id < 0');
    writer.run(`insert into setting (name, value) values ('x', 'y')`);
    writer.close();
    const { code, stderr } = await purged(state).catch((error: UserError) => ({
      code: error.exitCode,
      stderr: error.message,
    }));
    expect(code, stderr).toBe(1);
    expect(stderr).toContain('checkpoint.db-wal');
    reader.close();
    expect((await purged(state)).stderr).toMatch(/to delete: .*the key of the hashes/);
  });

  it('leaves no trace of the key of the hashes in any file, nor of the digest of the plan', async () => {
    const { state, key } = await migrated();
    const digest = '891f472ef55f';
    const checkpoint = Database.open(join(state, 'checkpoint.db'), CHECKPOINT);
    storeVerification(checkpoint, verification({ plan: { digest, is_dry_run: false } }));
    checkpoint.close();
    const contents = async (): Promise<string> =>
      (
        await Promise.all(
          (await readdir(state))
            .filter((name) => name.startsWith('checkpoint'))
            .map((name) => readFile(join(state, name), 'latin1')),
        )
      ).join();
    for (const each of [key, digest]) expect(await contents()).toContain(each);
    const { stderr } = await purged(state);
    expect(stderr).toContain('the key of the hashes in checkpoint.db');
    for (const each of [key, digest]) expect(await contents()).not.toContain(each);
    expect(await contents()).toContain('s1');
  });

  it('deletes no unknown files, and nothing outside the directory', async () => {
    const { state } = await migrated({ 'notes.txt': 'mine' });
    const outside = await workspace('demo');
    await rm(join(state, 'rejects'), { recursive: true });
    await symlink(outside, join(state, 'rejects'));
    const { stderr } = await purged(state);
    expect(await readFile(join(state, 'notes.txt'), 'utf8')).toBe('mine');
    expect(stderr).toMatch(/not written by this program.*notes\.txt/);
    expect(await readdir(state)).not.toContain('rejects');
    expect(await readdir(outside)).toContain('mapping.yaml');
  });

  it('touches no directory that this program has not used', async () => {
    const foreign = await workspace();
    const theirs = {
      'report.html': 'mine',
      'run.log': 'mine\n',
      'run.lock': '',
      'checkpoint.db': '',
      'plan.db': 'mine',
    };
    await files(foreign, theirs);
    await mkdir(join(foreign, 'rejects'));
    const { code, stderr } = await purged(foreign);
    expect(code).toBe(2);
    expect(stderr).toContain('is not a state directory');
    expect((await readdir(foreign)).sort()).toEqual([...Object.keys(theirs), 'rejects'].sort());
  });

  it('of a migration purges the rehearsals of the same mapping too, and names both', async () => {
    const cwd = await workspace();
    const mapping = join(cwd, 'm.yaml');
    await files(cwd, {
      'm.yaml':
        'version: 1\nmigration: m\nsources: { p: { path: p.csv } }\nevents: [{ type: lead/created, source: p, data: { external_id: id } }]\n',
    });
    const states = ['.backfill/m', '.backfill/m.sandbox'].map((name) => join(cwd, name));
    for (const state of states) {
      const given = await StateOf.create(state);
      given.account(ACCOUNT, 'm').source('p');
      given.request('lead/created', '1', { full_name: 'Ada' }, { serviceId: 's1' });
      given.close();
      await files(state, { 'errors.csv': 'Ada', ...(state.endsWith('.sandbox') && { 'sandbox.ndjson': 'Ada' }) });
    }
    const { code, stderr } = await call(purge, { mapping, yes: true });
    expect(code, stderr).toBe(0);
    for (const state of states) expect(stderr.replace(/\s+/g, '')).toContain(`in${state}:`);
    expect(await namesIn(states[0]!)).toEqual(['checkpoint.db']);
    expect(await namesIn(states[1]!)).toEqual([]);
  });

  it('refuses while a run uses the state directory', async () => {
    const { state } = await migrated();
    const lock = Lock.acquire(await StateDir.existing(state));
    onTestFinished(() => lock.release());
    const { code, stderr } = await purged(state);
    expect(code).toBe(3);
    expect(stderr).toContain('another run is using');
    expect(await readdir(state)).toContain('errors.csv');
  });
});

describe('purge, when it asks for confirmation,', () => {
  // `script` provides a terminal, but not every system has it.
  const script = spawnSync('script', ['--version']).status === 0;
  it.runIf(script).each([
    ['y', 0, false],
    ['n', 2, true],
    ['', 2, true],
  ])('follows the answer `%s` from a terminal', async (answer, code, isKept) => {
    const { state } = await migrated();
    const cli = join(import.meta.dirname, '../../dist/cli.js');
    const command = `'${process.execPath}' '${cli}' purge m.yaml --state '${state}'`;
    const ended = spawnSync('script', ['-qec', command, '/dev/null'], { input: `${answer}\n`, encoding: 'utf8' });
    expect(ended.status, ended.stdout).toBe(code);
    expect(ended.stdout).toContain('Delete? This cannot be undone.');
    expect((await readdir(state)).includes('errors.csv')).toBe(isKept);
  });
});
