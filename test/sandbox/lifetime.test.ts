import { execFile } from 'node:child_process';
import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../directory.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { call, sandboxFor, send, withoutTimes } from './client.ts';

describe('the journal', () => {
  test('a later sandbox has the records and events of an earlier one', async () => {
    const journal = join(temporaryDirectory(), 'sandbox.ndjson');
    const first = await startSandbox({ journal });
    await send(first, 'lead/created', { external_id: 'L', full_name: 'A' }, { id: 'e1' });
    await send(first, 'lead/updated', { external_id: 'L', custom_params: { a: 1 } }, { id: 'e2' });
    await send(first, 'deal/created', { external_id: 'D', lead_external_id: 'L' }, { id: 'e3' });
    await send(first, 'comment/created', { external_id: 'C', content: 'x', deal_external_id: 'D' }, { id: 'e4' });
    await send(first, 'comment/created', { external_id: 'C', content: 'y', deal_external_id: 'D' }, { id: 'e5' });
    await call(first, 'POST', '/leads', { body: { fullName: 'Rest' } });
    const state = first.state();
    await first.close();
    expect((await stat(journal)).mode & 0o777).toBe(0o600);

    const second = await sandboxFor({ journal });
    expect(second.state()).toEqual(state);
    for (const id of ['e1', 'e2', 'e3', 'e4', 'e5']) {
      expect((await send(second, 'lead/created', { external_id: 'new' }, { id })).body).toMatchObject({
        deduplicated: true,
      });
    }
    expect((await send(second, 'lead/created', { external_id: 'L' })).status).toBe(409);
    expect(second.state()).toEqual(state);
  });

  test('an incomplete last line is removed, and later lines are readable', async () => {
    const journal = join(temporaryDirectory(), 'sandbox.ndjson');
    const first = await startSandbox({ journal });
    await send(first, 'lead/created', { external_id: '1' });
    await first.close();
    await appendFile(journal, '{"kind":"Lead","rec');

    const second = await startSandbox({ journal });
    expect(second.state().leads).toHaveLength(1);
    await send(second, 'lead/created', { external_id: '2' });
    await second.close();
    const third = await sandboxFor({ journal });
    expect(third.state().leads.map(({ externalId }) => externalId)).toEqual(['1', '2']);
  });

  test('a damaged line is refused with its number', async () => {
    const journal = join(temporaryDirectory(), 'sandbox.ndjson');
    await writeFile(journal, '{"kind":"Lead"}\nnonsense\n');
    await expect(startSandbox({ journal })).rejects.toThrow(/line 2/);
    expect(await readFile(journal, 'utf8')).toContain('nonsense');
  });

  test('a record is in the journal before it is acknowledged', async () => {
    const journal = join(temporaryDirectory(), 'sandbox.ndjson');
    const sandbox = await sandboxFor({ journal });
    await send(sandbox, 'lead/created', { external_id: '1' }, { id: 'e1' });
    expect(await readFile(journal, 'utf8')).toContain('"e1"');
  });
});

describe('two rehearsals of the same events', () => {
  test('end in the same state except for times', async () => {
    const states = await Promise.all(
      [0, 1].map(async (order) => {
        const clock = (): number => 1_700_000_000_000 + order * 1000;
        const sandbox = await sandboxFor({ clock });
        const ids = order === 0 ? ['1', '2'] : ['2', '1'];
        for (const id of ids) await send(sandbox, 'lead/created', { external_id: id }, { id: `e${id}` });
        await send(sandbox, 'comment/created', { content: 'x', lead_external_id: '1' }, { id: 'c' });
        return sandbox.state();
      }),
    );
    expect(states[0]).not.toEqual(states[1]);
    expect(withoutTimes(states[0]!)).toEqual(withoutTimes(states[1]!));
    expect(withoutTimes(states[0]!).leads).toHaveLength(2);
  });
});

describe('the server', () => {
  test('listens on this machine only, with its own credentials', async () => {
    const [a, b] = [await sandboxFor(), await sandboxFor()];
    expect(a.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(a.apiKey.reveal()).not.toBe(b.apiKey.reveal());
    expect(a.ingestToken.reveal()).not.toBe(b.ingestToken.reveal());
    expect(a.account).toEqual(b.account);
    const given = await sandboxFor({ apiKey: 'key-1', ingestToken: 'ingest_1' });
    expect([given.apiKey.reveal(), given.ingestToken.reveal()]).toEqual(['key-1', 'ingest_1']);
  });

  test('reports a port that is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    await expect(startSandbox({ port })).rejects.toThrow(`127.0.0.1:${port}`);
  });

  test('closes while requests hang or are delayed, and lets the process end', async () => {
    const program = `
      import { startFaulty } from ${JSON.stringify(new URL('./faults.ts', import.meta.url).href)};
      const rules = [
        { kind: 'hang', when: { path: '/tags' } },
        { kind: 'latency', min_ms: 3600000, max_ms: 3600000, when: { path: '/roles' } },
        { kind: 'outage', lasts_ms: 3600000, when: { path: '/calls' } },
      ];
      const sandbox = await startFaulty({ faults: { rules } });
      const ask = (path) => fetch(sandbox.baseUrl + path, { headers: { 'x-api-key': sandbox.apiKey.reveal() } });
      const failures = ['/tags', '/roles'].map((path) => ask(path).then(() => 'answered', () => 'dropped'));
      while (sandbox.requests().length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      if (process.argv.includes('dark')) await ask('/calls').catch(() => {});
      await sandbox.close();
      console.log((await Promise.all(failures)).join());
    `;
    for (const outage of [[], ['dark']]) {
      const child = ['--import', 'tsx', '--input-type=module', '-e', program, '--', ...outage];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, child, { timeout: 30_000 });
      expect(stdout).toBe('dropped,dropped\n');
      expect(stderr).toBe('');
    }
  });
});
