// Lost without it: help could mislead, and a command name one that does not exist.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { sandbox } from '../e2e/harness.ts';
import { backfill, files, project, summaryOf, workspace } from '../e2e/harness.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/report/', import.meta.url));

/** Without what differs from run to run. */
function steady(text: string, cwd: string): string {
  return `${text
    .replaceAll(cwd, 'CWD')
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'BASE_URL')
    .replace(/in \d+ s/g, 'in SOME TIME')
    .replace(/\d+ \w{3} \d{4} \d\d:\d\d/g, 'DATE')
    .replace(/(Last answer +).* \(/, '$1AGO (')
    .trim()}\n`;
}

describe('the output of', () => {
  it('a dry run', async () => {
    const { cwd, told } = await project('demo');
    const ended = await told('--dry-run');
    expect(ended.stderr).toMatch(/^the API key works: .+\n$/);
    await expect(steady(ended.stdout, cwd)).toMatchFileSnapshot(join(FIXTURES, 'screens/dry-run.txt'));
  });

  it('a run, and its status afterwards', async () => {
    const { cwd, told, command, state } = await project('demo');
    const run = await told();
    await expect(steady(run.stdout, cwd)).toMatchFileSnapshot(join(FIXTURES, 'screens/run.txt'));
    const status = await command('status');
    await expect(steady(status.stdout, cwd)).toMatchFileSnapshot(join(FIXTURES, 'screens/status.txt'));
    for (const { code, stderr } of [run, status]) expect(code === 1 || stderr === '').toBe(true);
    expect(existsSync(state('report.html'))).toBe(true);
  });

  it('a run with --json: stdout has the JSON alone, and a stop says last why and how to resume', async () => {
    const ended = await (await project('demo')).run('--sandbox', '--until', '2026-01-01T06:00:00Z');
    expect(summaryOf(ended).exit).toMatchObject({ code: 3, reason: 'until' });
    expect(ended.stderr).toContain('82 rows read');
    const [, stop = ''] = ended.stderr.split(/^STOPPED/m);
    expect(stop).toContain('--until');
    expect(stop).toContain('exit code 3');
    expect(stop.trim().split('\n').at(-1)).toMatch(/npx crm-backfill run mapping.yaml .*--sandbox/);
  });
});

it('an outage is logged without a terminal when it begins and ends, and shown by status', async () => {
  const rules = [{ kind: 'outage' as const, status: 503, lasts_ms: 600_000, when: { requests: { from: 8, to: 8 } } }];
  const { service, start, command } = await project('demo', { faults: { rules } });
  const run = start();
  await expect.poll(() => run.stderr(), { timeout: 120_000 }).toContain('SERVICE DOWN');
  const status = async (): Promise<string> => (await command('status')).stdout;
  await expect.poll(status, { timeout: 120_000 }).toMatch(/^SERVICE DOWN for \d+ \w+: .*503/);
  service.setFaults({ rules: [] });
  const { stderr, code } = await run.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /SERVICE DOWN \d+ \w+ · (?:next check .*|checking) · gives up (?:\w{3} )?\d\d:\d\d · .*503.*\nthe service is back\n/,
  );
});

