import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RequestEntry, Sandbox } from '../../src/commands/sandbox/index.ts';
import type { Summary } from '../../src/report/summary.ts';
import { StateDir } from '../../src/files/state-dir.ts';
import { readState } from '../../src/store/open.ts';
import { migrate, type Options } from '../faults/in-process.ts';
import { send } from '../sandbox/client.ts';
import { backfill, environmentOf, FAST, files, sandbox, start, workspace } from './harness.ts';
import type { FaultySandbox } from '../sandbox/faults.ts';

interface Body {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Exports {
  readonly leads?: readonly string[];
  readonly changes?: readonly string[];
  readonly deals?: readonly string[];
  readonly notes?: readonly string[];
  /** Policies of the mapping's entries, by type. */
  readonly policies?: Readonly<Record<string, string>>;
}

const HEADERS = {
  leads: 'id,name,city',
  changes: 'id,city',
  deals: 'id,title,amount,stage,lead',
  notes: 'id,text,lead',
};

/** Writes these exports and a mapping for them; a second call writes the exports of another day. */
async function exports(cwd: string, given: Exports): Promise<void> {
  const { policies = {} } = given;
  const policy = (type: string) => (policies[type] === undefined ? '' : `\n    ${policies[type]}`);
  for (const name of ['leads', 'changes', 'deals', 'notes'] as const) {
    await files(cwd, { [`${name}.csv`]: [HEADERS[name], ...(given[name] ?? []), ''].join('\n') });
  }
  await files(cwd, {
    'mapping.yaml': `version: 1
migration: rerun
sources:
  leads: { path: leads.csv }
  changes: { path: changes.csv }
  deals: { path: deals.csv }
  notes: { path: notes.csv }
events:
  - type: lead/created
    source: leads
    data: { external_id: id, full_name: name, custom_params: { city: city } }${policy('lead/created')}
  - type: lead/updated
    source: changes
    data: { external_id: id, custom_params: { city: city } }${policy('lead/updated')}
  - type: deal/created
    source: deals
    stage_pipeline: { value: Sales }
    data: { external_id: id, title: title, amount: amount, stage_name: stage, lead_external_id: lead }${policy('deal/created')}
  - type: comment/created
    source: notes
    data: { external_id: id, content: text, lead_external_id: lead }${policy('comment/created')}
`,
  });
}

interface Place {
  readonly service: FaultySandbox;
  readonly cwd: string;
  readonly run: (options?: Options) => Promise<{ summary: Summary; sent: Body[] }>;
}

/** A sandbox and a directory with these exports; `run` also returns what that run sent. */
async function migration(given: Exports): Promise<Place> {
  const service = await sandbox();
  const cwd = await workspace();
  await exports(cwd, given);
  return {
    service,
    cwd,
    run: async (options) => {
      const before = posts(service).length;
      const summary = await migrate(service, join(cwd, 'mapping.yaml'), options);
      return { summary, sent: posts(service).slice(before).map(bodyOf) };
    },
  };
}

function posts(service: Sandbox): RequestEntry[] {
  return service.requests().filter(({ method, path }) => method === 'POST' && path.startsWith('/webhooks/'));
}

function bodyOf({ body }: RequestEntry): Body {
  return body as Body;
}

/** What another client sends to the service. */
async function elsewhere(service: Sandbox, type: string, data: Record<string, unknown>): Promise<void> {
  const response = await send(service, type, data);
  expect(response.status).toBe(200);
}

/** Starts a run whose first event is never answered, and kills it once that event has arrived. */
async function killBeforeTheAnswer({ service, cwd }: Place, options: { committed: boolean }): Promise<void> {
  const before = posts(service).length;
  service.setFaults({ rules: [{ kind: 'hang', ...options }] });
  const run = start(['run', 'mapping.yaml', ...FAST], { cwd, env: environmentOf(service) });
  await expect.poll(() => posts(service).length, { timeout: 30_000 }).toBeGreaterThan(before);
  run.child.kill('SIGKILL');
  await run.ended;
  service.setFaults({ rules: [] });
}

/** What the checkpoint has of requests that were answered. */
async function settled(cwd: string): Promise<{ type: string; status: string; outcome: string; code: string | null }[]> {
  const state = await StateDir.existing(join(cwd, '.backfill/rerun'));
  const db = readState(state);
  onTestFinished(() => db.close());
  return db.all(
    "select type, status, outcome, code from checkpoint.sent where status = 'acknowledged' order by settled_at, external_id",
  );
}

const LEAD = (service: Sandbox, id: string) => service.state().leads.find(({ externalId }) => externalId === id)!;
const DEAL = (service: Sandbox, id: string) => service.state().deals.find(({ externalId }) => externalId === id)!;

describe('a record that another client created', () => {
  const given = { leads: ['1,Ada,Roma', '2,Grace,Bari'], deals: ['D1,Site,10,Won,1', 'D2,Shop,20,Won,2'] };

  it('is rejected with a hint and blocks its children (if_exists: reject)', async () => {
    const place = await migration(given);
    await elsewhere(place.service, 'lead/created', { external_id: '1', full_name: 'Another Ada' });
    const { summary } = await place.run();
    expect(summary.exit).toEqual({ code: 1, reason: 'rejected' });
    expect(summary.events).toMatchObject({ acknowledged: 2, rejected: 1, blocked: 1 });
    expect(LEAD(place.service, '1')).toMatchObject({ fullName: 'Another Ada', revision: 1 });
    expect(await readFile(join(place.cwd, '.backfill/rerun/errors.csv'), 'utf8')).toContain('if_exists: skip');
  });

  it('is left unchanged, and its children are sent (if_exists: skip)', async () => {
    const place = await migration({ ...given, policies: { 'lead/created': 'if_exists: skip' } });
    await elsewhere(place.service, 'lead/created', { external_id: '1', full_name: 'Another Ada' });
    const { summary } = await place.run();
    expect(summary.exit).toEqual({ code: 0, reason: 'done' });
    expect(summary.events).toMatchObject({ total: 4, acknowledged: 4 });
    expect(summary.outcomes).toEqual({ created: 3, updated: 0, none: 1 });
    expect(LEAD(place.service, '1')).toMatchObject({ fullName: 'Another Ada', revision: 1 });
    expect(DEAL(place.service, 'D1').primaryContactId).toBe(LEAD(place.service, '1').id);
    expect((await place.run()).sent).toEqual([]);
  });

  it('gets our content once the mapping no longer says that it is skipped (if_exists: skip, then update)', async () => {
    const place = await migration({ ...given, policies: { 'lead/created': 'if_exists: skip' } });
    await elsewhere(place.service, 'lead/created', { external_id: '1', full_name: 'Another Ada' });
    await place.run();
    await exports(place.cwd, { ...given, policies: { 'lead/created': 'if_exists: update' } });
    const { summary, sent } = await place.run();
    expect(sent.map(({ type }) => type)).toEqual(['lead/updated']);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { total: 4, acknowledged: 4 } });
    expect(LEAD(place.service, '1')).toMatchObject({ fullName: 'Ada', revision: 2 });
    expect((await place.run()).sent).toEqual([]);
  });

