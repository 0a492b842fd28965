import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { files, workspace } from '../e2e/harness.ts';

/** The environment without the variables that npx sets for its own npm when it runs this suite. */
const { npm_config_package: _package, npm_config_call: _call, ...env } = process.env;

function run(command: string, args: readonly string[], options: { cwd: string }) {
  return promisify(execFile)(command, args, { ...options, env });
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

it('the package contains only what it needs, installs without its dependencies running scripts, and works', async () => {
  const cwd = await workspace();
  const packed = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', cwd], { cwd: ROOT });
  const [pack] = JSON.parse(packed.stdout) as { filename: string; files: { path: string }[] }[];
  const paths = pack!.files.map(({ path }) => path);
  expect(paths.filter((path) => !/^(dist|mappings)\//.test(path)).sort()).toEqual([
    'LICENSE',
    'README.md',
    'package.json',
  ]);
  expect(paths).toContain('dist/cli.js');
  expect(paths).toContain('mappings/mapping.schema.json');
  expect(paths.filter((path) => /demo|\btest\/|\.test\.|fixtures|\.map$/.test(path))).toEqual([]);

  await files(cwd, {
    'package.json': '{ "private": true, "type": "module" }',
    'people.csv': 'id,name\n1,Ada\n2,Alan\n',
    'mapping.yaml': `version: 1
migration: packed
sources:
  people: { path: people.csv }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name }
`,
  });
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', `./${pack!.filename}`], { cwd });
  const program = (...args: string[]) => run('npx', ['--no', '--', 'crm-backfill', ...args], { cwd });
  expect((await program('--help')).stdout).toContain('crm-backfill run <mapping>');
  const rehearsal = await program('run', 'mapping.yaml', '--sandbox', '--dry-run', '--json');
  expect(JSON.parse(rehearsal.stdout)).toMatchObject({ exit: { code: 0 }, events: { total: 2, invalid: 0 } });
  const presets = await program('init', 'people.csv');
  expect(presets.stdout).toContain('lead/created');
  expect(await readFile(join(cwd, 'node_modules/.bin/crm-backfill'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
}, 240_000);
