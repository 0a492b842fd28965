import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/commands/sandbox/index.ts';
import { hookServer } from '../pages/hook-server.ts';
import { backfill, environmentOf, FAST, files, filesBelow, sandbox, start, summaryOf, workspace } from './harness.ts';

const SLOW = { rules: [{ kind: 'latency', min_ms: 100, max_ms: 150 } as const] };

async function leads(count: number, defaults = ''): Promise<string> {
  const cwd = await workspace();
  await files(cwd, {
    'people.csv': `id,name\n${Array.from({ length: count }, (_, id) => `${id},Person ${id}`).join('\n')}\n`,
    'mapping.yaml': `version: 1
migration: night
${defaults}
sources: { people: { path: people.csv } }
events:
  - { type: lead/created, source: people, data: { external_id: id, full_name: name } }
`,
  });
  return cwd;
}

const posts = (service: Sandbox): number => service.requests().filter(({ method }) => method === 'POST').length;
const run = ['run', 'mapping.yaml', ...FAST];

describe('--notify', () => {
  it('says that a run begins to send and how it ended, with counts alone, and its URL appears in no output and no file', async () => {
    const [service, hook] = [await sandbox(), await hookServer()];
    const cwd = await leads(20);
    const env = environmentOf(service);
    const ended = await backfill([...run, '--json', '--notify', hook.url], { cwd, env });
    expect(ended.code).toBe(0);
    expect(hook.calls.map(({ body }) => body)).toEqual([
      {
        text: expect.stringContaining('began to send 20 events') as string,
        event: 'started',
        migration: 'night',
        exit: null,
        events: { total: 20, acknowledged: 0, rejected: 0 },
      },
      {
        text: 'crm-backfill night: done. 20 of 20 events acknowledged.',
        event: 'ended',
        migration: 'night',
        exit: { code: 0, reason: 'done' },
        events: { total: 20, acknowledged: 20, rejected: 0 },
      },
    ]);
    const written = [ended.stdout, ended.stderr, ...(await filesBelow(cwd)).values()];
    for (const text of written) expect(text).not.toMatch(/T0KEN|h1dden/);
  });

  it('says that a run was interrupted, and how far it got; the printed command has no URL', async () => {
    const [service, hook] = [await sandbox({ faults: SLOW }), await hookServer()];
    const cwd = await leads(100);
    const running = start([...run, '--notify', hook.url], { cwd, env: environmentOf(service) });
    await expect.poll(() => posts(service), { timeout: 20_000 }).toBeGreaterThan(5);
    running.child.kill('SIGTERM');
    const ended = await running.ended;
    expect(ended.code).toBe(143);
    expect(hook.calls.map(({ body }) => body.event)).toEqual(['started', 'interrupted']);
    expect(hook.calls[1]!.body.text).toMatch(/interrupted by SIGTERM\. \d+ of 100 events acknowledged\. Run the same/);
    expect(ended.stderr).toMatch(new RegExp(`Resume[^]* npx crm-backfill ${run.join(' ')}\n`));
    expect(ended.stderr.replace(/\s+/g, ' ')).toContain('add --notify, whose URL is not shown');
  });

  it('says that a run could not start, without values of the input', async () => {
    const [service, hook] = [await sandbox(), await hookServer()];
    const cwd = await leads(1);
    await files(cwd, { 'people.csv': 'id,name\n1,"Mario Rossi' });
    const env = { ...environmentOf(service), BACKFILL_NOTIFY_URL: hook.url };
    expect(await backfill(run, { cwd, env })).toMatchObject({ code: 2 });
    expect(hook.calls.map(({ body }) => body)).toMatchObject([{ event: 'stopped', exit: { code: 2 } }]);
    expect(JSON.stringify(hook.calls)).not.toMatch(/Mario|Rossi/);
  });

  it('says nothing of sending if there is nothing to send', async () => {
    const [service, hook] = [await sandbox(), await hookServer()];
    const cwd = await leads(2);
    const env = environmentOf(service);
    await backfill(run, { cwd, env });
    await backfill(run, { cwd, env: { ...env, BACKFILL_NOTIFY_URL: hook.url } });
    expect(hook.calls.map(({ body }) => body.event)).toEqual(['ended']);
  });

  it('warns at once and at the end of messages that cannot be delivered, and the run is as it would be', async () => {
    const service = await sandbox();
    const cwd = await leads(5);
    const ended = await backfill([...run, '--notify', 'http://127.0.0.1:1/services/T0KEN'], {
      cwd,
      env: environmentOf(service),
    });
    expect(ended.code).toBe(0);
    expect(posts(service)).toBe(5);
    for (const event of ['started', 'ended'])
      expect(ended.stderr).toMatch(new RegExp(`warning: .*\`${event}\`.*ECONNREFUSED`));
    expect(ended.stderr.trimEnd().split('\n').at(-1)).toMatch(/^warning: 2 messages to --notify .*ECONNREFUSED/);
    expect(ended.stderr).not.toContain('T0KEN');
    expect(await readFile(join(cwd, '.backfill/night/run.log'), 'utf8')).toContain(
      '"event":"notify_failed","notification":"started","message":"unreachable (ECONNREFUSED)"',
    );
  });

  it('refuses a URL that is not https without repeating it', async () => {
    const cwd = await leads(1);
    const ended = await backfill([...run, '--notify', 'http://chat.example.com/T0KEN'], { cwd });
    expect(ended).toMatchObject({ code: 2 });
    expect(ended.stderr).toContain('--notify: the URL uses http://');
    expect(ended.stderr).not.toContain('T0KEN');
  });
});