  it('gets our content with one update, which does not count as a second event (if_exists: update)', async () => {
    const place = await migration({ ...given, policies: { 'lead/created': 'if_exists: update' } });
    await elsewhere(place.service, 'lead/created', { external_id: '1', full_name: 'Another Ada' });
    const { summary } = await place.run();
    expect(summary.exit).toEqual({ code: 0, reason: 'done' });
    expect(summary.events).toMatchObject({ total: 4, acknowledged: 4 });
    expect(summary.outcomes).toEqual({ created: 3, updated: 1, none: 0 });
    expect(LEAD(place.service, '1')).toMatchObject({ fullName: 'Ada', customParams: { city: 'Roma' }, revision: 2 });
    expect((await place.run()).sent).toEqual([]);
  });

  it('is updated once, no matter how often the run is killed (if_exists: update)', async () => {
    const place = await migration({ ...given, policies: { 'lead/created': 'if_exists: update' } });
    await elsewhere(place.service, 'lead/created', { external_id: '1', full_name: 'Another Ada' });
    await killBeforeTheAnswer(place, { committed: true });
    const updates = { event: { type: 'lead/updated' as const }, requests: { from: 1, to: 1 } };
    place.service.setFaults({ rules: [{ kind: 'drop', committed: true, when: updates }] });
    const { summary } = await place.run();
    expect(summary.events).toMatchObject({ acknowledged: 4 });
    expect(LEAD(place.service, '1')).toMatchObject({ fullName: 'Ada', revision: 2 });
  });
});

