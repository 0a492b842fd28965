import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Sandbox } from '../../src/commands/sandbox/index.ts';
import { backfill, CLI, environmentOf, FAST, files, sandbox, start, summaryOf, workspace } from './harness.ts';
import { withoutTimes } from '../sandbox/client.ts';

const SLOW = { rules: [{ kind: 'latency', min_ms: 100, max_ms: 150 } as const] };

function posts(service: Sandbox): number {
  return service.requests().filter(({ method }) => method === 'POST').length;
}

/** A directory with `count` leads to send, which the test can modify. */
async function leads(count: number, name = (id: number) => `Name ${id}`, extra = ''): Promise<string> {
  const cwd = await workspace();
  const rows = Array.from({ length: count }, (_, id) => `${id},${name(id)}`);
  await files(cwd, {
    'people.csv': `id,name\n${rows.join('\n')}\n`,
    'mapping.yaml': `version: 1
migration: stops
sources:
  people: { path: people.csv }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name${extra} }
`,
  });
  return cwd;
}

describe('a run that is interrupted', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'by %s records the requests in flight, prints how to resume, and can be resumed',
    async (signal, code) => {
      const service = await sandbox({ faults: SLOW });
      const cwd = await leads(60);
      const env = environmentOf(service);
      const args = ['run', 'mapping.yaml', '--json', ...FAST];
      const run = start(args, { cwd, env });
      await expect.poll(() => posts(service), { timeout: 20_000 }).toBeGreaterThan(12);
      run.child.kill(signal);
      const ended = await run.ended;
      expect(ended.code).toBe(code);
      expect(ended.stderr).toMatch(new RegExp(`Resume[^]* npx crm-backfill ${args.join(' ')}`));
      const summary = summaryOf(ended);
      expect(summary.exit).toEqual({ code, reason: 'interrupted' });
      expect(summary.events.acknowledged).toBe(posts(service));
      expect(summary.events.pending).toBe(60 - posts(service));

      const rest = summaryOf(await backfill(args, { cwd, env }));
      expect(rest.exit.code).toBe(0);
      expect(posts(service)).toBe(60);
    },
  );

  it('by SIGINT during a survey with a slow function ends before the next records', async () => {
    const service = await sandbox();
    const cwd = await leads(300);
    const slow = `full_name: { from: name, apply: [{ call: slow }] }`;
    const mapping = await readFile(join(cwd, 'mapping.yaml'), 'utf8');
    await files(cwd, {
      'mapping.yaml': `functions: functions.mjs\n${mapping.replace('full_name: name', slow)}`,
      'functions.mjs': `export function slow(name) {
        for (const end = Date.now() + 50; Date.now() < end; );
        return name;
      }`,
    });
    const run = start(['run', 'mapping.yaml', '--dry-run', '--json'], { cwd, env: environmentOf(service) });
    await expect.poll(() => run.stderr(), { timeout: 20_000 }).toContain('runs code of');
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const signalled = performance.now();
    run.child.kill('SIGINT');
    expect((await run.ended).code).toBe(130);
    expect(performance.now() - signalled).toBeLessThan(3000);
  });

  it('twice ends immediately and loses nothing', async () => {
    const service = await sandbox({
      faults: { rules: [{ kind: 'hang', committed: true, when: { requests: { from: 5 } } }] },
    });
    const cwd = await leads(20);
    const env = environmentOf(service);
    const run = start(['run', 'mapping.yaml', ...FAST], { cwd, env });
    await expect.poll(() => posts(service), { timeout: 20_000 }).toBeGreaterThan(5);
    run.child.kill('SIGINT');
    await expect.poll(() => run.stderr(), { timeout: 10_000 }).toContain('repeat the signal to stop immediately');
    run.child.kill('SIGINT');
    const ended = await run.ended;
    expect(ended.code).toBe(130);
    expect(ended.stderr.replace(/\s+/g, ' ')).toMatch(/ without an answer, to be sent again under the same id/);
    service.setFaults({ rules: [] });
    const rest = summaryOf(await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env }));
    expect(rest.events.acknowledged).toBe(20);
    expect(service.state().leads.map(({ revision }) => revision)).toEqual(Array.from({ length: 20 }, () => 1));
  });
});

