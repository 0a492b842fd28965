// Lost without it: the story of a record could miss why it was left out, or be told of another record.
import { readFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findRecord, handler as explain } from '../../src/commands/explain.ts';
import { storyOf, type RecordStory } from '../../src/report/figures/story.ts';
import type { JsonObject } from '../../src/json.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { StateDir } from '../../src/files/state-dir.ts';
import { readState } from '../../src/store/open.ts';
import type { LiveRecord } from '../../src/report/figures/explanation.ts';
import { backfill, files, mapping, sandbox, workspace, type Ended } from '../e2e/harness.ts';
import { send } from '../sandbox/client.ts';
import { AT, StateOf } from '../state.ts';
import { call, envFile, type Said } from './in-process.ts';

type Options = Readonly<Record<string, unknown>>;

interface Scene {
  readonly state: string;
  readonly tell: (record: string, options?: Options) => Promise<Said>;
  readonly story: (record: string, options?: Options) => Promise<RecordStory & { readonly live?: LiveRecord }>;
}

/** A state directory with what `fill` puts into it. */
async function scene(fill: (state: StateOf) => void): Promise<Scene> {
  const state = join(await workspace(), 'state');
  const filled = await StateOf.create(state);
  fill(filled);
  filled.close();
  const tell: Scene['tell'] = (record, options = {}) => call(explain, { mapping: 'm.yaml', state, record, ...options });
  const story: Scene['story'] = async (record, options = {}) => {
    const said = await tell(record, { json: true, ...options });
    expect(said.code, said.stderr).toBe(0);
    return JSON.parse(said.stdout) as RecordStory;
  };
  return { state, tell, story };
}

const ROOF = { title: 'Roof', amount: 1250.5, lead_external_id: '1' };

/** A migration in which something has become of every record. */
function migrated(state: StateOf): void {
  state.source('people', ['Id', 'Name', 'Phone']).source('deals', ['Id', 'Title', 'Amount']).source('notes');
  const ada = state.event('lead/created', '1', { full_name: 'Ada' }, { raw: ['1', 'Ada', 'ask her'] });
  state.omission(ada, 'phone_number', 'ask her', '`ask her` is not a valid phone number in IT');
  const bob = state.event('lead/created', '2', null, { state: 'invalid', raw: ['2', 'Bob', ''] });
  state.problem(bob, 'bad_date', '`2024-02-31` is not a date', { field: 'custom_params.joined' });
  state.event('lead/created', '3', { full_name: 'Carl' });
  const carlo = state.event('lead/created', '3', { full_name: 'Carlo' }, { state: 'duplicate' });
  state.unused(carlo, 'duplicates', '3', 'people.csv:4');
  const deal = { source: 'deals' };
  state.event('deal/created', '100', ROOF, { ...deal, raw: ['100', 'Roof', '1250.50'], parent: ['lead', '1'] });
  const door = { ...deal, state: 'blocked', parent: ['lead', '2'] } as const;
  state.problem(
    state.event('deal/created', '101', { title: 'Door' }, door),
    'parent_failed',
    'lead `2` was not accepted',
    {
      kind: 'blocked',
    },
  );
  state.event('deal/created', '102', { title: 'Gate' }, { ...deal, state: 'retry', parent: ['lead', '99'] });
  state.event('deal/created', 'x1', { title: 'Wall' }, { ...deal, state: 'ready', parent: ['lead', '1'] });
  const note = { source: 'notes', parent: ['deal', '100'] } as const;
  state.event('comment/created', '100', { content: 'Called' }, note);
  state.event('comment/created', null, { content: 'Called again' }, note);
  state.event('comment/created', null, { content: 'Called again' }, { ...note, state: 'waiting' });
  state.run(AT);
  state.request('lead/created', '1', { full_name: 'Ada' }, { serviceId: 's1' });
  state.request('lead/created', '3', { full_name: 'Carl' }, { serviceId: 's3' });
  state.request('deal/created', '100', ROOF, { serviceId: 's100' });
  state.request('deal/created', '102', { title: 'Gate' }, { status: 'rejected', code: 'parent_not_found' });
  state.request('deal/created', 'gone', { title: 'Old' }, { serviceId: 's0' });
}