describe('an update of a record that does not exist', () => {
  const given = { leads: ['1,Ada,Roma'], changes: ['1,Bari', '9,Pisa'], notes: ['N1,Hello,9'] };

  it('is rejected and blocks its children (if_missing: reject)', async () => {
    const place = await migration(given);
    const { summary } = await place.run();
    expect(summary.events).toMatchObject({ acknowledged: 1, rejected: 1, blocked: 1 });
    expect(summary.errors_by_code).toMatchObject({ not_found: 1 });
  });

  it('is dropped (if_missing: skip)', async () => {
    const place = await migration({ ...given, notes: [], policies: { 'lead/updated': 'if_missing: skip' } });
    const { summary } = await place.run();
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 }, outcomes: { none: 1 } });
    expect(place.service.state().leads.length).toBe(1);
    expect((await place.run()).sent).toEqual([]);
  });

  it('creates the record once the mapping no longer says that it is skipped (if_missing: skip, then create)', async () => {
    const place = await migration({ ...given, notes: [], policies: { 'lead/updated': 'if_missing: skip' } });
    await place.run();
    await exports(place.cwd, { ...given, notes: [], policies: { 'lead/updated': 'if_missing: create' } });
    const { summary, sent } = await place.run();
    expect(sent.map(({ type }) => type)).toEqual(['lead/created']);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { total: 2, acknowledged: 2 } });
    expect(LEAD(place.service, '9')).toMatchObject({ customParams: { city: 'Pisa' } });
    expect((await place.run()).sent).toEqual([]);
  });

  it('creates the record, and its children are sent (if_missing: create)', async () => {
    const place = await migration({ ...given, policies: { 'lead/updated': 'if_missing: create' } });
    const { summary } = await place.run();
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { total: 3, acknowledged: 3 } });
    expect(LEAD(place.service, '9')).toMatchObject({ customParams: { city: 'Pisa' }, revision: 1 });
    expect(place.service.state().comments.length).toBe(1);
    expect((await place.run()).sent).toEqual([]);
  });
});

describe('content that has changed since it was acknowledged', () => {
  const before = ['1,Ada,Roma', '2,Grace,Bari', '3,Alan,Pisa'];
  const after = ['1,Ada,Roma', '2,Grace Hopper,Bari', '3,Alan,Pisa'];

  it('is reported and not sent (if_changed: report)', async () => {
    const place = await migration({ leads: before });
    await place.run();
    await exports(place.cwd, { leads: after });
    const { summary, sent } = await place.run();
    expect(sent).toEqual([]);
    expect(summary).toMatchObject({ exit: { code: 1, reason: 'changed' }, events: { acknowledged: 3, changed: 1 } });
  });

  it('is ignored (if_changed: ignore)', async () => {
    const place = await migration({
      leads: before,
      policies: { 'lead/created': 'if_changed: ignore', 'lead/updated': 'if_changed: ignore' },
    });
    await place.run();
    await exports(place.cwd, {
      leads: after,
      policies: { 'lead/created': 'if_changed: ignore', 'lead/updated': 'if_changed: ignore' },
    });
    const { summary, sent } = await place.run();
    expect(sent).toEqual([]);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 3, changed: 0 } });
  });

  it('is sent without the fields that have not changed, once, and again with a new id if it changes back (if_changed: update)', async () => {
    const policies = { 'lead/created': 'if_changed: update', 'lead/updated': 'if_changed: update' };
    const place = await migration({ leads: before, policies });
    await place.run();
    const ids = new Set<string>();
    for (const [turn, leads] of [after, before, after].entries()) {
      await exports(place.cwd, { leads, policies });
      const { summary, sent } = await place.run();
      expect(summary).toMatchObject({ exit: { code: 0 }, events: { total: 3, acknowledged: 3 } });
      expect(sent).toMatchObject([{ type: 'lead/updated' }]);
      expect(sent[0]!.data).toEqual({ external_id: '2', full_name: leads === after ? 'Grace Hopper' : 'Grace' });
      ids.add(sent[0]!.id);
      expect(LEAD(place.service, '2').fullName).toBe(turn % 2 === 0 ? 'Grace Hopper' : 'Grace');
      expect((await place.run()).sent).toEqual([]);
    }
    expect(ids.size).toBe(3);
    expect(LEAD(place.service, '2').revision).toBe(4);
    expect(LEAD(place.service, '1').revision).toBe(1);
  });

  it('is read back if the answer to the update was lost, and not sent again if it has arrived', async () => {
    const policies = { 'lead/created': 'if_changed: update', 'lead/updated': 'if_changed: update' };
    const place = await migration({ leads: before, policies });
    await place.run();
    await exports(place.cwd, { leads: after, policies });
    await killBeforeTheAnswer(place, { committed: true });
    const { summary, sent } = await place.run();
    expect(sent).toEqual([]);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 3 } });
    expect(LEAD(place.service, '2')).toMatchObject({ fullName: 'Grace Hopper', revision: 2 });
  });

  it('corrects one wrong field of every deal and changes nothing else (if_changed: [stage_name])', async () => {
    const row = (stage: string) => (id: number) => `D${id},Deal ${id},${id}0,${stage},1`;
    const leads = ['1,Ada,Roma'];
    const ids = Array.from({ length: 12 }, (_, index) => index + 1);
    const place = await migration({ leads, deals: ids.map(row('Lost')) });
    await place.run();
    // A user has edited one of them since.
    await elsewhere(place.service, 'deal/updated', { external_id: 'D3', amount: 999 });
    const policies = { 'deal/created': 'if_changed: [stage_name]' };
    await exports(place.cwd, { leads, deals: ids.map((id) => row(id === 5 ? 'Lost' : 'Won')(id)), policies });
    const { summary, sent } = await place.run();
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 13, changed: 0 } });
    const won = place.service.account.pipelines[0]!.stages.find(({ name }) => name === 'Won')!.id;
    expect(sent.length).toBe(11);
    for (const { type, data } of sent) {
      expect(type).toBe('deal/updated');
      expect(data).toEqual({ external_id: data.external_id, stage_id: won });
    }
    expect(DEAL(place.service, 'D3')).toMatchObject({ amount: 999, stageId: won, revision: 3 });
    expect(DEAL(place.service, 'D5').revision).toBe(1);
    expect((await place.run()).sent).toEqual([]);
  });
});

