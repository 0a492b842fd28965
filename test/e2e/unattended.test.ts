import { describe, expect, it } from 'vitest';
import { useFastClock } from '../clock.ts';
import { hookServer } from '../report/print/hook-server.ts';
import type { FaultyOptions } from '../sandbox/faults.ts';
import { backfill, filesBelow, mapping, project, workspace, type Project } from './harness.ts';

useFastClock();

const SLOW: FaultyOptions = { faults: { rules: [{ kind: 'latency', min_ms: 100, max_ms: 150 }] } };

function leads(count: number, options?: FaultyOptions): Promise<Project> {
  const rows = Array.from({ length: count }, (_, id) => `${id},Person ${id}\n`);
  const people = 'type: lead/created, data: { external_id: id, full_name: name }';
  return project({ 'people.csv': `id,name\n${rows.join('')}`, 'mapping.yaml': mapping({ people }) }, options);
}

describe('--notify', () => {
  it('says that a run begins to send and how it ended, with counts alone, and its URL appears in no output and no file', async () => {
    const [{ cwd, run }, hook] = [await leads(20), await hookServer()];
    const ended = await run('--notify', hook.url);
    expect(ended.code).toBe(0);
    expect(hook.calls.map(({ body }) => body)).toEqual([
      {
        text: expect.stringContaining('began to send 20 events') as string,
        event: 'started',
        migration: 'test',
        exit: null,
        events: { total: 20, acknowledged: 0, rejected: 0 },
      },
      {
        text: 'crm-backfill test: done. 20 of 20 events acknowledged.',
        event: 'ended',
        migration: 'test',
        exit: { code: 0, reason: 'done' },
        events: { total: 20, acknowledged: 20, rejected: 0 },
      },
    ]);
    const written = [ended.stdout, ended.stderr, ...(await filesBelow(cwd)).values()];
    for (const text of written) expect(text).not.toMatch(/T0KEN|h1dden/);
  });

  it('says that a run was interrupted, and how far it got; the printed command has no URL', async () => {
    const [{ start, posts }, hook] = [await leads(100, SLOW), await hookServer()];
    const running = start('--notify', hook.url);
    await expect.poll(posts, { timeout: 20_000 }).toBeGreaterThan(5);
    running.child.kill('SIGTERM');
    const ended = await running.ended;
    expect(ended.code).toBe(143);
    expect(hook.calls.map(({ body }) => body.event)).toEqual(['started', 'interrupted']);
    expect(hook.calls[1]!.body.text).toMatch(/interrupted by SIGTERM\. \d+ of 100 events acknowledged\. Run the same/);
    expect(ended.stderr).toMatch(/Resume[^]* npx crm-backfill run mapping\.yaml --json --rate 100000\/1s\n/);
    expect(ended.stderr.replace(/\s+/g, ' ')).toContain('add --notify, whose URL is not shown');
  });

  it('says that a run could not start, without values of the input', async () => {
    const [{ cwd, env, write }, hook] = [await leads(1), await hookServer()];
    await write({ 'people.csv': 'id,name\n1,"Mario Rossi' });
    const given = { cwd, env: { ...env, BACKFILL_NOTIFY_URL: hook.url } };
    expect(await backfill(['run', 'mapping.yaml'], given)).toMatchObject({ code: 2 });
    expect(hook.calls.map(({ body }) => body)).toMatchObject([{ event: 'stopped', exit: { code: 2 } }]);
    expect(JSON.stringify(hook.calls)).not.toMatch(/Mario|Rossi/);
  });

  it('says nothing of sending if there is nothing to send', async () => {
    const [{ run }, hook] = [await leads(2), await hookServer()];
    await run();
    await run('--notify', hook.url);
    expect(hook.calls.map(({ body }) => body.event)).toEqual(['ended']);
  });

  it('warns at once and at the end of messages that cannot be delivered, and the run is as it would be', async () => {
    const { told, posts, stored } = await leads(5);
    const ended = await told('--notify', 'http://127.0.0.1:1/services/T0KEN');
    expect(ended.code).toBe(0);
    expect(posts()).toBe(5);
    for (const event of ['started', 'ended'])
      expect(ended.stderr).toMatch(new RegExp(`warning: .*\`${event}\`.*ECONNREFUSED`));
    expect(ended.stderr.trimEnd().split('\n').at(-1)).toMatch(/^warning: 2 messages to --notify .*ECONNREFUSED/);
    expect(ended.stderr).not.toContain('T0KEN');
    expect(await stored('run.log')).toContain(
      '"event":"notify_failed","notification":"started","message":"unreachable (ECONNREFUSED)"',
    );
  });

  it('refuses a URL that is not https without repeating it', async () => {
    const args = ['run', 'mapping.yaml', '--notify', 'http://chat.example.com/T0KEN'];
    const ended = await backfill(args, { cwd: await workspace('demo') });
    expect(ended).toMatchObject({ code: 2 });
    expect(ended.stderr).toContain('--notify: the URL uses http://');
    expect(ended.stderr).not.toContain('T0KEN');
  });
});

it('a pause of an hour that the service asks for is said at once, and the next run does not ask before it is over', async () => {
  const { service, run } = await leads(3, {
    faults: { rules: [{ kind: 'status', status: 429, retry_after_s: 3600 }] },
  });
  const stopped = await run('--max-outage', '1s');
  expect(stopped.code).toBe(3);
  expect(stopped.stderr).toMatch(/warning: .*(?:1 h|6[01] min).*Retry-After.*1 s.*--max-outage/);
  const requests = service.requests().length;
  const again = await run();
  expect(again.code).toBe(2);
  expect(again.stderr).toMatch(/asked to wait for another (?:1 h|6[01] min|5\d min)/);
  expect(service.requests()).toHaveLength(requests);
});

describe('a run whose terminal is closed', () => {
  it('records the requests in flight, exits with 129 and can be resumed', async () => {
    const { start, posts, summary } = await leads(60, SLOW);
    const running = start();
    await expect.poll(posts, { timeout: 20_000 }).toBeGreaterThan(5);
    // Nobody reads what it prints any more, as when ssh is lost.
    running.child.stdout!.destroy();
    running.child.stderr!.destroy();
    running.child.kill('SIGHUP');
    expect(await running.ended).toMatchObject({ code: 129, signal: null });
    const sent = posts();
    expect((await summary()).this_run.already_acknowledged).toBe(sent);
    expect(posts()).toBe(60);
  });

  it('goes on if only its output is closed', async () => {
    const { start, posts } = await leads(20);
    const running = start();
    await expect.poll(posts, { timeout: 20_000 }).toBeGreaterThan(0);
    running.child.stdout!.destroy();
    running.child.stderr!.destroy();
    expect((await running.ended).code).toBe(0);
    expect(posts()).toBe(20);
  });
});