it('a pause of an hour that the service asks for is said at once, and the next run does not ask before it is over', async () => {
  const service = await sandbox({ faults: { rules: [{ kind: 'status', status: 429, retry_after_s: 3600 }] } });
  const cwd = await leads(3);
  const env = environmentOf(service);
  const stopped = await backfill([...run, '--max-outage', '1s'], { cwd, env });
  expect(stopped.code).toBe(3);
  expect(stopped.stderr).toMatch(/warning: .*(?:1 h|6[01] min).*Retry-After.*1 s.*--max-outage/);
  const requests = service.requests().length;
  const again = await backfill(run, { cwd, env });
  expect(again.code).toBe(2);
  expect(again.stderr).toMatch(/asked to wait for another (?:1 h|6[01] min|5\d min)/);
  expect(service.requests()).toHaveLength(requests);
});

describe('a run whose terminal is closed', () => {
  it('records the requests in flight, exits with 129 and can be resumed', async () => {
    const service = await sandbox({ faults: SLOW });
    const cwd = await leads(60);
    const env = environmentOf(service);
    const running = start(run, { cwd, env });
    await expect.poll(() => posts(service), { timeout: 20_000 }).toBeGreaterThan(5);
    // Nobody reads what it prints any more, as when ssh is lost.
    running.child.stdout!.destroy();
    running.child.stderr!.destroy();
    running.child.kill('SIGHUP');
    const ended = await running.ended;
    expect(ended).toMatchObject({ code: 129, signal: null });
    const sent = posts(service);
    const rest = summaryOf(await backfill([...run, '--json'], { cwd, env }));
    expect(rest.this_run.already_acknowledged).toBe(sent);
    expect(posts(service)).toBe(60);
  });

  it('goes on if only its output is closed', async () => {
    const service = await sandbox();
    const cwd = await leads(20);
    const running = start(run, { cwd, env: environmentOf(service) });
    await expect.poll(() => posts(service), { timeout: 20_000 }).toBeGreaterThan(0);
    running.child.stdout!.destroy();
    running.child.stderr!.destroy();
    expect((await running.ended).code).toBe(0);
    expect(posts(service)).toBe(20);
  });
});
