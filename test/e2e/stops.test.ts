// Lost without it: a stop could lose an answer, or not say how to resume.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useFastClock } from '../clock.ts';
import { withoutTimes } from '../sandbox/client.ts';
import type { FaultyOptions, FaultySandbox } from '../sandbox/faults.ts';
import { CLI, mapping, project, summaryOf, workspace, type Project } from './harness.ts';

useFastClock();

const SLOW: FaultyOptions = { faults: { rules: [{ kind: 'latency', min_ms: 100, max_ms: 150 }] } };
const DATA = 'external_id: id, full_name: name';
const MAPPING = mapping({ people: `type: lead/created, data: { ${DATA} }` });

/** `count` leads to send. */
function leads(count: number, options?: FaultyOptions, name = (id: number) => `Name ${id}`): Promise<Project> {
  const rows = Array.from({ length: count }, (_, id) => `${id},${name(id)}\n`);
  return project({ 'people.csv': `id,name\n${rows.join('')}`, 'mapping.yaml': MAPPING }, options);
}

const until = (posts: () => number, count: number): Promise<void> =>
  expect.poll(posts, { timeout: 120_000 }).toBeGreaterThan(count);

describe('a run that is interrupted', () => {
  it('by SIGTERM records the requests in flight, prints how to resume, and can be resumed', async () => {
    const { start, posts, summary: resume } = await leads(60, SLOW);
    const run = start();
    await until(posts, 12);
    run.child.kill('SIGTERM');
    const ended = await run.ended;
    expect(ended.code).toBe(143);
    expect(ended.stderr).toMatch(/Resume[^]* npx crm-backfill run mapping\.yaml --json --rate 100000\/1s/);
    expect(summaryOf(ended)).toMatchObject({
      exit: { code: 143, reason: 'interrupted' },
      events: { acknowledged: posts(), pending: 60 - posts() },
    });
    expect((await resume()).exit.code).toBe(0);
    expect(posts()).toBe(60);
  });

  it('because its terminal is closed does the same, and goes on if only its output is closed', async () => {
    const { start, posts, summary: resume } = await leads(60, SLOW);
    const run = start();
    await until(posts, 0);
    // Nobody reads what it prints any more, as when ssh is lost.
    run.child.stdout!.destroy();
    run.child.stderr!.destroy();
    await until(posts, 12);
    run.child.kill('SIGHUP');
    expect(await run.ended).toMatchObject({ code: 129, signal: null });
    const sent = posts();
    expect((await resume()).this_run.already_acknowledged).toBe(sent);
    expect(posts()).toBe(60);
  });

  it('by SIGINT during a survey ends before the next records, and leaves the files of the last run as they are', async () => {
    const { cwd, edit, start, write, stoppedAfter, state } = await leads(300);
    await stoppedAfter(17);
    const files = ['ids.csv', 'errors.csv', 'report.html', 'plan.db'];
    const read = (): Promise<string[]> => Promise.all(files.map((name) => readFile(state(name), 'latin1')));
    const before = await read();
    await edit('mapping.yaml', (text) =>
      `functions: functions.mjs\n${text}`.replace('name: name', 'name: { from: name, apply: [{ call: slow }] }'),
    );
    const begun = join(cwd, 'begun');
    await write({
      'functions.mjs': `import { appendFileSync } from 'node:fs';
      export function slow(name) {
        appendFileSync(${JSON.stringify(begun)}, '.');
        for (const end = Date.now() + 50; Date.now() < end; );
        return name;
      }`,
    });
    const run = start();
    await expect.poll(() => existsSync(begun), { timeout: 120_000 }).toBe(true);
    run.child.kill('SIGINT');
    const ended = await run.ended;
    // Not each of the records is mapped before it stops.
    expect((await readFile(begun, 'utf8')).length).toBeLessThan(300);
    expect(ended.code).toBe(130);
    expect(ended.stderr).toMatch(/SIGINT\) before anything was sent\n.* npx crm-backfill run mapping\.yaml/);
    expect(ended.stderr).not.toMatch(/SENDING|acknowledged/);
    expect(summaryOf(ended)).toMatchObject({ exit: { code: 130 }, events: { total: 0 } });
    expect(await read()).toEqual(before);
  });

  it('twice ends immediately and loses nothing', async () => {
    const hang = { kind: 'hang', committed: true, when: { requests: { from: 5 } } } as const;
    const { service, start, posts, summary } = await leads(20, { faults: { rules: [hang] } });
    const run = start();
    await until(posts, 5);
    run.child.kill('SIGINT');
    await expect.poll(() => run.stderr(), { timeout: 120_000 }).toContain('waiting for the requests in flight');
    run.child.kill('SIGINT');
    const ended = await run.ended;
    expect(ended.code).toBe(130);
    expect(ended.stderr.replace(/\s+/g, ' ')).toMatch(/ without an answer, to be sent again under the same id/);
    service.setFaults({ rules: [] });
    expect((await summary()).events.acknowledged).toBe(20);
    expect(service.state().leads.map(({ revision }) => revision)).toEqual(Array.from({ length: 20 }, () => 1));
  });
});

