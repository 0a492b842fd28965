import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { backfill, environmentOf, FAST, files, rowsIn, sandbox, summaryOf, workspace, type Ended } from './harness.ts';

const MAPPING = `version: 1
migration: fresh
sources: { people: { path: people.csv } }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name, email: email }
`;

async function place(): Promise<string> {
  const cwd = await workspace();
  await files(cwd, {
    'mapping.yaml': MAPPING,
    'people.csv': 'id,name,email\n1,Ada,a@example.com\n2,Alan,b@example.com\n',
  });
  return cwd;
}

function run(cwd: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return backfill(['run', 'mapping.yaml', '--json', ...FAST, ...args], { cwd, env });
}

it('a rehearsal keeps the rate, and the sandbox refuses none of its requests', async () => {
  const cwd = await place();
  const people = Array.from({ length: 40 }, (_, id) => `${id},Person ${id},p${id}@example.com`);
  await files(cwd, { 'people.csv': `id,name,email\n${people.join('\n')}\n` });
  const args = ['--sandbox', '--rate', '10/1s'];
  const ended = await backfill(['run', 'mapping.yaml', '--json', ...args], { cwd });
  expect(ended.stderr.replace(/\s+/g, ' ')).toContain('10 requests per 1 s');
  const { this_run: sent } = summaryOf(ended);
  expect(sent).toMatchObject({ events_sent: 40, rate_limited: 0 });
  expect(sent.seconds).toBeGreaterThan(2.9);
  expect(sent.seconds).toBeLessThan(50);
}, 90_000);

it('a rehearsal says how many automations it fired, and reads its records back without waiting for a window to end', async () => {
  const cwd = await place();
  const people = Array.from({ length: 300 }, (_, id) => `${id},Person ${id},p${id}@example.com`);
  await files(cwd, { 'people.csv': `id,name,email\n${people.join('\n')}\n` });
  const ended = await backfill(['run', 'mapping.yaml', '--sandbox', ...FAST], { cwd });
  expect(ended.stdout).toMatch(/no\s+automation\s+fired/);
  const began = performance.now();
  const verified = await backfill(['verify', 'mapping.yaml', '--sandbox', '--sample', '200'], { cwd });
  expect(verified.code, verified.stderr).toBe(0);
  // At the limit of the service, the second hundred requests would wait for a minute.
  expect(performance.now() - began).toBeLessThan(50_000);
});