describe('a run that stops early', () => {
  it('at --max-requests makes no more requests, and continues when rerun', async () => {
    const service = await sandbox();
    const cwd = await leads(30);
    const env = environmentOf(service);
    const first = await backfill(['run', 'mapping.yaml', '--json', '--max-requests', '12', ...FAST], { cwd, env });
    expect(first.code).toBe(3);
    expect(summaryOf(first).exit.reason).toBe('max_requests');
    // The requests that read the account count too.
    expect(service.requests().length).toBe(12);
    const ofFirst = posts(service);
    await backfill(['run', 'mapping.yaml', '--max-requests', '12', ...FAST], { cwd, env });
    expect(service.requests().length).toBe(24);
    // Only the first run reads the leads of the account.
    expect(posts(service)).toBe(ofFirst * 2 + 1);
    expect((await backfill(['run', 'mapping.yaml', '--max-requests', '100', ...FAST], { cwd, env })).code).toBe(0);
    expect(posts(service)).toBe(30);
  });

  it('at the time given with --until', async () => {
    const service = await sandbox({ faults: SLOW });
    const cwd = await leads(200);
    const until = new Date(Date.now() + 3000).toISOString();
    const ended = await backfill(['run', 'mapping.yaml', '--json', '--until', until, '--concurrency', '2', ...FAST], {
      cwd,
      env: environmentOf(service),
    });
    expect(ended.code).toBe(3);
    expect(summaryOf(ended)).toMatchObject({ exit: { reason: 'until' }, events: { acknowledged: posts(service) } });
  });

  it('before the first event if the time given with --until has passed', async () => {
    const service = await sandbox();
    const cwd = await leads(20);
    const until = new Date(Date.now() - 60_000).toISOString();
    const args = ['run', 'mapping.yaml', '--json', '--until', until, ...FAST];
    const ended = await backfill(args, { cwd, env: environmentOf(service) });
    expect(ended.code).toBe(3);
    expect(summaryOf(ended)).toMatchObject({ exit: { reason: 'until' }, events: { acknowledged: 0, pending: 20 } });
    expect(posts(service)).toBe(0);
  });

  it('before the first event if more events are invalid than --max-errors allows', async () => {
    const service = await sandbox();
    const cwd = await leads(
      20,
      (id) => (id < 5 ? '' : `Name ${id}`),
      ', custom_params: { n: { from: name, required: true } }',
    );
    const env = environmentOf(service);
    const run = (...more: string[]) => backfill(['run', 'mapping.yaml', '--json', ...FAST, ...more], { cwd, env });
    for (const tolerance of ['4', '24%']) {
      const ended = await run('--max-errors', tolerance);
      expect(ended.code).toBe(2);
      expect(summaryOf(ended)).toMatchObject({
        exit: { reason: 'too_many_invalid' },
        events: { invalid: 5, pending: 15 },
      });
    }
    expect(posts(service)).toBe(0);
    // A dry run says so too, and offers to send its plan only where that would not be refused.
    for (const [tolerance, reason, isOffered] of [
      ['4', 'too_many_invalid', false],
      ['5', 'invalid', true],
    ] as const) {
      const dry = ['run', 'mapping.yaml', '--dry-run', '--max-errors', tolerance, ...FAST];
      expect(summaryOf(await backfill([...dry, '--json'], { cwd, env }))).toMatchObject({ exit: { code: 1, reason } });
      const { stdout } = await backfill(dry, { cwd, env });
      expect([stdout.includes('fix mapping.yaml'), /--plan [0-9a-f]{12}/.test(stdout)]).toEqual([true, isOffered]);
    }
    expect((await run('--max-errors', '25%')).code).toBe(1);
    expect(posts(service)).toBe(15);
  });

  it('after 25 rejections in a row with the same code, and retries them last when rerun', async () => {
    const refused = { rules: [{ kind: 'status', status: 422, code: 'odd' } as const] };
    const service = await sandbox({ faults: refused });
    const cwd = await leads(60);
    const env = environmentOf(service);
    const ended = await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env });
    expect(ended.code).toBe(3);
    expect(summaryOf(ended).exit.reason).toBe('rejections_in_a_row');
    expect(posts(service)).toBe(25);

    // A second run that stops early reports them as well, although it did not retry them.
    service.setFaults({ rules: [] });
    const short = summaryOf(
      await backfill(['run', 'mapping.yaml', '--json', '--max-requests', '10', ...FAST], { cwd, env }),
    );
    expect(short).toMatchObject({ events: { rejected: 25 }, errors_by_code: { rejected_earlier: 25 } });

    const rest = summaryOf(await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env }));
    expect(rest.exit.code).toBe(0);
    const order = service.state().leads.map(({ externalId, createdAt }) => [createdAt, Number(externalId)] as const);
    const lastNew = order
      .filter(([, id]) => id >= 25)
      .map(([at]) => at)
      .sort()
      .at(-1)!;
    const firstAgain = order
      .filter(([, id]) => id < 25)
      .map(([at]) => at)
      .sort()[0]!;
    expect(firstAgain >= lastNew).toBe(true);
  });

  it('after more rejections than --max-errors allows', async () => {
    const codes = ['a', 'b', 'c', 'd', 'e', 'f'].map((code, index) => ({
      kind: 'status' as const,
      status: 422,
      code,
      when: { requests: { from: index * 3 + 1, to: index * 3 + 2 } },
    }));
    const service = await sandbox({ faults: { rules: codes } });
    const cwd = await leads(40);
    const ended = await backfill(
      ['run', 'mapping.yaml', '--json', '--max-errors', '5', '--concurrency', '1', ...FAST],
      {
        cwd,
        env: environmentOf(service),
      },
    );
    expect(ended.code).toBe(3);
    expect(summaryOf(ended)).toMatchObject({ exit: { reason: 'too_many_errors' }, events: { rejected: 6 } });
  });

  it('after one retry if the credentials are refused', async () => {
    const service = await sandbox({
      faults: { rules: [{ kind: 'rotate_token', when: { requests: { from: 10 }, times: 1 } }] },
    });
    const cwd = await leads(30);
    const ended = await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env: environmentOf(service) });
    expect(ended.code).toBe(3);
    const summary = summaryOf(ended);
    expect(summary.exit.reason).toBe('webhook_auth_failed');
    expect(summary.events).toMatchObject({ rejected: 0, acknowledged: service.state().leads.length });
  });
});

