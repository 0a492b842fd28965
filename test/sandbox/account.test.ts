// Lost without it: a rehearsal could have other pipelines than the account.
import { parseEnv } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { uuidOf } from '../../src/sandbox/account.ts';
import { backfill, environmentOf, files, sandbox, start, workspace } from '../e2e/harness.ts';

const MAPPING = `version: 1
migration: acme
sources:
  people: { path: people.csv }
events:
  - type: lead/created
    source: people
    data: { external_id: ID, full_name: Name }
  - type: deal/created
    source: people
    data: { external_id: ID, stage_name: Stage }
`;

const ACCOUNT = {
  pipelines: [
    { id: uuidOf('p'), name: 'Elsewhere', type: 'DEAL' as const, stages: [{ id: uuidOf('s'), name: 'Open' }] },
  ],
  users: [{ id: uuidOf('u'), names: ['Olga Other'], email: 'olga@other.test' }],
};

async function project(): Promise<string> {
  const cwd = await workspace();
  await files(cwd, { 'acme.yaml': MAPPING, 'people.csv': 'ID,Name,Stage\n1,Ada,Open\n' });
  return cwd;
}

test('a sandbox with the account of a migration has the pipelines and users that its dry run read', async () => {
  const cwd = await project();
  const real = await sandbox({ account: ACCOUNT });
  const surveyed = await backfill(['run', 'acme.yaml', '--dry-run'], { cwd, env: environmentOf(real) });
  expect(surveyed.code, surveyed.stderr).toBe(0);

  const running = start(['sandbox', '--account', 'acme.yaml'], { cwd });
  onTestFinished(async () => {
    running.child.kill('SIGTERM');
    await running.ended;
  });
  const said = await new Promise<string>((resolve) => {
    let text = '';
    running.child.stdout!.on('data', (part: string) => {
      text += part;
      if (/^BACKFILL_INGEST_URL=.+\n/m.test(text)) resolve(text);
    });
  });
  const env = parseEnv(said) as Record<string, string>;
  const headers = { 'x-api-key': env.BACKFILL_API_KEY! };
  const ask = async (path: string): Promise<unknown> =>
    (await fetch(new URL(path, env.BACKFILL_INGEST_URL), { headers })).json();
  expect(await ask('/pipelines')).toMatchObject(ACCOUNT.pipelines);
  expect(await ask('/platform-users')).toMatchObject({ users: [{ fullName: 'Olga Other', email: 'olga@other.test' }] });
});

test('a migration that has read no account is refused, with what to do', async () => {
  const cwd = await project();
  await backfill(['run', 'acme.yaml', '--dry-run', '--sandbox'], { cwd });
  const rehearsed = await backfill(['sandbox', '--account', 'acme.yaml'], { cwd });
  expect(rehearsed.code).toBe(2);
  // A rehearsal reads no account, and `sandbox` has no `--sandbox`.
  expect(rehearsed.stderr).toMatch(/npx crm-backfill run acme\.yaml --dry-run$/m);
  const offline = await backfill(['run', 'acme.yaml', '--dry-run', '--offline'], { cwd });
  // Its plan is another one than with the names of the account.
  expect(offline.stdout).toMatch(/no_account[^]* npx crm-backfill run acme\.yaml --dry-run$/m);
  expect(offline.stdout).not.toMatch(/no problems found|--plan/);
  const refused = await backfill(['sandbox', '--account', 'acme.yaml'], { cwd });
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('no account is stored in');
  expect(refused.stderr).toContain('npx crm-backfill run acme.yaml --dry-run');
});