describe('status', () => {
  const settledIn = (service: Awaited<ReturnType<typeof sandbox>>): number =>
    service.requests().filter(({ method, status }) => method === 'POST' && status === 200).length;

  it('shows a run in progress and that it was killed, without disturbing it', async () => {
    const { cwd, service, start, command, state } = await project('demo');
    const json = async () => JSON.parse((await command('status', '--json')).stdout) as Record<string, unknown>;
    const running = start('--rate', '20/600s', '--source', 'contacts=contacts.csv', '--yes');
    await expect.poll(() => settledIn(service), { timeout: 120_000 }).toBeGreaterThan(10);
    // The window is full once nothing more is settled, and stays so for minutes.
    const more = async (): Promise<number> => {
      const before = settledIn(service);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return settledIn(service) - before;
    };
    await expect.poll(more, { timeout: 120_000 }).toBe(0);
    const found = await json();
    const events = found.events as Record<string, number>;
    expect(found).toMatchObject({ basis: 'under way', migration: 'demo', running: { pid: running.child.pid } });
    expect(events).toMatchObject({ total: 80, invalid: 6, blocked: 7 });
    expect(events.acknowledged).toBeGreaterThan(10);
    expect(found.left).toBe(67 - events.acknowledged!);
    expect(events.pending).toBe(found.left);
    expect((await command('status')).stdout).toMatch(/^RUNNING for \d+ \w+: process \d+[^]*migration demo, to http/);

    running.child.kill('SIGKILL');
    await running.ended;
    expect(await json()).toMatchObject({ basis: 'under way', running: null, events });
    // The command with the options of the run, as it works from any directory: another export would be sent without them.
    const { stdout } = await command('status');
    expect(stdout).toMatch(/^KILLED[^]*npx crm-backfill run mapping\.yaml .*--rate 20\/600s/);
    expect(stdout).toContain(`--source contacts=${join(cwd, 'contacts.csv')}`);
    expect(stdout).not.toContain('--yes');
    expect(await command('report')).toMatchObject({ code: 0, stdout: `${state('report.html')}\n` });
  });

  it('watches until the run ends', async () => {
    const { service, start, command } = await project('demo');
    const run = start('--rate', '20/1s');
    await expect.poll(() => settledIn(service), { timeout: 120_000 }).toBeGreaterThan(0);
    const looks = (await command('status', '--watch', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(looks.length).toBeGreaterThan(1);
    const { events } = summaryOf(await run.ended);
    expect(looks.at(-1)).toMatchObject({ running: null, basis: 'ended', events });
  });

  it('names the same command about the rehearsal where only a dry run of one has run', async () => {
    const { told, command } = await project('demo');
    await told('--dry-run', '--sandbox');
    for (const name of ['status', 'verify', 'report', 'plan', 'purge', 'explain']) {
      const args = name === 'explain' ? ['51000412'] : name === 'plan' ? ['--json'] : [];
      const ended = await command(name, ...args);
      expect(ended).toMatchObject({ code: 2, stdout: '' });
      expect(ended.stderr).toContain(`crm-backfill ${[name, 'mapping.yaml', ...args].join(' ')} --sandbox`);
    }
    const found = await command('status', '--sandbox');
    expect(found.stdout).toMatch(
      /^DRY RUN of mapping.yaml: nothing was sent[^]*crm-backfill run mapping.yaml .*--sandbox/,
    );
    // A run that did not start changes nothing of that.
    expect(await told('--sandbox', '--plan', '000000000000')).toMatchObject({ code: 2 });
    expect((await command('status', '--sandbox')).stdout).toBe(found.stdout);
    expect((await command('report', '--sandbox')).stderr).toContain('--sandbox --dry-run');
  });
});

describe('help', () => {
  it.each([
    [['rn'], '`run`'],
    [['run', 'a.yaml', '--dryrun'], '`--dry-run`'],
    [['run', 'a.yaml', '--max-error', '3'], '`--max-errors`'],
    [['status', 'a.yaml', '--wach'], '`--watch`'],
    [['run', 'a.yaml', 'b.yaml'], 'unexpected argument: `b.yaml`'],
    [['run'], 'missing argument: <mapping>'],
    [['xyzzy'], 'unknown command: `xyzzy`'],
    [['run', 'a.yaml', '--dry-run=yes'], '`--dry-run` takes no value'],
    [['run', 'a.yaml', '--sandbox', 'false'], '`--sandbox` takes no value'],
    [['run', 'a.yaml', '--dry-run', '--no-sandbox'], 'unknown option: `--no-sandbox`'],
    [['help', 'exit-code'], '`exit-codes`'],
    [['help', '__proto__'], 'unknown command: `__proto__`'],
    [['help', 'bad_dat'], '`bad_date`'],
    [['run', 'a.yaml', '--rate', 'abc'], 'crm-backfill run --help-all'],
  ])('says what is wrong with a command line, and what was probably meant: %j', async (args, meant) => {
    const ended = await backfill(args, { cwd: await workspace() });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(meant);
    expect(ended.stderr).toMatch(/see (?:npx )?crm-backfill .*--help/);
  });

  it('groups options, shows examples, and fits into 80 columns', async () => {
    const cwd = await workspace();
    for (const args of [['--help'], ['run', '--help'], ['init', '--help'], ['plan', '--help'], ['report', '--help']]) {
      const { code, stdout } = await backfill(args, { cwd });
      expect(code).toBe(0);
      expect(stdout).toContain('Examples:');
      expect(stdout).not.toMatch(/\[(?:string|boolean|array|required|default: \[\])\]/);
      for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    }
    // A command that is to be copied is not broken.
    expect((await backfill(['plan', '--help'], { cwd })).stdout).toMatch(/ plan acme\.yaml --dry-run --csv plan\/$/m);
    const { stdout } = await backfill(['run', '--help-all'], { cwd });
    for (const group of ['Input:', 'What to send:', 'Service:', 'Pace:', 'When to stop:', 'Output:']) {
      expect(stdout).toContain(group);
    }
  });

  it('of run shows the options that most migrations use, and says where the others are', async () => {
    const cwd = await workspace();
    const [short, whole] = await Promise.all(
      ['--help', '--help-all'].map(async (help) => {
        const { stdout } = await backfill(['run', help], { cwd });
        return { stdout, options: stdout.match(/(?<=^ {2}--)[\w-]+(?= {2,})/gm)! };
      }),
    );
    expect(short!.options.filter((name) => name !== 'help' && name !== 'version')).toEqual([
      ...['source', 'dry-run', 'plan', 'pilot', 'pick', 'sandbox', 'fresh'],
      ...['rate', 'max-errors', 'max-omitted', 'until'],
    ]);
    expect(short!.stdout).toContain('crm-backfill run --help-all');
    expect(whole!.options).toEqual(expect.arrayContaining([...short!.options, 'max-outage', 'concurrency', 'adopt']));
    const near = await backfill(['run', 'a.yaml', '--max-outag', '1h'], { cwd });
    expect(near.stderr).toContain('`--max-outage`');
  });

  it.each([
    ['contacts.csv', 'is an export', 'init contacts.csv'],
    ['.', 'is a directory', 'init'],
    ['-', 'stdin', 'file'],
    ['nothing.yaml', 'not found', 'init'],
    ['maping.yaml', 'not found', 'did you mean `mapping.yaml`?'],
    ['export.json', 'is an export', 'init export.json'],
  ])('says what was given in place of a mapping: %s', async (given, what, hint) => {
    const cwd = await workspace('demo');
    await files(cwd, { 'export.json': '{ "people": [{ "id": 1 }] }' });
    const { code, stderr } = await backfill(['run', given, '--dry-run', '--sandbox'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain(what);
    expect(stderr).toContain(hint);
  });
});
