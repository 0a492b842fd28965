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

const PROGRAM = `import { runMigration, startSandbox, surveyMigration, UserError, type Summary } from 'crm-backfill';

const sandbox = await startSandbox({ rate: { requests: 1000, seconds: 1 } });
const service = {
  baseUrl: sandbox.baseUrl,
  apiKey: sandbox.apiKey.reveal(),
  ingestToken: sandbox.ingestToken.reveal(),
};
const options = { mapping: 'mapping.yaml', rate: { requests: 1000, seconds: 1 } };
const surveyed: Summary = await surveyMigration({ ...options, service });
const sent = await runMigration({ ...options, service, onWarning: (message: string) => console.error(message) });
const again = await runMigration({ ...options, service });
const refusal = await runMigration({ ...options, service, concurrency: -1 }).catch((error: unknown) => error);
const leads: number = sandbox.state().leads.length;
await sandbox.close();
// @ts-expect-error the service is not optional here
const untyped = (): Promise<Summary> => runMigration(options);
console.log(
  JSON.stringify({
    offline: (await surveyMigration(options)).exit.code,
    surveyed: surveyed.events.pending,
    sent: sent.events.acknowledged,
    again: again.this_run.events_sent,
    refused: refusal instanceof UserError && untyped.name,
    leads,
  }),
);
`;

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  },
  files: ['program.ts'],
};

it('the package contains only what it needs, installs, and works as a program and as a library', async () => {
  const cwd = await workspace();
  const packed = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', cwd], { cwd: ROOT });
  const [pack] = JSON.parse(packed.stdout) as { filename: string; files: { path: string }[] }[];
  const paths = pack!.files.map(({ path }) => path);
  expect(paths.filter((path) => !/^(dist|mappings|schema)\//.test(path)).sort()).toEqual([
    'LICENSE',
    'README.md',
    'package.json',
  ]);
  expect(paths).toContain('dist/index.d.ts');
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
    'program.ts': PROGRAM,
    'tsconfig.json': JSON.stringify(TSCONFIG),
  });
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', `./${pack!.filename}`], { cwd });
  const backfill = (...args: string[]) => run('npx', ['--no', '--', 'crm-backfill', ...args], { cwd });
  expect((await backfill('--help')).stdout).toContain('backfill run <mapping>');
  const rehearsal = await backfill('run', 'mapping.yaml', '--sandbox', '--dry-run', '--json');
  expect(JSON.parse(rehearsal.stdout)).toMatchObject({ exit: { code: 0 }, events: { total: 2, invalid: 0 } });
  const presets = await backfill('init', 'people.csv');
  expect(presets.stdout).toContain('lead/created');
  expect(await readFile(join(cwd, 'node_modules/.bin/backfill'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);

  await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', cwd], { cwd }).catch(
    (error: { stdout: string }) => expect.fail(error.stdout),
  );
  const program = await run(process.execPath, ['program.js'], { cwd });
  expect(JSON.parse(program.stdout)).toEqual({
    offline: 0,
    surveyed: 2,
    sent: 2,
    again: 0,
    refused: 'untyped',
    leads: 2,
  });
}, 240_000);