describe('run --sandbox --fresh', () => {
  it('sends everything again to an empty sandbox, and keeps files that the program did not write', async () => {
    const cwd = await place();
    await run(cwd, ['--sandbox']);
    const state = join(cwd, '.backfill/fresh.sandbox');
    await files(state, { 'notes.txt': 'mine' });
    expect(summaryOf(await run(cwd, ['--sandbox'])).this_run.events_sent).toBe(0);
    const again = summaryOf(await run(cwd, ['--sandbox', '--fresh']));
    expect(again).toMatchObject({ exit: { code: 0 }, outcomes: { created: 2 }, this_run: { events_sent: 2 } });
    expect(await readFile(join(state, 'notes.txt'), 'utf8')).toBe('mine');
  });

  it('works before the first rehearsal', async () => {
    expect(summaryOf(await run(await place(), ['--sandbox', '--fresh'])).events.acknowledged).toBe(2);
  });

  it('starts a rehearsal over that has only had a dry run', async () => {
    const cwd = await place();
    await run(cwd, ['--sandbox', '--dry-run']);
    expect(summaryOf(await run(cwd, ['--sandbox', '--fresh'])).events.acknowledged).toBe(2);
  });

  it('deletes nothing of the state of a migration to the service', async () => {
    const cwd = await place();
    const service = await sandbox();
    await run(cwd, ['--state', 'real'], environmentOf(service));
    const before = await rowsIn(join(cwd, 'real'), 'select * from checkpoint.sent');
    const names = await readdir(join(cwd, 'real'));
    const refused = await run(cwd, ['--state', 'real', '--sandbox', '--fresh']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`the state of a migration to ${service.baseUrl}`);
    expect(await rowsIn(join(cwd, 'real'), 'select * from checkpoint.sent')).toEqual(before);
    expect(await readdir(join(cwd, 'real'))).toEqual(names);
  });

  it('deletes nothing of the dry run of a migration to the service', async () => {
    const cwd = await place();
    await run(cwd, ['--state', 'real', '--dry-run'], environmentOf(await sandbox()));
    const names = await readdir(join(cwd, 'real'));
    expect(names).not.toEqual([]);
    const refused = await run(cwd, ['--state', 'real', '--sandbox', '--fresh']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('not the state of a rehearsal');
    expect(await readdir(join(cwd, 'real'))).toEqual(names);
  });

  it('is refused without --sandbox', async () => {
    const refused = await run(await place(), ['--fresh']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--fresh requires --sandbox');
  });

  it('is not part of the command that resumes it', async () => {
    const stopped = await run(await place(), ['--sandbox', '--fresh', '--max-requests', '4']);
    expect(stopped.code).toBe(3);
    expect(stopped.stderr).toMatch(/Resume[^]* run mapping.yaml .*--sandbox/);
    expect(stopped.stderr).not.toMatch(/crm-backfill run .*--fresh/);
  });
});

describe('acknowledged records that differ from what was sent', () => {
  it('are said to differ because the mapping has changed, if it has', async () => {
    const cwd = await place();
    await backfill(['run', 'mapping.yaml', '--sandbox', ...FAST], { cwd });
    await files(cwd, { 'mapping.yaml': MAPPING.replace('email: email', 'email: { from: email, apply: [uppercase] }') });
    const dry = await backfill(['run', 'mapping.yaml', '--sandbox', '--dry-run', ...FAST], { cwd });
    expect(dry.stdout.replace(/\s+/g, ' ')).toMatch(
      /2 acknowledged records differ from what was sent: the mapping has changed since the last run/,
    );
    const ended = await backfill(['run', 'mapping.yaml', '--sandbox', ...FAST], { cwd });
    expect(ended.code).toBe(1);
    expect(ended.stdout.replace(/\s+/g, ' ')).toMatch(
      /2 acknowledged records differ from what was sent: the mapping has changed since the last run/,
    );
  });

  it('are not blamed on the mapping if it is the same', async () => {
    const cwd = await place();
    await backfill(['run', 'mapping.yaml', '--sandbox', ...FAST], { cwd });
    await files(cwd, { 'people.csv': 'id,name,email\n1,Ada,a@example.com\n2,Alan T,b@example.com\n' });
    const ended = await backfill(['run', 'mapping.yaml', '--sandbox', ...FAST], { cwd });
    expect(ended.stdout.replace(/\s+/g, ' ')).toMatch(
      /1 acknowledged record differs from what was sent: the export or the mapping has changed since/,
    );
  });

  it('because a value is gone from the export are named at the end, where the screen stops', async () => {
    const cwd = await place();
    await backfill(['run', 'mapping.yaml', '--sandbox', ...FAST], { cwd });
    await files(cwd, { 'people.csv': 'id,name,email\n1,Ada,\n2,Alan,b@example.com\n' });
    const ended = await backfill(['run', 'mapping.yaml', '--sandbox', ...FAST], { cwd });
    expect(ended.code).toBe(1);
    expect(ended.stdout.replace(/\s+/g, ' ')).toMatch(/FINISHED.*1 acknowledged record differs from what was sent/);
    expect(ended.stdout).toContain('changes.csv');
  });
});

describe('a rehearsal on a machine behind a proxy', () => {
  it('reaches its sandbox without it', async () => {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.url!);
      response.writeHead(502).end();
    });
    proxy.on('connection', () => asked.push('connection'));
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    onTestFinished(() => void proxy.close());
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
    const ended = await run(await place(), ['--sandbox'], Object.fromEntries(names.map((name) => [name, address])));
    expect(summaryOf(ended)).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
    expect(asked).toEqual([]);
  });
});