describe('an export that is edited during a run', () => {
  it('has no effect on that run: what is sent is read from the plan', async () => {
    const service = await sandbox({ faults: SLOW });
    const cwd = await workspace('demo');
    const env = environmentOf(service);
    const run = start(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env });
    await expect.poll(() => posts(service), { timeout: 20_000 }).toBeGreaterThan(0);
    const deals = await readFile(join(cwd, 'deals.csv'), 'utf8');
    await files(cwd, { 'deals.csv': deals.replace('Annual licence', 'Annual license') });
    const ended = await run.ended;
    expect(summaryOf(ended).exit.reason).toBe('blocked');
    const titles = service.state().deals.map(({ title }) => String(title));
    expect(titles.some((title) => title.startsWith('Annual licence'))).toBe(true);
    expect(titles.some((title) => title.startsWith('Annual license'))).toBe(false);

    const rest = summaryOf(await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env }));
    expect(rest.events.changed).toBeGreaterThan(0);
  });

  it('has no effect if it is deleted, either', async () => {
    const service = await sandbox({ faults: SLOW });
    const cwd = await workspace('demo');
    const run = start(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env: environmentOf(service) });
    await expect.poll(() => posts(service), { timeout: 20_000 }).toBeGreaterThan(0);
    await rm(join(cwd, 'deals.csv'));
    expect((await run.ended).code).toBe(1);
    expect(service.state().deals.length).toBeGreaterThan(10);
  });
});

