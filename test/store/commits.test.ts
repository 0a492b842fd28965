// Lost without it: a request could go out before its row is on disk.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Halt } from '../../src/halt.ts';
import { credentials } from '../../src/settings/credentials.ts';
import { Redactor } from '../../src/redact.ts';
import { runMigration } from '../../src/run/run.ts';
import { runSettings } from '../../src/settings/run-settings.ts';
import { CHECKPOINT } from '../../src/store/checkpoint-schema.ts';
import { Commits } from '../../src/store/commits.ts';
import { Database, type Schema } from '../../src/store/sqlite.ts';
import { environmentOf, files, sandbox, workspace } from '../e2e/harness.ts';
import { listening } from '../service/scripted-server.ts';

const NOTES: Schema = {
  name: 'notes',
  applicationId: 1,
  version: 1,
  tables: 'create table note (text text not null unique) strict;\n',
};

describe('the changes of one tick', () => {
  let db: Database;
  let commits: Commits;
  beforeEach(() => {
    db = Database.inMemory(NOTES);
    commits = new Commits(db);
  });
  const write = (text: string): Promise<void> => commits.commit(() => void db.run('insert into note values (?)', text));
  const written = (): string[] => db.all<{ text: string }>('select text from note').map(({ text }) => text);

  it('become one transaction, in their order, and each resolves once it is committed', async () => {
    const changes = ['a', 'b', 'c'].map((text) => write(text).then(written));
    expect(written()).toEqual([]);
    expect(await Promise.all(changes)).toEqual(Array(3).fill(['a', 'b', 'c']));
  });

  it('are committed at once by a flush', async () => {
    const change = write('a');
    commits.flush();
    expect(written()).toEqual(['a']);
    await change;
  });

  it('all fail if one fails, leave nothing behind, and nothing is written from then on', async () => {
    await write('before');
    const tick = await Promise.allSettled([write('a'), write('before'), write('b')]);
    expect(tick.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await expect(write('later')).rejects.toThrow('UNIQUE constraint failed');
    expect(written()).toEqual(['before']);
  });

  it('fail if the files are no longer in their place', async () => {
    let isGone = false;
    const assertInPlace = (): void => {
      if (isGone) throw new Error('gone');
    };
    commits = new Commits(db, assertInPlace);
    await write('a');
    isGone = true;
    await expect(write('b')).rejects.toThrow('gone');
    isGone = false;
    await expect(write('c')).rejects.toThrow('gone');
    expect(written()).toEqual(['a']);
  });
});

it('fail where another program holds a transaction on the file for too long', async () => {
  const path = join(await workspace(), 'notes.db');
  const [ours, theirs] = [Database.open(path, NOTES, 'pragma busy_timeout = 20'), Database.open(path, NOTES)];
  onTestFinished(() => [ours, theirs].forEach((db) => db.close()));
  theirs.exec('begin immediate');
  const write = new Commits(ours).commit(() => void ours.run("insert into note values ('a')"));
  await expect(write).rejects.toThrow(`cannot use ${path}: another process is using it`);
});

it('a request reaches the service only when its row is committed, and an outcome is committed only when it was answered', async () => {
  const service = await sandbox();
  const cwd = await workspace();
  await files(cwd, {
    'people.csv': `id,name\n${Array.from({ length: 60 }, (_, id) => `${id},Name ${id}\n`).join('')}`,
    'mapping.yaml':
      'version: 1\nmigration: people\nsources: { people: { path: people.csv } }\n' +
      'events:\n  - { type: lead/created, source: people, data: { external_id: id, full_name: name } }\n',
  });
  const state = join(cwd, 'state');
  const seen: unknown[] = [];
  /** Between the run and the service: looks into the checkpoint when a request arrives. */
  const gate = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      if (request.method === 'POST') {
        const { id } = JSON.parse(body.toString('utf8')) as { id: string };
        const checkpoint = Database.read(join(state, 'checkpoint.db'), CHECKPOINT)!;
        seen.push(checkpoint.get('select status, outcome, settled_at from request where id = ?', id));
        checkpoint.close();
      }
      const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
      const answer = await fetch(`${service.baseUrl}${request.url}`, {
        method: request.method!,
        headers: headers as Record<string, string>,
        ...(request.method === 'POST' ? { body } : {}),
      });
      const { 'content-encoding': _encoding, ...given } = Object.fromEntries(answer.headers);
      response.writeHead(answer.status, given).end(await answer.text());
    })();
  });
  const env = { ...environmentOf(service), BACKFILL_BASE_URL: await listening(gate) };
  const { summary } = await runMigration({
    settings: runSettings({ mapping: join(cwd, 'mapping.yaml'), state, rate: '100000/1s' }),
    credentials: credentials(undefined, env),
    ...{ stateSuffix: '', halt: new Halt(), redactor: new Redactor(), monitor: {} },
  });
  expect(summary.exit).toMatchObject({ code: 0 });
  expect(seen).toEqual(Array(60).fill({ status: 'open', outcome: null, settled_at: null }));
  const checkpoint = Database.read(join(state, 'checkpoint.db'), CHECKPOINT)!;
  onTestFinished(() => checkpoint.close());
  expect(checkpoint.all('select status, count(*) as count from request group by status')).toEqual([
    { status: 'acknowledged', count: 60 },
  ]);
});