describe('explain', () => {
  it('shows the story of a record on one screen', async () => {
    const { tell } = await scene(migrated);
    const { stdout } = await tell('deal:100');
    const steady = stdout
      .replace(/\d\d? \w{3} \d\d:\d\d|\b\d\d:\d\d\b|\w{3} \d\d:\d\d/g, 'TIME')
      .replace(/: \S+plan\.db/, ': plan.db');
    expect(steady).toMatchInlineSnapshot(`
      "ACKNOWLEDGED deal:100: the service has it (s100)
        from the last run, as of TIME: plan.db

      In the export: deals.csv:6 (deals, record 5)
        Id      100
        Title   Roof
        Amount  1250.50

      deal/created as planned: acknowledged
        title             Roof
        amount            1250.5
        lead_external_id  1

      Parent, then children
        lead:1                 acknowledged  Ada           people.csv:2
        comment:100            acknowledged  Called        notes.json:10
        comment without an id  acknowledged  Called again  notes.json:11
        comment without an id  pending       Called again  notes.json:12
        3 children: 2 acknowledged, 1 pending

      Requests and answers
        TIME  deal/created  acknowledged (created)
      "
    `);
  });

  it('tells what was left out and why', async () => {
    const { tell } = await scene(migrated);
    expect((await tell('lead:1')).stdout).toMatch(
      /Left out\n {2}phone_number `ask her` +`ask her` is not a valid phone number in IT/,
    );
  });

  it('tells which record is left for a later run, and whether for its parent', async () => {
    const { tell, story } = await scene((state) => {
      state.source('people');
      state.event('lead/created', '1', { full_name: 'Ada' }, { state: 'held', isChosen: false });
      state.event('deal/created', '100', ROOF, { state: 'waiting', parent: ['lead', '1'] });
      state.event('lead/created', '2', { full_name: 'Bob' }, { state: 'ready' });
    });
    const said = [];
    for (const id of ['1', '100', '2']) said.push([(await tell(id)).stdout.split('\n')[0], (await story(id)).events]);
    expect(said).toEqual([
      [expect.stringMatching(/^PENDING +lead:1: .*not selected/), [expect.objectContaining({ later: 'not_selected' })]],
      [
        expect.stringMatching(/^PENDING +deal:100: .*parent/),
        [expect.objectContaining({ later: 'parent_not_selected' })],
      ],
      [expect.stringContaining('not sent yet'), [expect.objectContaining({ later: null })]],
    ]);
  });
});

describe('explain, of a record that has changed since it was sent,', () => {
  const [BEFORE, NOW]: JsonObject[] = [{ full_name: 'Ada' }, { full_name: 'Ada L.' }];
  const changed = (more: (state: StateOf) => void, given: Parameters<StateOf['event']>[3] = {}): Promise<Scene> =>
    scene((state) => {
      state.source('people');
      state.event('lead/created', '1', NOW!, given);
      state.run(AT);
      state.request('lead/created', '1', BEFORE!, { serviceId: 's1' });
      more(state);
    });

  it('says so', async () => {
    const { story, tell } = await changed(() => undefined, { code: 'changed' });
    expect(await story('1')).toMatchObject({ events: [{ difference: 'changed' }] });
    expect((await tell('1')).stdout).toContain('A record differs from what was acknowledged');
  });

  it('says what of it is sent next', async () => {
    const { story, tell } = await changed(() => undefined, { state: 'ready', sends: 'lead/updated' });
    expect(await story('1')).toMatchObject({ events: [{ state: 'pending', sends: 'lead/updated' }] });
    expect((await tell('1')).stdout).toContain('the changes are sent as lead/updated');
  });
});

