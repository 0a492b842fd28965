import { randomUUID } from 'node:crypto';
import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { explain } from '../../src/commands/explain.ts';
import { run } from '../../src/commands/run.ts';
import type { RecordStory } from '../../src/explain/story.ts';
import { Lock } from '../../src/lock.ts';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/index.ts';
import { StateDir } from '../../src/state-dir.ts';
import { backfill, environmentOf, FAST, files, filesBelow, sandbox, workspace } from '../e2e/harness.ts';
import { migrate, type Options } from '../faults/in-process.ts';
import { send } from '../sandbox/client.ts';
import type { LiveRecord } from '../../src/verify/record.ts';
import { call, envFile, type Said } from './in-process.ts';

const MAPPING = `version: 1
migration: told
defaults: { region: IT }
sources:
  people: { path: people.csv }
  changes: { path: changes.csv }
  deals: { path: deals.csv }
  notes: { path: notes.json }
references:
  stages: { Closed: Negotiation }
events:
  - type: lead/created
    source: people
    duplicates: first
    if_contact_exists: ignore
    data:
      external_id: Id
      full_name: Name
      phone_number: { from: Phone, apply: [phone] }
      custom_params: { joined: { from: Joined, on_error: reject, apply: [{ date: { formats: [yyyy-MM-dd], as: date } }] } }
  - type: lead/updated
    source: changes
    data: { external_id: Id, full_name: Name }
  - type: deal/created
    source: deals
    if_parent_missing: send
    data:
      external_id: Id
      title: Title
      amount: Amount
      lead_external_id: Lead
      stage_name: Stage
      owner_name: Owner
  - type: comment/created
    source: notes
    data: { external_id: id, content: text, deal_external_id: deal }
`;

const EXPORTS = {
  'people.csv': `Id,Name,Phone,Joined
1,Ada,ask her,2024-01-31
2,Bob,+39 06 6982 1000,2024-02-31
3,Carl,'-,2024-03-01
3,Carlo,,2024-03-01
`,
  'changes.csv': 'Id,Name\n',
  'deals.csv': `Id,Title,Amount,Lead,Stage,Owner
100,Roof,1250.50,1,Closed,Ada Lovelace
101,Door,,2,Closed,
102,Gate,,99,Closed,
1001,Wall,,1,Closed,
`,
  'notes.json': JSON.stringify([
    { id: 'n1', text: 'Called', deal: '100' },
    { text: 'Called again', deal: '100' },
    { text: 'Called again', deal: '100' },
    { id: 'n3', text: 'Wrong number', deal: '101' },
  ]),
};

interface Scene {
  readonly service: Sandbox;
  readonly cwd: string;
  readonly state: string;
  readonly run: (options?: Options) => Promise<unknown>;
  readonly tell: (record: string, options?: Options) => Promise<Said>;
  readonly story: (record: string, options?: Options) => Promise<RecordStory & { readonly live?: LiveRecord }>;
}

/** A migration in which something has become of every record. */
async function scene(changes: Readonly<Record<string, string>> = {}, options: SandboxOptions = {}): Promise<Scene> {
  const service = await sandbox(options);
  const cwd = await workspace();
  await files(cwd, { 'mapping.yaml': MAPPING, ...EXPORTS, ...changes });
  const mapping = join(cwd, 'mapping.yaml');
  const tell: Scene['tell'] = (record, options = {}) => call(explain, { mapping, record, ...options });
  return {
    service,
    cwd,
    state: join(cwd, '.backfill/told'),
    run: (options) => migrate(service, mapping, options),
    tell,
    story: async (record, options) => {
      const said = await tell(record, { json: true, ...options });
      expect(said.code, said.stderr).toBe(0);
      return JSON.parse(said.stdout.replaceAll(`${cwd}/`, '')) as RecordStory;
    },
  };
}

/** Without what differs from run to run. */
function steady(text: string): string {
  return text
    .replace(/\b\d\d:\d\d\b/g, 'HH:MM')
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UUID')
    .replace(/updated \S+Z/, 'updated TIME');
}