describe('a full disk', () => {
  /** A file system of a few pages, if this process has permission to mount one. */
  async function tinyDisk(size: string): Promise<string | undefined> {
    const path = join(await workspace(), 'disk');
    await mkdir(path);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]).status !== 0) return undefined;
    onTestFinished(() => void spawnSync('umount', ['-l', path]));
    return path;
  }

  it('stops a run that writes its plan with exit 2, and nothing is sent', async (context) => {
    const disk = await tinyDisk('400k');
    if (disk === undefined) return context.skip('this process may not mount a file system');
    const service = await sandbox();
    const cwd = await leads(5_000);
    const state = join(disk, 'state');
    const ended = await backfill(['run', 'mapping.yaml', '--json', '--state', state, ...FAST], {
      cwd,
      env: environmentOf(service),
    });
    expect(ended.code, ended.stderr).toBe(2);
    expect(ended.stderr).toMatch(/plan\.db.*: the disk is full/);
    expect(posts(service)).toBe(0);
    expect((await readdir(state)).filter((name) => name.startsWith('plan'))).toEqual([]);
  });

  it('stops a run that is sending with exit 3, and nothing is lost', async (context) => {
    const disk = await tinyDisk('24m');
    if (disk === undefined) return context.skip('this process may not mount a file system');
    const service = await sandbox({ faults: SLOW });
    const cwd = await leads(300);
    const env = environmentOf(service);
    const args = ['run', 'mapping.yaml', '--json', '--state', join(disk, 'state'), ...FAST];
    const run = start(args, { cwd, env });
    await expect.poll(() => posts(service), { timeout: 20_000 }).toBeGreaterThan(0);
    const filler = join(disk, 'filler');
    await expect(writeFile(filler, Buffer.alloc(24 << 20))).rejects.toThrow('ENOSPC');
    const ended = await run.ended;
    expect(ended.code, ended.stderr).toBe(3);
    expect(ended.stderr).toMatch(/(?:checkpoint|plan)\.db: the disk is full/);
    const processed = service.state().leads.length;
    expect(processed).toBeGreaterThan(0);
    expect(processed).toBeLessThan(300);

    await rm(filler);
    const rest = summaryOf(await backfill(args, { cwd, env }));
    expect(rest).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 300 } });
    const calm = await sandbox();
    await backfill(['run', 'mapping.yaml', '--state', 'calm', ...FAST], { cwd, env: environmentOf(calm) });
    const records = (of: Sandbox) => withoutTimes(of.state()).leads.map((lead) => ({ ...lead, id: '' }));
    expect(records(service)).toEqual(records(calm));
  });

  it('or an invalid path of the state directory is detected before anything is sent', async () => {
    const service = await sandbox();
    const cwd = await leads(3);
    const ended = await backfill(['run', 'mapping.yaml', '--json', '--state', 'people.csv/state', ...FAST], {
      cwd,
      env: environmentOf(service),
    });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/cannot create the state directory .*people\.csv\/state/);
    expect(summaryOf(ended)).toMatchObject({ exit: { code: 2, reason: 'not_started' }, events: { total: 0 } });
    expect(posts(service)).toBe(0);
  });
});

describe.skipIf(process.platform === 'win32')('a limit of open files', () => {
  it('that is too low for the modules of the program is named, and never called a bug or a missing module', async () => {
    const cwd = await leads(3);
    const args = [process.execPath, CLI, 'run', 'mapping.yaml', '--sandbox', '--dry-run'];
    const told: (string | undefined)[] = [];
    // With fewer files, Node itself does not start.
    for (let most = 16; most < 30; most += 1) {
      const { status, stderr } = spawnSync('sh', ['-c', `ulimit -n ${most}; exec "$0" "$@"`, ...args], {
        cwd,
        encoding: 'utf8',
      });
      expect(stderr, `${most} files`).not.toMatch(/internal error|Cannot find (?:package|module)/);
      if (status === 3) told.push(/^(?:error|hint): .*(too many open files|ulimit -n)/m.exec(stderr)?.[1]);
    }
    expect(told).not.toEqual([]);
    expect(told).not.toContain(undefined);
  });
});