describe('the record that explain is asked for', () => {
  it.each([
    ['x1', 'deal:x1'],
    ['1', 'lead:1'],
    ['gone', 'deal:gone'],
    ['deals.csv:6', 'deal:100'],
    ['./deals.csv:6', 'deal:100'],
    ['/home/ada/acme/deals.csv:6', 'deal:100'],
    ['deals.csv:6:2', 'deal:100'],
    ['deals.csv record 5', 'deal:100'],
    ['out/old crm.xlsx#Deals!C3', 'deal:200'],
    ['old crm.xlsx#Deals!A3', 'deal:200'],
    ['#Deals!C3', 'deal:200'],
  ])('is found as %s', async (asked, record) => {
    const { story } = await scene((state) => {
      migrated(state);
      state.source('sheet', ['Id'], 'out/old crm.xlsx#Deals');
      state.plan.run("update file set cell = 'A' where path like '%#Deals'");
      state.event('deal/created', '200', ROOF, { source: 'sheet', line: 3, raw: ['200'] });
    });
    expect((await story(asked)).record).toBe(record);
  });

  it('is named exactly where several have the id', async () => {
    const { tell, story } = await scene(migrated);
    const said = await tell('100');
    expect(said).toMatchObject({ code: 2, stdout: '' });
    expect(said.stderr).toContain('several records are meant by 100\ndid you mean `deal:100` or `comment:100`?');
    expect((await story('comment:100')).record).toBe('comment:100');
  });

  it('is refused if it is unknown', async () => {
    const said = await (await scene(migrated)).tell('deal:1010');
    expect(said).toMatchObject({ code: 2, stdout: '' });
    expect(said.stderr).toContain('there is no record `deal:1010`');
    expect(said.stderr).toContain('`contacts.csv:5`');
  });
});

describe('explain, of a row that became no event or was corrected,', () => {
  const entry = 'data: { external_id: id, content: text, lead_external_id: person }';
  const MAPPING = mapping({
    people:
      'type: lead/created, when: { from: state, not_in: [gone] }, data: { external_id: id, full_name: name, email: { from: email, on_error: reject } }',
    notes: `type: comment/created, when: { from: text, present: true }, if_parent_missing: skip, ${entry}`,
  });

  async function surveyed(): Promise<(record: string) => Promise<Ended>> {
    const cwd = await workspace();
    const people = 'id,name,state,email\n1,Ada,,a@example.test\n2,Bob,gone,\n3,Cy,,cy\n4,Dee,,,,more\n';
    const notes = 'id,person,text\nn1,1,Called\nn2,1,\nn3,2,Called\nn4,99,Called\nn5,4,Called\n';
    await files(cwd, { 'mapping.yaml': MAPPING, 'people.csv': people, 'notes.csv': notes });
    const survey = () => backfill(['run', 'mapping.yaml', '--dry-run', '--offline'], { cwd });
    await survey();
    const rejects = await readFile(join(cwd, '.backfill/test/dry-run/rejects/people.csv'), 'utf8');
    await files(cwd, {
      'mapping.yaml': MAPPING.replace('people.csv', 'people.csv, fixes: fixed.csv'),
      'fixed.csv': rejects.replace(',cy,', ',cy@example.test,').replace(/^4,.*\n/m, ''),
    });
    await survey();
    return (record) => backfill(['explain', 'mapping.yaml', record], { cwd });
  }

  it('says why, by its id and by its place', async () => {
    const explained = await surveyed();
    for (const [names, ...texts] of [
      [['lead:2', '2', 'people.csv:3'], 'SKIPPED', '(`when`): `state` is `gone`', 'In the export: people.csv:3 ('],
      [['comment:n2', 'n2', 'notes.csv:3'], 'SKIPPED', '(`when`): `text` has no value', 'In the export: notes.csv:3 ('],
      [['n3', 'notes.csv:4'], 'SKIPPED', 'lead `2` is left out, too (people.csv:3)', 'notes.csv:4 (', 'text Called'],
      [['n4', 'notes.csv:5'], 'SKIPPED', 'lead `99` is in no export'],
      [['n5'], 'SKIPPED', 'people.csv:5'],
      [['lead:4', 'people.csv:5'], 'UNREADABLE', 'the row has 6 cells', 'In the export: people.csv:5 ('],
    ] as const) {
      for (const name of names) {
        const { code, stdout } = await explained(name);
        expect(code).toBe(0);
        for (const text of texts) expect(stdout.replace(/\s+/g, ' ')).toContain(text);
      }
    }
  });

  it('finds the place that it had before it was corrected, and says so', async () => {
    const explained = await surveyed();
    const said = /^PENDING lead:3:[^]*In the export: fixed\.csv:2, instead of people\.csv:4 \(people, record 1\)/;
    for (const name of ['people.csv:4', 'fixed.csv:2']) expect((await explained(name)).stdout).toMatch(said);
  });
});