describe('a run that stops early', () => {
  it('at the time given with --until, before the first event if it has passed', async () => {
    const { summary, posts } = await leads(200, SLOW);
    const past = new Date(Date.now() - 60_000).toISOString();
    expect(await summary('--until', past)).toMatchObject({ exit: { code: 3, reason: 'until' } });
    expect(posts()).toBe(0);
    const soon = new Date(Date.now() + 1_500).toISOString();
    expect(await summary('--until', soon, '--concurrency', '2')).toMatchObject({
      exit: { code: 3, reason: 'until' },
      events: { acknowledged: posts() },
    });
    expect(posts()).toBeLessThan(200);
  });

  it('before the first event if more events are invalid than --max-errors allows', async () => {
    const { edit, run, summary, told, posts } = await leads(20, {}, (id) => (id < 5 ? '' : `Name ${id}`));
    await edit('mapping.yaml', (text) =>
      text.replace(DATA, `${DATA}, custom_params: { n: { from: name, required: true } }`),
    );
    for (const tolerance of ['4', '24%']) {
      expect(await summary('--max-errors', tolerance)).toMatchObject({
        exit: { code: 2, reason: 'too_many_invalid' },
        events: { invalid: 5, pending: 15 },
      });
    }
    expect(posts()).toBe(0);
    const refused = await told('--max-errors', '4');
    expect(refused.stdout).toMatch(/^NOT STARTED: nothing was sent[^]*?http:/);
    expect(refused.stdout).not.toContain('SENDING');
    expect(refused.stdout).toContain('`custom_params.n` is required');
    // A dry run says so too, and offers to send its plan only where that would not be refused.
    for (const [tolerance, reason, isOffered] of [
      ['4', 'too_many_invalid', false],
      ['5', 'invalid', true],
    ] as const) {
      const dry = ['--dry-run', '--max-errors', tolerance];
      expect(await summary(...dry)).toMatchObject({ exit: { code: 1, reason } });
      const { stdout } = await told(...dry);
      expect(/too many\s+to\s+start\s+\(--max-errors\)/.test(stdout)).toBe(!isOffered);
      expect([stdout.includes('fix mapping.yaml'), /--plan [0-9a-f]{12}/.test(stdout)]).toEqual([true, isOffered]);
    }
    expect((await run('--max-errors', '25%')).code).toBe(1);
    expect(posts()).toBe(15);
  });

  it('after 25 rejections in a row with the same code, and retries them last when rerun', async () => {
    const refused = { rules: [{ kind: 'status', status: 422, code: 'odd' } as const] };
    const { service, run, summary, posts, stoppedAfter } = await leads(60, { faults: refused });
    const stopped = await run();
    expect(summaryOf(stopped).exit).toMatchObject({ code: 3, reason: 'rejections_in_a_row' });
    expect(stopped.stderr).toContain('the service answered 422');
    expect(posts()).toBe(25);

    // A second run that stops early reports them as well, although it did not retry them.
    expect(await stoppedAfter(7)).toMatchObject({
      events: { rejected: 25 },
      errors_by_code: { rejected_earlier: 25 },
      changes: { new: 35, unanswered: 0, rejected: 25 },
    });

    expect((await summary()).exit.code).toBe(0);
    const order = service.state().leads.map(({ externalId, createdAt }) => [createdAt, Number(externalId)] as const);
    const times = (isNew: boolean) =>
      order
        .filter(([, id]) => id >= 25 === isNew)
        .map(([at]) => at)
        .sort();
    expect(times(false)[0]! >= times(true).at(-1)!).toBe(true);
  });
});