describe('a lost answer', () => {
  it('leads to a retry with the same id, and the record exists once', async () => {
    const place = await migration({ leads: ['1,Ada,Roma', '2,Grace,Bari'] });
    await killBeforeTheAnswer(place, { committed: true });
    const { summary, sent } = await place.run();
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
    expect(sent[0]!.id).toBe(bodyOf(posts(place.service)[0]!).id);
    expect(LEAD(place.service, '1').revision).toBe(1);
    expect(await settled(place.cwd)).toMatchObject([{ code: 'deduplicated' }, { code: null }]);
  });

  it('is asked for again if the event never arrived: a record that somebody else made meanwhile falls under `if_exists`', async () => {
    const place = await migration({ leads: ['1,Ada,Roma', '2,Grace,Bari'] });
    await killBeforeTheAnswer(place, { committed: false });
    await elsewhere(place.service, 'lead/created', { external_id: '1', full_name: 'Another Ada' });
    const { summary, sent } = await place.run();
    expect(summary).toMatchObject({ exit: { code: 1, reason: 'rejected' }, events: { acknowledged: 1, rejected: 1 } });
    expect(sent.filter(({ data }) => data.external_id === '1')).toHaveLength(3);

    await exports(place.cwd, {
      leads: ['1,Ada,Roma', '2,Grace,Bari'],
      policies: { 'lead/created': 'if_exists: update' },
    });
    expect((await place.run()).summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
    expect(LEAD(place.service, '1')).toMatchObject({ fullName: 'Ada', revision: 2 });
  });

  it('for content that never arrived and has changed since is asked for too, before `if_exists` decides', async () => {
    const place = await migration({ leads: ['1,Ada,Roma', '2,Grace,Bari'] });
    await killBeforeTheAnswer(place, { committed: false });
    await elsewhere(place.service, 'lead/created', { external_id: '1', full_name: 'Another Ada' });
    await exports(place.cwd, {
      leads: ['1,Ada Lovelace,Roma', '2,Grace,Bari'],
      policies: { 'lead/created': 'if_exists: update' },
    });
    const { summary } = await place.run();
    expect(summary).toMatchObject({ exit: { code: 0, reason: 'done' }, events: { acknowledged: 2, changed: 0 } });
    expect(LEAD(place.service, '1')).toMatchObject({ fullName: 'Ada Lovelace', revision: 2 });
    expect((await place.run()).sent).toEqual([]);
  });

  it('for content that differs from the current one leaves the record changed, until `if_changed` sends the difference', async () => {
    const place = await migration({ leads: ['1,Ada,Roma', '2,Grace,Bari'] });
    await killBeforeTheAnswer(place, { committed: true });
    const leads = ['1,Ada Lovelace,Roma', '2,Grace,Bari'];
    await exports(place.cwd, { leads });
    // The rerun is cut off as well: now two requests about the record, with different content, have no answer.
    await killBeforeTheAnswer(place, { committed: false });
    for (const _ of ['this run', 'the next']) {
      const { summary } = await place.run();
      expect(summary).toMatchObject({ exit: { code: 1, reason: 'changed' }, events: { acknowledged: 2, changed: 1 } });
    }
    expect(await settled(place.cwd)).toMatchObject([{ code: 'deduplicated' }, { code: null }]);
    expect(LEAD(place.service, '1').fullName).toBe('Ada');

    await exports(place.cwd, {
      leads,
      policies: { 'lead/created': 'if_changed: [full_name]', 'lead/updated': 'if_changed: ignore' },
    });
    const { summary, sent } = await place.run();
    expect(sent).toMatchObject([{ type: 'lead/updated', data: { external_id: '1', full_name: 'Ada Lovelace' } }]);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { changed: 0 } });
    expect(LEAD(place.service, '1').fullName).toBe('Ada Lovelace');
    expect((await place.run()).sent).toEqual([]);
  });
});