/** The path that is shown depends on where the checkout is. */
function named(name: string): unknown {
  return expect.stringMatching(new RegExp(`(?:^|/)${name}$`));
}

describe('explain', { timeout: 60_000 }, () => {
  it('shows the story of a record on one screen', async () => {
    const { service, cwd } = await scene();
    const env = environmentOf(service);
    await backfill(['run', 'mapping.yaml', ...FAST], { cwd, env });
    const { stdout } = await backfill(['explain', 'mapping.yaml', 'deal:100', '--live'], { cwd, env });
    const lines = stdout.split('\n');
    expect(lines.length).toBeLessThan(50);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(steady(stdout)).toMatchInlineSnapshot(`
      "deal:100   acknowledged: the service has it
      in the service   UUID

      in the export   deals.csv:2 (deals, record 1)
        Id      100
        Title   Roof
        Amount  1250.50
        Lead    1
        Stage   Closed
        Owner   Ada Lovelace

      deal/created as planned   acknowledged
        amount            1250.5
        lead_external_id  1
        owner_id          Ada Lovelace (UUID)
        stage_id          Sales / Negotiation (UUID)
        title             Roof

      parent
        lead:1   acknowledged  people.csv:2  Ada

      3 children: 3 acknowledged
        comment:n1   acknowledged  notes.json:1  Called
        comment without an id   acknowledged  notes.json:1  Called again
        comment without an id   acknowledged  notes.json:1  Called again

      sent, and answered
        HH:MM  deal/created   acknowledged (created)

      from the run of HH:MM: .backfill/told/plan.ndjson

      in the service now   updated TIME
        title             (not shown, or its parent is not part of this migration)
        amount            1250.5
        stage_id          Sales / Negotiation
        pipeline          Sales
        lead_external_id  UUID
        owner_id          (not shown, or its parent is not part of this migration)
      "
    `);
  });

  it('prints the same as one JSON object', async () => {
    const { service, run: migrated, story } = await scene();
    await migrated();
    expect(await story('deal:100', { live: true, envFile: await envFile(service) })).toMatchObject({
      record: 'deal:100',
      state: 'acknowledged',
      plan: { dry_run: false },
      events: [
        {
          type: 'deal/created',
          state: 'acknowledged',
          source: 'deals',
          file: named('deals.csv'),
          line: 2,
          record: 1,
          raw: { Id: '100', Title: 'Roof', Amount: '1250.50', Lead: '1', Stage: 'Closed', Owner: 'Ada Lovelace' },
          data: { title: 'Roof', amount: 1250.5, lead_external_id: '1' },
          errors: [],
          omitted: [],
        },
      ],
      parent: { record: 'lead:1', name: 'Ada', state: 'acknowledged', file: named('people.csv'), line: 2 },
      children: { count: 3, by_state: { acknowledged: 3 } },
      answers: [{ type: 'deal/created', status: 'acknowledged', outcome: 'created' }],
      live: { found: true },
    });
  });

  it('tells what was left out and why', async () => {
    const { run: migrated, tell } = await scene();
    await migrated();
    const { stdout } = await tell('lead:1');
    expect(stdout).toContain('left out\n    phone_number `ask her`: `ask her` is not a valid phone number in IT');
  });

  it('tells why a record is invalid, with its row, and that its children are blocked', async () => {
    const { run: migrated, tell, story } = await scene();
    await migrated();
    expect(await story('lead:2')).toMatchObject({
      state: 'invalid',
      events: [
        { file: named('people.csv'), line: 3, raw: { Name: 'Bob', Phone: '+39 06 6982 1000', Joined: '2024-02-31' } },
      ],
      children: { by_state: { blocked: 1 }, first: [{ record: 'deal:101', name: 'Door', state: 'blocked' }] },
      answers: [],
    });
    const { stdout } = await tell('lead:2');
    expect(stdout).toContain('custom_params.joined: `2024-02-31`');
    expect(stdout).toContain('[bad_date]');
    expect(stdout).toContain('hint: ');
    expect(stdout).toContain('nothing yet');
  });

  it('tells which record a blocked one waits for', async () => {
    const { run: migrated, tell, story } = await scene();
    await migrated();
    expect(await story('deal:101')).toMatchObject({ state: 'blocked', parent: { record: 'lead:2', state: 'invalid' } });
    expect((await tell('deal:101')).stdout).toContain('lead `2` was not accepted');
    expect(await story('comment:n3')).toMatchObject({
      state: 'blocked',
      parent: { record: 'deal:101', state: 'blocked' },
    });
  });

  it('tells what the service answered to a rejected record, also after a later dry run', async () => {
    const { run: migrated, story, tell } = await scene();
    await migrated();
    const rejected = {
      state: 'rejected',
      parent: { record: 'lead:99', state: null },
      answers: [{ status: 'rejected', code: 'parent_not_found' }],
    };
    expect(await story('deal:102')).toMatchObject(rejected);
    const told = (await tell('deal:102')).stdout;
    expect(told).toMatch(/\[parent_not_found\]\n {2}hint: /);
    await migrated({ dryRun: true });
    expect(await story('deal:102')).toMatchObject({ ...rejected, plan: { dry_run: true } });
    expect((await tell('deal:102')).stdout).toContain('[parent_not_found]');
  });

  it('names the records with the same id that are not used', async () => {
    const { run: migrated, story } = await scene();
    await migrated();
    expect(await story('lead:3')).toMatchObject({
      state: 'acknowledged',
      events: [{ line: 4, raw: { Name: 'Carl', Phone: "'-" } }],
      dropped: [{ file: named('people.csv'), line: 5 }],
    });
  });

  it('tells that an update is superseded', async () => {
    const { cwd, run: migrated, story } = await scene({ 'changes.csv': 'Id,Name\n1,Ada L.\n' });
    await migrated();
    await files(cwd, { 'changes.csv': 'Id,Name\n1,Old\n1,Ada L.\n' });
    await migrated();
    expect((await story('lead:1')).events).toMatchObject([
      { type: 'lead/created', state: 'acknowledged' },
      { type: 'lead/updated', line: 2, state: 'duplicate' },
      { type: 'lead/updated', line: 3, state: 'acknowledged' },
    ]);
  });

  it('tells that a record is gone from the input, and that one has changed', async () => {
    const { cwd, run: migrated, story, tell } = await scene();
    await migrated();
    await files(cwd, { 'deals.csv': 'Id,Title,Amount,Lead,Stage,Owner\n100,Roof and wall,,1,Closed,\n' });
    await migrated({ yes: true });
    expect(await story('deal:1001')).toMatchObject({
      state: 'gone',
      events: [],
      answers: [{ status: 'acknowledged', outcome: 'created' }],
    });
    expect(await story('deal:100')).toMatchObject({ events: [{ state: 'acknowledged', has_changed: true }] });
    expect((await tell('deal:100')).stdout).toContain('the record has changed since it was sent');
  });

  it('lists comments without an id with their parent, each with its own state', async () => {
    const { run: migrated, story } = await scene();
    await migrated({ maxRequests: '11' });
    const { children } = await story('deal:100');
    expect(children.first.map(({ record, state }) => [record, state])).toEqual([
      ['comment:n1', 'acknowledged'],
      ['comment:', 'acknowledged'],
      ['comment:', 'pending'],
    ]);
  });

  it('works after a dry run, before anything was sent', async () => {
    const { run: migrated, story, tell } = await scene();
    await migrated({ dryRun: true });
    expect(await story('deal:100')).toMatchObject({
      state: 'pending',
      plan: { dry_run: true },
      events: [{ raw: { Title: 'Roof' } }],
      answers: [],
    });
    expect(await story('lead:2')).toMatchObject({ state: 'invalid', events: [{ raw: { Name: 'Bob' } }] });
    expect((await tell('deal:100')).stdout).toContain('Sales / Negotiation');
  });

  it('says how to create a plan if there is none', async () => {
    const { state, tell } = await scene();
    expect(await tell('deal:100')).toMatchObject({ code: 2, stdout: '' });
    await StateDir.create(state);
    const said = await tell('deal:100');
    expect(said).toMatchObject({ code: 2, stdout: '' });
    expect(said.stderr).toContain('backfill run MAPPING --dry-run');
  });

  it('reads the files of a run under way, and changes none of them', async () => {
    const { run: migrated, state, story } = await scene();
    await migrated({ maxRequests: '8' });
    const path = join(state, 'checkpoint.ndjson');
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    const last = JSON.parse(lines.at(-1)!) as { external_id: string; type: string };
    await truncate(path, Buffer.byteLength(lines.slice(0, -1).join('\n')) + 1);
    await appendFile(path, lines.at(-1)!.slice(0, 40));
    const lock = await Lock.acquire(await StateDir.existing(state), { takeOver: false });
    onTestFinished(() => lock.release());
    const before = await filesBelow(state);
    const told = await story(`${last.type.split('/')[0]}:${last.external_id}`);
    expect(told.answers).toMatchObject([{ status: 'unanswered', at: null }]);
    expect(await filesBelow(state)).toEqual(before);
  });

  it('with --live tells an edit in the service from what was sent', async () => {
    let now = Date.now();
    const { service, run: migrated, tell } = await scene({}, { clock: () => now });
    await migrated();
    now += 3_600_000;
    await send(service, 'deal/updated', { external_id: '100', amount: 99 });
    expect((await tell('deal:100', { live: true, envFile: await envFile(service) })).stdout).toContain(
      'amount            99 (edited since; in the plan: 1250.5)',
    );
  });

  it('with --live says that the service does not have the record any more', async () => {
    const { cwd, service, run: migrated, tell, story } = await scene();
    await migrated();
    const { service_id: id } = await story('deal:100');
    const path = join(cwd, '.backfill/told/checkpoint.ndjson');
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll(id!, randomUUID()));
    expect((await tell('deal:100', { live: true, envFile: await envFile(service) })).stdout).toContain(
      'it does not exist any more',
    );
  });

  it('with --live says what cannot be read, without a request', async () => {
    const { service, run: migrated, tell } = await scene();
    await migrated();
    const before = service.requests().length;
    for (const record of ['lead:2', 'comment:n1']) {
      expect((await tell(record, { live: true })).stdout).toContain('not read: ');
    }
    expect(service.requests()).toHaveLength(before);
  });

  it('with --live refuses the account of somebody else', async () => {
    const { run: migrated, tell } = await scene();
    await migrated();
    const said = await tell('deal:100', { live: true, envFile: await envFile(await sandbox()) });
    expect(said).toMatchObject({ code: 2, stdout: '' });
    expect(said.stderr).toContain('belongs to another base URL');
  });

  it('explains records of a rehearsal with --sandbox', async () => {
    const { cwd, story } = await scene();
    await call(run, { mapping: join(cwd, 'mapping.yaml'), sandbox: true, rate: '100000/1s', quiet: true });
    const told = await story('deal:100', { sandbox: true, live: true });
    expect(told).toMatchObject({ state: 'acknowledged', live: { found: true } });
    expect(told.live?.fields.find(({ field }) => field === 'amount')).toMatchObject({
      verdict: 'same',
      actual: '1250.5',
    });
  });

  it.each([
    ['deal:1010', 'did you mean `deal:100`, `deal:1001` or `deal:101`?'],
    ['deal:3', 'there is a lead:3'],
    ['lead:22', 'did you mean `lead:2`'],
    ['comment:100', 'a comment without an external_id is listed with its parent'],
  ])('refuses the unknown record %s with a suggestion', async (record, suggestion) => {
    const { run: migrated, tell } = await scene();
    await migrated({ dryRun: true });
    const said = await tell(record);
    expect(said).toMatchObject({ code: 2, stdout: '' });
    expect(said.stderr).toContain(`there is no ${record}`);
    expect(said.stderr).toContain(suggestion);
  });

  it('refuses what is no record', async () => {
    const { tell } = await scene();
    expect((await tell('100')).stderr).toContain('<record>: `100` is not lead:ID, deal:ID or comment:ID');
  });
});