it('an export that is edited or deleted during a run has no effect on it: what is sent is read from the plan', async () => {
  const { service, cwd, start, posts, read, write, edit, summary } = await project('demo', SLOW);
  const run = start();
  await until(posts, 0);
  const contacts = await read('contacts.csv');
  await edit('deals.csv', (text) => text.replace('Annual licence', 'Annual license'));
  await rm(join(cwd, 'contacts.csv'));
  const ended = await run.ended;
  expect(summaryOf(ended).exit).toEqual({ code: 1, reason: 'blocked' });
  expect(service.state().deals.length).toBeGreaterThan(10);
  const titles = service.state().deals.map(({ title }) => String(title));
  expect(titles.some((title) => title.startsWith('Annual licence'))).toBe(true);
  expect(titles.some((title) => title.startsWith('Annual license'))).toBe(false);

  await write({ 'contacts.csv': contacts });
  expect((await summary()).events.changed).toBeGreaterThan(0);
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
  expect(again.stderr).toMatch(/asks to wait for (?:1 h|6[01] min|5\d min).*until /);
  expect(service.requests()).toHaveLength(requests);
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

  it.for(['400k', '700k'])(
    'stops a run that writes its plan on a disk of %s with exit 2, and nothing is sent',
    async (size, context) => {
      const disk = await tinyDisk(size);
      if (disk === undefined) return context.skip('this process may not mount a file system');
      const { run, posts } = await leads(5_000);
      const state = join(disk, 'state');
      const ended = await run('--state', state);
      expect(ended.code, ended.stderr).toBe(2);
      expect(ended.stderr).toMatch(/plan\.db.*: the disk is full/);
      expect(posts()).toBe(0);
      expect((await readdir(state)).filter((name) => name.startsWith('plan'))).toEqual([]);
    },
  );

  it('stops a run that is sending with exit 3, and nothing is lost', async (context) => {
    const disk = await tinyDisk('24m');
    if (disk === undefined) return context.skip('this process may not mount a file system');
    const { service, start, summary, posts } = await leads(300, SLOW);
    const run = start('--state', join(disk, 'state'));
    await until(posts, 0);
    const filler = join(disk, 'filler');
    await expect(writeFile(filler, Buffer.alloc(24 << 20))).rejects.toThrow('ENOSPC');
    const ended = await run.ended;
    expect(ended.code, ended.stderr).toBe(3);
    expect(ended.stderr).toMatch(/(?:checkpoint|plan)\.db: the disk is full/);
    const processed = service.state().leads.length;
    expect(processed).toBeGreaterThan(0);
    expect(processed).toBeLessThan(300);

    await rm(filler);
    service.setFaults({ rules: [] });
    expect(await summary('--state', join(disk, 'state'))).toMatchObject({
      exit: { code: 0 },
      events: { acknowledged: 300 },
    });
    const calm = await leads(300);
    await calm.run();
    const records = (of: FaultySandbox) => withoutTimes(of.state()).leads.map((lead) => ({ ...lead, id: '' }));
    expect(records(service)).toEqual(records(calm.service));
  });
});

describe.skipIf(process.platform === 'win32')('a limit of open files', () => {
  it('that is too low for the modules of the program is named, and never called a bug or a missing module', async () => {
    const { cwd } = await leads(3);
    const args = [process.execPath, CLI, 'run', 'mapping.yaml', '--sandbox', '--dry-run'];
    const told: (string | undefined)[] = [];
    // With fewer files, Node itself does not start.
    for (let most = 16; most < 30; most += 4) {
      const { status, stderr } = spawnSync('sh', ['-c', `ulimit -n ${most}; exec "$0" "$@"`, ...args], {
        cwd,
        encoding: 'utf8',
      });
      expect(stderr, `${most} files`).not.toMatch(/internal error|Cannot find (?:package|module)/);
      if (status === 2 || status === 3)
        told.push(/^(?:error|hint): .*(too many open files|ulimit -n)/m.exec(stderr)?.[1]);
    }
    expect(told).not.toEqual([]);
    expect(told).not.toContain(undefined);
  });
});