describe('records that the input no longer has', () => {
  it('are counted as gone, the totals still add up, and the records remain valid parents', async () => {
    const place = await migration({ leads: ['1,Ada,Roma', '2,Grace,Bari', '3,Alan,Pisa'] });
    await place.run();
    await exports(place.cwd, { leads: ['1,Ada,Roma', '3,Alan,Pisa'], deals: ['D1,Site,10,Won,2'] });
    const { summary, sent } = await place.run();
    expect(sent.map(({ type }) => type)).toEqual(['deal/created']);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { total: 3, acknowledged: 3, gone: 1 } });
    expect(place.service.state().leads.length).toBe(3);
  });
});

describe('records with the same external_id and different content', () => {
  const leads = ['1,Ada,Roma', '2,Grace,Bari', '1,Ada,Milano', '1,Ada,Roma'];

  it.each([
    ['first', 'Roma', { acknowledged: 2, duplicates: 2, invalid: 0 }],
    ['last', 'Roma', { acknowledged: 2, duplicates: 2, invalid: 0 }],
    ['reject', undefined, { acknowledged: 1, invalid: 3 }],
  ])('are resolved by `duplicates: %s`, with the same result on a rerun', async (policy, city, events) => {
    const place = await migration({ leads, policies: { 'lead/created': `duplicates: ${policy}` } });
    const first = await place.run();
    expect(first.summary.events).toMatchObject({ total: 4, ...events });
    const lead = place.service.state().leads.find(({ externalId }) => externalId === '1');
    expect((lead?.customParams as { city?: string } | undefined)?.city).toBe(city);
    const again = await place.run();
    expect(again.sent).toEqual([]);
    expect(again.summary.events).toEqual(first.summary.events);
  });

  it('count as changed if a later export puts another one last', async () => {
    const policies = {
      'lead/created': 'duplicates: last\n    if_changed: update',
      'lead/updated': 'if_changed: update',
    };
    const place = await migration({ leads: ['1,Ada,Roma'], policies });
    await place.run();
    await exports(place.cwd, { leads: ['1,Ada,Roma', '1,Ada,Milano'], policies });
    const { summary, sent } = await place.run();
    expect(sent).toMatchObject([{ type: 'lead/updated', data: { custom_params: { city: 'Milano' } } }]);
    expect(summary.events).toMatchObject({ total: 2, acknowledged: 1, duplicates: 1 });
    expect((await place.run()).sent).toEqual([]);
  });
});

