import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../../src/commands/run.ts';
import { verify } from '../../src/commands/verify.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import { COMPARED } from '../../src/compare/fields.ts';
import { grouped } from '../../src/decimal.ts';
import { ControlSum } from '../../src/report/control-totals.ts';
import type { Summary } from '../../src/report/summary.ts';
import { StageTotals } from '../../src/verify/control-totals.ts';
import { Lock } from '../../src/lock.ts';
import { StateDir } from '../../src/state-dir.ts';
import type { Verification } from '../../src/verify/verify.ts';
import { call, envFile, type Said } from '../commands/in-process.ts';
import { backfill, files, sandbox, workspace } from '../e2e/harness.ts';

/** A dry run, which surveys an input or mapping that has changed since the run. */
async function survey(cwd: string, target: Sandbox): Promise<void> {
  const argv = { mapping: join(cwd, 'mapping.yaml'), envFile: await envFile(target), rate: '100000/1s', quiet: true };
  await call(run, { ...argv, dryRun: true });
}

type Argv = Readonly<Record<string, unknown>>;

/** The clock of the service: it does not move unless a test moves it. */
let now = 0;
beforeEach(() => {
  now = Date.parse('2026-01-31T12:00:00Z');
});
const DAY_MS = 86_400_000;

async function service(options: SandboxOptions = {}): Promise<Sandbox> {
  return sandbox({ clock: () => now, ...options });
}

async function migrate(cwd: string, target: Sandbox): Promise<void> {
  const argv = { mapping: join(cwd, 'mapping.yaml'), envFile: await envFile(target), rate: '100000/1s', quiet: true };
  const ended = await call(run, argv);
  expect([0, 1], ended.stderr).toContain(ended.code);
}

async function check(cwd: string, target: Sandbox, options: Argv = {}): Promise<Said & { found: Verification }> {
  const argv = { mapping: join(cwd, 'mapping.yaml'), envFile: await envFile(target), rate: '100000/1s', json: true };
  const said = await call(verify, { ...argv, ...options });
  expect(said.stdout, said.stderr).not.toBe('');
  return { ...said, found: JSON.parse(said.stdout) as Verification };
}

/** One event from another client. */
async function ingest(target: Sandbox, type: string, data: object): Promise<void> {
  const answer = await fetch(`${target.baseUrl}/webhooks/ingest/${target.ingestToken.reveal()}`, {
    method: 'POST',
    headers: { 'x-api-key': target.apiKey.reveal(), 'content-type': 'application/json' },
    body: JSON.stringify({ id: `somebody-${Math.random()}`, type, suppress_triggers: true, data }),
  });
  expect(answer.status).toBe(200);
}

function reads(target: Sandbox, path: string): string[] {
  const requests = target.requests();
  const lastWrite = requests.findLastIndex(({ method }) => method === 'POST');
  return requests
    .slice(lastWrite + 1)
    .filter((request) => request.method === 'GET' && request.path.startsWith(path))
    .map((request) => request.path);
}

const LEADS = `version: 1
migration: people
sources:
  people: { path: people.csv }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name, email: email }
`;

async function people(count: number, mapping = LEADS): Promise<string> {
  const cwd = await workspace();
  const rows = Array.from({ length: count }, (_, id) => `${id},Name ${id},p${id}@example.test\n`);
  await files(cwd, { 'people.csv': `id,name,email\n${rows.join('')}`, 'mapping.yaml': mapping });
  return cwd;
}