describe('the plan that explain reads', () => {
  it('is the newest, of a run or a dry run', async () => {
    const { state, story } = await scene(migrated);
    const dry = await StateOf.create(join(state, 'dry-run'));
    dry.source('deals').event('deal/created', '100', ROOF, { state: 'ready' });
    dry.close();
    await utimes(join(state, 'plan.db'), 1_700_000_000, 1_700_000_000);
    // What was sent is in the one checkpoint.
    expect(await story('deal:100')).toMatchObject({ plan: { dry_run: true }, state: 'pending', service_id: 's100' });
    await utimes(join(state, 'dry-run/plan.db'), 1_600_000_000, 1_600_000_000);
    expect(await story('deal:100')).toMatchObject({ plan: { dry_run: false } });
  });
});

describe('explain --live', () => {
  /** One lead and one deal that the service has, and the ids that it gave them. */
  async function sentTo(service: Sandbox): Promise<Scene> {
    const deal = { title: 'Roof', amount: 1250.5, lead_external_id: '1' };
    await send(service, 'lead/created', { external_id: '1', full_name: 'Ada' });
    await send(service, 'deal/created', { external_id: '100', ...deal });
    const { leads, deals } = service.state();
    const stored = { ...service.account, base_url: service.baseUrl } as never;
    return scene((state) => {
      state.account(stored, 'told').source('people');
      state.event('lead/created', '1', { full_name: 'Ada' });
      state.event('deal/created', '100', deal, { parent: ['lead', '1'] });
      state.event('comment/created', 'n1', { content: 'Called' });
      state.event('lead/created', '2', { full_name: 'Bob' }, { state: 'ready' });
      const at = new Date().toISOString();
      state.request('lead/created', '1', { full_name: 'Ada' }, { serviceId: leads[0]!.id, at });
      state.request('deal/created', '100', deal, { serviceId: deals[0]!.id, at });
      state.request('deal/created', 'lost', deal, { serviceId: '00000000-0000-4000-8000-000000000000', at });
    });
  }

  it('tells an edit in the service from what was sent, and why a field cannot be compared', async () => {
    let now = Date.now();
    const service = await sandbox({ clock: () => now });
    const { tell } = await sentTo(service);
    now += 3_600_000;
    await send(service, 'deal/updated', { external_id: '100', amount: 99 });
    const { stdout } = await tell('deal:100', { live: true, credentials: await envFile(service) });
    expect(stdout).toMatch(/amount +99\n +edited in the service .*in the plan: 1250\.5/);
    expect(stdout).toMatch(/title\n +not comparable: the service left it out of its answer/);
    expect(stdout).toMatch(new RegExp(`lead_external_id +${service.state().leads[0]!.id}\n`));
  });

  it('refuses the account of somebody else, after the story, which needs no service', async () => {
    const { tell } = await sentTo(await sandbox());
    const said = await tell('deal:100', { live: true, credentials: await envFile(await sandbox()) });
    expect(said.code).toBe(2);
    expect(said.stdout).toMatch(/In the export[\s\S]*In the service now\n {2}not read: .*another base URL/);
    expect(said.stderr).toContain('belongs to another base URL');
  });
});

it('explain reads no table from its beginning to its end', async () => {
  const { state } = await scene(migrated);
  const db = readState(await StateDir.existing(state));
  const plans: string[] = [];
  const spy = new Proxy(db, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== 'function') return method;
      return (sql: string, ...values: (string | number)[]) => {
        const steps = target.all<{ detail: string }>(`explain query plan ${sql}`, ...values);
        plans.push(...steps.map(({ detail }) => detail));
        return (method as (...given: unknown[]) => unknown).call(target, sql, ...values);
      };
    },
  });
  expect(findRecord(spy, { externalId: 'x1' })).toEqual({ entity: 'deal', externalId: 'x1' });
  storyOf(
    spy,
    { output: await StateDir.existing(state), isDryRun: false, at: new Date() },
    { entity: 'deal', externalId: '100' },
  );
  db.close();
  expect(plans.length).toBeGreaterThan(8);
  // A virtual table is the short list in one cell (json_each); `u` are rows found by indexes.
  expect(plans.filter((step) => /^SCAN (?!child|u$|CONSTANT ROW|.* VIRTUAL TABLE)/.test(step))).toEqual([]);
});