describe('a part of a migration', () => {
  const given = {
    leads: Array.from({ length: 10 }, (_, id) => `${id},Lead ${id},Roma`),
    changes: ['4,Bari'],
    deals: Array.from({ length: 10 }, (_, id) => `D${id},Deal ${id},${id}0,Won,${9 - id}`),
    notes: Array.from({ length: 10 }, (_, id) => `N${id},Note ${id},${id}`),
  };
  /** The change of a lead is folded into it. */
  const ALL = 30;

  it.each([
    ['--only lead', { only: 'lead' }, 10],
    ['--only comment/created, whose parents do not exist yet', { only: 'comment/created' }, 0, 'waiting'],
    ['--pilot 4', { pilot: '4' }, 8],
    ['--pick with two records', { pick: ['deal:D7', 'lead:4'] }, 5],
  ])(
    'selected by %s is sent, and the rest by the next run, each event once',
    async (_name, options, expected, reason = 'done') => {
      const place = await migration(given);
      const part = await place.run(options);
      expect(part.summary.exit).toEqual({ code: reason === 'done' ? 0 : 1, reason });
      expect(part.sent.length).toBe(expected);
      expect(part.summary.events).toMatchObject({ acknowledged: expected, pending: ALL - expected });
      const rest = await place.run();
      expect(rest.summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: ALL } });
      expect(rest.sent.length).toBe(ALL - expected);
      expect(new Set(posts(place.service).map((request) => bodyOf(request).id)).size).toBe(ALL);
    },
  );

  it('is continued with --adopt if the state directory is lost, and nothing is duplicated', async () => {
    const place = await migration(given);
    await place.run({ maxRequests: '17' });
    const state = join(place.cwd, 'elsewhere');
    const adopted = await place.run({ state, adopt: true });
    expect(adopted.summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: ALL } });
    const { leads, deals, comments } = place.service.state();
    expect([leads.length, deals.length, comments.length]).toEqual([10, 10, 10]);
    expect(leads.map(({ revision }) => revision)).toEqual(Array(10).fill(1));
    expect((await place.run({ state })).sent).toEqual([]);
  });
});

describe('comments without an id in the old CRM', () => {
  it('are all sent, even identical ones, and an added one is sent as another comment', async () => {
    const leads = ['1,Ada,Roma'];
    const alike = [',Left a message,1', ',Left a message,1', ',Left a message,1'];
    const place = await migration({ leads, notes: alike });
    await place.run();
    expect(place.service.state().comments.length).toBe(3);
    expect((await place.run()).sent).toEqual([]);
    await exports(place.cwd, { leads, notes: [...alike, ',Called back,1', ',Left a message,1'] });
    expect((await place.run()).sent.length).toBe(2);
    expect(place.service.state().comments.length).toBe(5);
  });
});

describe('the rows of one record', () => {
  it('are one request with the fold of their fields, and a later rerun sends only what is new', async () => {
    const leads = ['1,Ada,Torino', '2,Grace,Bari'];
    const changes = ['1,Roma', '2,Pisa', '1,Milano', '1,Roma'];
    const policies = { 'lead/created': 'if_changed: update', 'lead/updated': 'if_changed: update' };
    const place = await migration({ leads, changes, policies });
    const { summary, sent } = await place.run();
    expect(sent.map(({ type, data }) => [type, data.external_id, data.custom_params])).toEqual([
      ['lead/created', '1', { city: 'Roma' }],
      ['lead/created', '2', { city: 'Pisa' }],
    ]);
    expect(summary).toMatchObject({ records: { read: 6, mapped: 6 }, events: { total: 2, acknowledged: 2 } });

    expect((await place.run()).sent).toEqual([]);
    await exports(place.cwd, { leads, changes: [...changes, '1,Milano'], policies });
    expect((await place.run()).sent).toMatchObject([
      { type: 'lead/updated', data: { external_id: '1', custom_params: { city: 'Milano' } } },
    ]);
    expect(LEAD(place.service, '1')).toMatchObject({ customParams: { city: 'Milano' }, revision: 2 });
  });
});

it('the report that a run writes is the one that `report` makes from the whole checkpoint', async () => {
  const place = await migration({ leads: ['1,Ada,Roma', '2,Grace,Bari'] });
  await elsewhere(place.service, 'lead/created', { external_id: '2', full_name: 'Another Grace' });
  await place.run();
  await exports(place.cwd, { leads: ['1,Ada,Roma', '2,Grace,Bari', '3,Alan,Pisa'] });
  await place.run();

  const path = join(place.cwd, '.backfill/rerun/report.html');
  const page = async (): Promise<string> => (await readFile(path, 'utf8')).replace(/Written .*?by/s, '');
  const written = await page();
  expect(written).toContain('already_exists');
  await backfill(['report', 'mapping.yaml'], { cwd: place.cwd });
  expect(await page()).toBe(written);
});