describe('verify', () => {
  it('finds no differences after a migration, changes nothing, and exits with 0', async () => {
    const target = await service();
    const cwd = await workspace('demo');
    await migrate(cwd, target);
    const writes = target.requests().filter(({ method }) => method !== 'GET').length;
    const { code, found, stdout, stderr } = await check(cwd, target, { sample: 'all' });
    expect(code).toBe(0);
    expect(found.exit).toEqual({ code: 0, reason: 'same' });
    const { lead, deal } = found.entities;
    expect(lead).toMatchObject({ acknowledged: 27, read_back: 27, missing: 0, without_id: 0, not_in_input: 0 });
    expect(lead.fields.full_name).toMatchObject({ same: 26, different: 0 });
    expect(lead.fields.custom_params).toMatchObject({ not_comparable: 27 });
    expect(deal).toMatchObject({ acknowledged: 19, read_back: 19 });
    for (const name of ['amount', 'currency', 'stage_id', 'pipeline', 'lead_external_id']) {
      expect(deal.fields[name], name).toMatchObject({ same: 19, different: 0, changed: 0, edited: 0 });
    }
    expect(deal.fields.title).toMatchObject({ not_comparable: 19 });
    expect(deal.fields.owner_id).toMatchObject({ not_comparable: 18 });
    expect(found.first_differences).toEqual([]);
    expect(target.requests().filter(({ method }) => method !== 'GET')).toHaveLength(writes);
    expect(stderr).toContain('leads: 27 of 27 acknowledged records read back');
    expect(stderr).toContain('custom fields, owners');
    expect(stdout + stderr).not.toContain(target.apiKey.reveal());

    const path = join(cwd, '.backfill/demo/verify.csv');
    expect(found.files.verify).toBe(path);
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(2);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('reports every deal with a wrong stage, with the names of both stages', async () => {
    const target = await service();
    const cwd = await workspace('demo');
    await migrate(cwd, target);
    const mapping = await readFile(join(cwd, 'mapping.yaml'), 'utf8');
    const wrong = mapping.replace('Qualified to Buy: Qualified', 'Qualified to Buy: Proposal');
    expect(wrong).not.toBe(mapping);
    await writeFile(join(cwd, 'mapping.yaml'), wrong.replace('Channel: Partners', 'Channel: Sales'));
    await survey(cwd, target);
    const { code, found, stderr } = await check(cwd, target, { sample: 'all' });
    expect(code).toBe(1);
    expect(found.exit.reason).toBe('different');

    const qualified = target.account.pipelines.flatMap(({ stages }) =>
      stages.filter(({ name }) => name === 'Qualified'),
    );
    const affected = target.state().deals.filter(({ stageId }) => qualified.some(({ id }) => id === stageId));
    expect(affected.length).toBeGreaterThan(3);
    const table = (await readFile(found.files.verify, 'utf8')).split('\n');
    for (const { externalId } of affected) {
      expect(table.some((line) => line.startsWith(`deal,${externalId},`) && line.includes(',stage_id,changed,'))).toBe(
        true,
      );
    }
    expect(found.entities.deal.fields.stage_id!.changed).toBeGreaterThanOrEqual(affected.length);
    expect(found.entities.deal.fields.pipeline!.changed).toBeGreaterThan(0);
    expect(found.entities.deal.fields.amount).toMatchObject({ same: 19 });
    expect(stderr).toContain('expected `Sales / Proposal`, found `Sales / Qualified` (changed since sent)');
  });

  it('distinguishes values that differ from values edited later', async () => {
    const target = await service();
    const cwd = await people(4);
    await migrate(cwd, target);
    await ingest(target, 'lead/updated', { external_id: '1', full_name: 'Not As Sent' });
    now += DAY_MS;
    await ingest(target, 'lead/updated', { external_id: '2', full_name: '=Edited', email: 'P2@example.test' });
    const { code, found } = await check(cwd, target, { sample: 'all' });
    expect(code).toBe(1);
    expect(found.entities.lead.fields.full_name).toMatchObject({ same: 2, different: 1, edited: 1 });
    expect(found.entities.lead.fields.email).toMatchObject({ same: 3, normalised: 1 });
    expect(
      found.first_differences.map(({ external_id: id, field, verdict }) => `${id} ${field} ${verdict}`).sort(),
    ).toEqual(['1 full_name different', '2 email normalised', '2 full_name edited']);
    expect(await readFile(found.files.verify, 'utf8')).toContain(`full_name,edited,Name 2,'=Edited,`);
  });

  it('does not fail for values edited later', async () => {
    const target = await service();
    const cwd = await people(3);
    await migrate(cwd, target);
    now += DAY_MS;
    await ingest(target, 'lead/updated', { external_id: '2', full_name: 'Edited' });
    const { code, found } = await check(cwd, target);
    expect(code).toBe(0);
    expect(found.entities.lead.fields.full_name).toMatchObject({ same: 2, edited: 1 });
  });

  it('lists records that no longer exist', async () => {
    const cwd = await people(5);
    const journal = join(cwd, 'journal.ndjson');
    const options = { rate: { requests: 100_000, seconds: 1 }, journal, apiKey: 'key-key', ingestToken: 'token-token' };
    const before = await startSandbox(options);
    await migrate(cwd, before);
    await before.close();
    const lines = (await readFile(journal, 'utf8')).split('\n');
    await writeFile(journal, lines.filter((line) => !line.includes('p3@example.test')).join('\n'));
    const after = await startSandbox({ ...options, port: Number(new URL(before.baseUrl).port) });
    onTestFinished(() => after.close());
    expect(after.state().leads).toHaveLength(4);
    const { code, found, stderr } = await check(cwd, after, { sample: 'all' });
    expect(code).toBe(1);
    expect(found.exit.reason).toBe('missing');
    expect(found.entities.lead).toMatchObject({ read_back: 5, missing: 1 });
    expect(found.entities.lead.fields.full_name).toMatchObject({ same: 4 });
    expect(found.first_differences).toMatchObject([{ external_id: '3', verdict: 'missing' }]);
    expect(stderr).toContain('lead 3: missing');
  });

  it('reports values changed in the input since they were sent', async () => {
    const target = await service();
    const cwd = await people(4);
    await migrate(cwd, target);
    const table = await readFile(join(cwd, 'people.csv'), 'utf8');
    await writeFile(join(cwd, 'people.csv'), table.replace('Name 1', 'Other Name').replace(/^3,.*\n/m, ''));
    await survey(cwd, target);
    const { code, found, stderr } = await check(cwd, target);
    expect(code).toBe(1);
    expect(found.entities.lead.not_in_input).toBe(1);
    expect(found.entities.lead.fields.full_name).toMatchObject({ same: 2, changed: 1 });
    expect(stderr).toContain('expected `Other Name`, found `Name 1` (changed since sent)');
  });

  it('expects the values of the updates, applied in order', async () => {
    const target = await service();
    const cwd = await people(
      3,
      `${LEADS.replace('people.csv }', 'people.csv }\n  later: { path: later.csv }')}  - type: lead/updated
    source: later
    data: { external_id: id, full_name: name }
`,
    );
    await files(cwd, { 'later.csv': 'id,name\n1,Once\n1,Twice\n' });
    await migrate(cwd, target);
    const { code, found } = await check(cwd, target, { sample: 'all' });
    expect(code, JSON.stringify(found.first_differences)).toBe(0);
    expect(target.state().leads.map(({ fullName }) => fullName)).toEqual(['Name 0', 'Twice', 'Name 2']);
    expect(found.entities.lead.fields.full_name).toMatchObject({ same: 3 });
    expect(found.entities.lead.fields.email).toMatchObject({ same: 3 });
  });

  it('counts records without a known service id and parents that cannot be compared', async () => {
    const target = await service();
    await ingest(target, 'lead/created', { external_id: '1', full_name: 'Somebody' });
    const cwd = await people(
      2,
      `${LEADS.replace('source: people\n', 'source: people\n    if_exists: skip\n')}  - type: deal/created
    source: people
    if_parent_missing: send
    data: { external_id: id, lead_external_id: id, amount: { value: 5 } }
`,
    );
    await migrate(cwd, target);
    const { code, found, stderr } = await check(cwd, target);
    expect(code).toBe(0);
    expect(found.entities.lead).toMatchObject({ acknowledged: 2, read_back: 1, without_id: 1 });
    expect(stderr).toContain('1 without a known service id');
    expect(found.entities.deal.fields.lead_external_id).toMatchObject({ same: 1, not_comparable: 1 });
  });
});

describe('the control totals of verify', () => {
  it('show by stage and currency what was sent and what the service has, and add up', async () => {
    const target = await service();
    const cwd = await workspace('demo');
    await migrate(cwd, target);
    const same = await check(cwd, target, { sample: 'all' });
    expect(same.found.totals.length).toBeGreaterThan(4);
    for (const total of same.found.totals) {
      expect([total.found_count, total.found_amount]).toEqual([total.expected_count, total.expected_amount]);
    }
    const summary = JSON.parse(await readFile(join(cwd, '.backfill/demo/summary.json'), 'utf8')) as Summary;
    const { acknowledged_count: count, acknowledged_amount: amount } = ControlSum.of(summary.totals).figures;
    const all = new RegExp(`all +EUR +${count} +${grouped(amount)} +${count} +${grouped(amount)}`);
    expect(same.stderr).toContain('control totals of all 19 acknowledged deals');
    expect(same.stderr).toMatch(all);

    const won = target.account.pipelines[0]!.stages.find(({ name }) => name === 'Won')!;
    await ingest(target, 'deal/updated', { external_id: '9700121', stage_id: won.id, amount: 0.1 });
    const { found, stderr } = await check(cwd, target, { sample: 'all' });
    const stage = (name: string): object | undefined =>
      found.totals.find((total) => total.pipeline === 'Sales' && total.stage === name);
    expect(stage('Qualified')).toMatchObject({
      expected_count: 4,
      expected_amount: '3922.00',
      found_count: 3,
      found_amount: '2941.50',
    });
    expect(stage('Won')).toMatchObject({
      expected_count: 2,
      expected_amount: '6000.00',
      found_count: 3,
      found_amount: '6000.10',
    });
    expect(stderr).toMatch(/Sales \/ Won +EUR +2 +6,000\.00 +3 +6,000\.10/);
  });

  it('say which part of the deals they are about', async () => {
    const target = await service();
    const cwd = await workspace('demo');
    await migrate(cwd, target);
    const { found, stderr } = await check(cwd, target, { sample: '5' });
    expect(stderr).toContain('control totals of 5 of the 19 acknowledged deals');
    expect(found.totals.reduce((sum, total) => sum + total.found_count, 0)).toBe(5);
  });

  it('say that the service does not return amounts, and take the stage and currency that were sent', () => {
    const totals = new StageTotals();
    const expected = COMPARED.deal.map(({ name }) => {
      const value = { amount: '12.5', currency: 'EUR', stage_id: 's' }[name];
      return value === undefined ? undefined : { value, sent: value };
    });
    totals.add(expected, { id: 'x' });
    totals.add(expected, undefined);
    const list = totals.list({
      pipelines: [{ id: 'p', name: 'Sales', type: 'DEAL', stages: [{ id: 'S', name: 'Won' }] }],
      users: [],
    });
    const group = { pipeline: 'Sales', stage: 'Won', currency: 'EUR' };
    expect(list).toEqual([
      { ...group, expected_count: 2, expected_amount: '25.00', found_count: 1, found_amount: null },
    ]);
  });
});

it('verify compares every record, including two that the service has merged', async () => {
  const target = await service();
  const cwd = await people(3);
  await migrate(cwd, target);
  const path = join(cwd, '.backfill/people/checkpoint.ndjson');
  const [, second, third] = target.state().leads;
  await writeFile(path, (await readFile(path, 'utf8')).replaceAll(third!.id, second!.id));
  const { code, found } = await check(cwd, target, { sample: 'all' });
  expect(code).toBe(1);
  expect(found.entities.lead).toMatchObject({ read_back: 3, missing: 0 });
  expect(found.entities.lead.fields.full_name).toMatchObject({ same: 2, different: 1 });
  expect(found.first_differences[0]).toMatchObject({ external_id: '2', expected: 'Name 2', actual: 'Name 1' });
});

describe('verify --sample', () => {
  it('reads a small sample one by one, always the same records, spread over the export', async () => {
    const target = await service();
    const cwd = await people(300);
    await migrate(cwd, target);
    const first = await check(cwd, target, { sample: '4' });
    expect(first.found.entities.lead).toMatchObject({ acknowledged: 300, read_back: 4 });
    const asked = reads(target, '/leads');
    expect(asked).toHaveLength(4);
    expect(asked.every((path) => /^\/leads\/[\da-f-]+$/.test(path))).toBe(true);
    await check(cwd, target, { sample: '4' });
    expect(reads(target, '/leads').slice(4).sort()).toEqual(asked.toSorted());
  });

  it('reads list pages of 100 if that takes fewer requests', async () => {
    const target = await service();
    const cwd = await people(300);
    await migrate(cwd, target);
    const { found } = await check(cwd, target);
    expect(found.sample).toBe(100);
    expect(found.entities.lead).toMatchObject({ read_back: 100, missing: 0 });
    expect(found.entities.lead.fields.full_name).toMatchObject({ same: 100 });
    expect(reads(target, '/leads').length).toBeLessThanOrEqual(3);
    expect(reads(target, '/leads')[0]).toBe('/leads?page=1&pageSize=100');
  });
});

describe('verify, when it cannot,', () => {
  const say = async (cwd: string, target: Sandbox, options: Argv = {}): Promise<Said> =>
    call(verify, { mapping: join(cwd, 'mapping.yaml'), envFile: await envFile(target), ...options });

  it.each([
    [{ sample: '0' }, '--sample'],
    [{ sample: 'some' }, '--sample'],
    [{ rate: 'abc' }, '--rate'],
  ])('refuses %j as a usage error', async (options, why) => {
    const said = await say(await people(1), await service(), options);
    expect(said.code).toBe(2);
    expect(said.stderr).toContain(why);
  });

  it('reports that nothing has been sent yet', async () => {
    const target = await service();
    const cwd = await people(1);
    expect(await say(cwd, target)).toMatchObject({ code: 2 });
    await call(run, { mapping: join(cwd, 'mapping.yaml'), envFile: await envFile(target), dryRun: true, quiet: true });
    const said = await say(cwd, target);
    expect(said.code).toBe(2);
    expect(said.stderr).toContain('nothing to verify');
  });

  it('does not start while a run uses the state directory', async () => {
    const target = await service();
    const cwd = await people(1);
    await migrate(cwd, target);
    const lock = await Lock.acquire(await StateDir.existing(join(cwd, '.backfill/people')), { takeOver: false });
    onTestFinished(() => lock.release());
    const said = await say(cwd, target);
    expect(said.code).toBe(3);
    expect(said.stderr).toContain('in use');
  });

  it('refuses a service other than the one that events were sent to', async () => {
    const cwd = await people(1);
    await migrate(cwd, await service());
    const said = await say(cwd, await service());
    expect(said.code).toBe(2);
    expect(said.stderr).toContain('another base URL');
  });

  it('refuses another account at the same base URL, and keeps the stored account', async () => {
    const cwd = await people(1);
    const right = await startSandbox({ apiKey: 'key-key', ingestToken: 'token-token' });
    await migrate(cwd, right);
    await right.close();
    const stored = await readFile(join(cwd, '.backfill/people/account.json'), 'utf8');
    const account = {
      pipelines: right.account.pipelines.map((pipeline) => ({ ...pipeline, id: `other-${pipeline.id}` })),
      users: [],
    };
    const port = Number(new URL(right.baseUrl).port);
    const wrong = await startSandbox({ apiKey: 'key-key', ingestToken: 'token-token', account, port });
    onTestFinished(() => wrong.close());
    const said = await say(cwd, wrong);
    expect(said.code).toBe(2);
    expect(said.stderr).toContain('another account');
    expect(await readFile(join(cwd, '.backfill/people/account.json'), 'utf8')).toBe(stored);
  });
});

it('backfill verify checks a rehearsal against its own records', async () => {
  const cwd = await workspace('demo');
  await backfill(['run', 'mapping.yaml', '--sandbox'], { cwd });
  const ended = await backfill(['verify', 'mapping.yaml', '--sandbox', '--sample', 'all', '--json'], { cwd });
  expect(ended.code, ended.stderr).toBe(0);
  expect((JSON.parse(ended.stdout) as Verification).entities.deal.fields.stage_id).toMatchObject({ same: 19 });
});
