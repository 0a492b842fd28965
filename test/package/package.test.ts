// Lost without it: the package could lack a file, run a script or need a package for development.
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, readFile, rename, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/errors.ts';
import { OPTIONS } from '../../src/settings/table.ts';
import { environmentOf, FAST, files, FIXTURES, mapping, sandbox, workspace } from '../e2e/harness.ts';
import { RUN_AGAIN } from '../readme/sections.ts';

/** The environment without the variables that npx sets for its own npm when it runs this suite. */
const { npm_config_package: _package, npm_config_call: _call, ...env } = process.env;

function run(command: string, args: readonly string[], options: { cwd: string }) {
  return promisify(execFile)(command, args, { ...options, env });
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Licences that require no more than a notice. */
const PERMISSIVE = [
  'MIT',
  'MIT/X11',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
];

interface Manifest {
  readonly name: string;
  readonly license?: string;
  readonly scripts?: Readonly<Record<string, string>>;
}

const read = <T>(...path: string[]): T => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8')) as T;

interface Locked {
  readonly dev?: boolean;
}

/** Every package that an installation includes, according to the lockfile. */
const locked = Object.entries(read<{ packages: Record<string, Locked> }>('package-lock.json').packages).filter(
  ([path, { dev }]) => path !== '' && !dev,
);
const manifests = locked.map(([path]) => read<Manifest>(path, 'package.json'));

it('the package contains only what it needs, and works with its runtime dependencies alone', async () => {
  const cwd = await workspace();
  const packed = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', cwd], { cwd: ROOT });
  const [pack] = JSON.parse(packed.stdout) as { filename: string; files: { path: string }[] }[];
  const paths = pack!.files.map(({ path }) => path);
  expect(paths.filter((path) => !/^(dist|mappings)\//.test(path)).sort()).toEqual([
    'LICENSE',
    'README.md',
    'package.json',
  ]);
  expect(paths).toContain('mappings/mapping.schema.json');
  expect(paths.filter((path) => /demo|\btest\/|\.test\.|fixtures|\.map$/.test(path))).toEqual([]);

  await files(cwd, {
    'people.csv': 'id,name\n1,Ada\n2,Alan\n',
    'mapping.yaml': mapping({ people: 'type: lead/created, data: { external_id: id, full_name: name }' }),
  });
  const modules = join(cwd, 'node_modules');
  await mkdir(modules);
  await run('tar', ['-xzf', pack!.filename], { cwd });
  await rename(join(cwd, 'package'), join(modules, 'crm-backfill'));
  for (const [path] of locked) {
    if (path.split('node_modules').length > 2) continue;
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await symlink(join(ROOT, path), join(cwd, path));
  }
  const { bin } = read<{ bin: Record<string, string> }>('package.json');
  const cli = join(modules, 'crm-backfill', bin['crm-backfill']!);
  expect(await readFile(cli, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  // Node follows links to where the packages of this checkout are, unless told not to.
  const node = ['--preserve-symlinks', '--preserve-symlinks-main', cli];
  const rehearsal = await run(process.execPath, [...node, 'run', 'mapping.yaml', '--sandbox', '--dry-run', '--json'], {
    cwd,
  });
  expect(JSON.parse(rehearsal.stdout)).toMatchObject({ exit: { code: 0 }, events: { total: 2, invalid: 0 } });
});

it('every runtime dependency has a permissive licence', () => {
  const names = manifests.map(({ name }) => name);
  for (const name of Object.keys(read<{ dependencies: object }>('package.json').dependencies)) {
    expect(names).toContain(name);
  }
  const others = manifests.filter(({ license }) => !license || !PERMISSIVE.includes(license));
  expect(others.map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
});

/** Its script only looks whether a binary is there, which the package has for every system: it works without it. */
const NEEDLESS = ['@photostructure/sqlite'];

it('no runtime dependency needs an install script', () => {
  const scripted = manifests.filter(({ scripts = {} }) =>
    ['preinstall', 'install', 'postinstall'].some((name) => name in scripts),
  );
  expect(scripted.map(({ name }) => name)).toEqual(NEEDLESS);
});

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

it('a version of Node that cannot run the program gets a sentence with exit code 2', () => {
  // What versions before 20.19 lack, and the others can switch off.
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-experimental-require-module', CLI, 'run'], {
    encoding: 'utf8',
  });
  expect(stderr).toBe(
    `error: this is Node ${process.versions.node}; crm-backfill needs Node 20.19 or 22.12, or later\n`,
  );
  expect(stdout).toBe('');
  expect(status).toBe(2);
});

it('nothing of the program is loaded before the version of Node is checked', () => {
  const code = readFileSync(CLI, 'utf8');
  const imported = [...code.matchAll(/^import .* from '(.*)';$/gm)].map(([, name]) => name!);
  expect(imported).toContain('node:module');
  expect(imported.filter((name) => !name.startsWith('node:'))).toEqual([]);
  expect(code).not.toMatch(/^\s*(await|export)\b/m);
});

it('a part of the program that cannot be loaded is named before the first request', async () => {
  const service = await sandbox();
  const cwd = await workspace('demo');
  const program = await workspace();
  for (const name of ['dist', 'package.json', 'mappings'])
    await cp(join(ROOT, name), join(program, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(program, 'node_modules'));
  for (const lost of ['send/send.js', 'report/print/progress.js']) {
    const path = join(program, 'dist', lost);
    await rename(path, `${path}.lost`);
    const args = [join(program, 'dist/cli.js'), 'run', 'mapping.yaml', ...FAST];
    const { status, stderr } = spawnSync(process.execPath, args, {
      cwd,
      env: { ...env, ...environmentOf(service) },
      encoding: 'utf8',
    });
    await rename(`${path}.lost`, path);
    expect(stderr).toMatch(/^error: a part of this program cannot be loaded .*\nhint: install it again/m);
    expect(stderr).toContain(lost);
    expect(status).toBe(2);
  }
  expect(service.requests()).toEqual([]);
});

const deploy = (file: string): Promise<string> => readFile(join(FIXTURES, 'deploy', file), 'utf8');

describe('the systemd unit', () => {
  const setting = async (name: string): Promise<string> =>
    new RegExp(`^${name}=(.*)$`, 'm').exec(await deploy('backfill.service'))![1]!;

  it('restarts a run only after a signal that was not meant for it, as the table of exit codes says', async () => {
    expect(await setting('Restart')).toBe('on-failure');
    const final = Object.entries(EXIT).filter(([, code]) => code !== EXIT.done && !RUN_AGAIN.includes(code));
    expect((await setting('RestartPreventExitStatus')).split(' ')).toEqual(final.map(([, code]) => String(code)));
  });

  it('waits longer for the end of a run than a request and the last notification may take', async () => {
    expect(Number(await setting('TimeoutStopSec'))).toBeGreaterThan(Number(OPTIONS.timeout.default) + 10);
  });
});

describe('the Dockerfile', () => {
  it('runs as an ordinary user, with the program as the process that gets the signals, and the state in a volume', async () => {
    const instructions = (await deploy('Dockerfile'))
      .split('\n')
      .filter((line) => /^[A-Z]+ /.test(line))
      .map((line) => line.split(' ', 1)[0]);
    const text = await deploy('Dockerfile');
    expect(instructions).toEqual(['FROM', 'COPY', 'RUN', 'USER', 'WORKDIR', 'VOLUME', 'ENTRYPOINT', 'CMD']);
    expect(text).toContain('\nUSER node\n');
    expect(text).toContain('\nENTRYPOINT ["crm-backfill"]\n');
    const [, stopTimeout] = /--stop-timeout (\d+)/.exec(text)!;
    expect(Number(stopTimeout)).toBeGreaterThan(Number(OPTIONS.timeout.default) + 10);
    const [, volume] = /--volume \S+:(\S+) crm-backfill run acme\.yaml --state (\S+)/.exec(text)!;
    expect(text).toContain(`\nVOLUME ${volume}\n`);
  });
});
