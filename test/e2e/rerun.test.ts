// Lost without it: a rerun could send twice, or nothing, where the simulator has no such policy.
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHECKPOINT } from '../../src/store/checkpoint-schema.ts';
import { PLAN } from '../../src/store/plan-schema.ts';
import { Database } from '../../src/store/sqlite.ts';
import { send } from '../sandbox/client.ts';
import { useFastClock } from '../clock.ts';
import { mapping, project, rowsIn } from './harness.ts';

useFastClock();

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

/** The exports of a day, and a mapping for them. */
function filesOf(given: Exports): Record<string, string> {
  const policies = (type: string): string => (given.policies?.[type] === undefined ? '' : `, ${given.policies[type]}`);
  const entry = (type: string, data: string, more = ''): string =>
    `type: ${type}${policies(type)}${more}, data: { external_id: id, ${data} }`;
  const names = Object.keys(HEADERS) as (keyof typeof HEADERS)[];
  return {
    ...Object.fromEntries(names.map((name) => [`${name}.csv`, [HEADERS[name], ...(given[name] ?? []), ''].join('\n')])),
    'mapping.yaml': mapping({
      leads: entry('lead/created', 'full_name: name, custom_params: { city: city }'),
      changes: entry('lead/updated', 'custom_params: { city: city }'),
      deals: entry(
        'deal/created',
        'title: title, amount: amount, stage_name: stage, lead_external_id: lead',
        ', stage_pipeline: { value: Sales }',
      ),
      notes: entry('comment/created', 'content: text, lead_external_id: lead'),
    }),
  };
}

const UPDATE = { 'lead/created': 'if_changed: update', 'lead/updated': 'if_changed: update' };

async function migration(given: Exports) {
  const p = await project(filesOf(given));
  const { service } = p;
  return {
    ...p,
    /** The exports of another day. */
    export: (next: Exports) => p.write(filesOf(next)),
    /** A run, and what it sent. */
    turn: async (...options: string[]) => {
      const before = p.posts();
      const summary = await p.summary(...options);
      return { summary, sent: p.sent(before) };
    },
    lead: (id: string) => service.state().leads.find(({ externalId }) => externalId === id)!,
    deal: (id: string) => service.state().deals.find(({ externalId }) => externalId === id)!,
    /** What another client sends. */
    elsewhere: async (type: string, data: Record<string, unknown>): Promise<void> =>
      expect((await send(service, type, data)).status).toBe(200),
    /** A run whose first event, of the lead `1`, is processed, or not, and never answered. */
    loseAnswer: async (options: { committed: boolean }): Promise<void> => {
      service.setFaults({ rules: [{ kind: 'drop', ...options, when: { event: { external_id: '1' } } }] });
      expect((await p.run('--max-outage', '1s')).code).toBe(3);
      service.setFaults({ rules: [] });
    },
    /** A copy of the checkpoint as it is now; the function that is returned puts it back. */
    backup: async (name: 'checkpoint.db' | 'plan.db' = 'checkpoint.db') => {
      const [path, copy] = [p.state(name), join(p.cwd, `copy-of-${name}`)];
      const schema = name === 'plan.db' ? PLAN : CHECKPOINT;
      const db = Database.open(path, schema);
      db.run(`vacuum ${schema.name} into ?`, copy);
      db.close();
      return async () => {
        for (const suffix of ['-wal', '-shm']) await rm(`${path}${suffix}`, { force: true });
        await copyFile(copy, path);
      };
    },
  };
}

describe('a record that another client created', () => {
  const given = { leads: ['1,Ada,Roma', '2,Grace,Bari'], deals: ['D1,Site,10,Won,1', 'D2,Shop,20,Won,2'] };
  const theirs = { external_id: '1', full_name: 'Another Ada' };

  it.each([
    ['is left unchanged', 'skip', 'Another Ada', { created: 3, updated: 0, none: 1 }],
    [
      'gets our content with one update, which is no second event',
      'update',
      'Ada',
      { created: 3, updated: 1, none: 0 },
    ],
  ])('%s, and its children are sent (if_exists: %s)', async (_what, policy, fullName, outcomes) => {
    const { turn, elsewhere, lead, deal } = await migration({
      ...given,
      policies: { 'lead/created': `if_exists: ${policy}` },
    });
    await elsewhere('lead/created', theirs);
    expect((await turn()).summary).toMatchObject({
      exit: { code: 0 },
      events: { total: 4, acknowledged: 4 },
      outcomes,
    });
    expect(lead('1')).toMatchObject({ fullName, revision: policy === 'skip' ? 1 : 2 });
    expect(deal('D1').primaryContactId).toBe(lead('1').id);
    expect((await turn()).sent).toEqual([]);
  });
});

describe('an update of a record that does not exist', () => {
  const given = { leads: ['1,Ada,Roma'], changes: ['1,Bari', '9,Pisa'], notes: ['N1,Hello,9'] };
  const policy = (name: string): Exports => ({ ...given, policies: { 'lead/updated': `if_missing: ${name}` } });

  it('is dropped, and creates the record once the mapping no longer says that it is skipped (if_missing: skip, then create)', async () => {
    const place = await migration({ ...policy('skip'), notes: [] });
    expect((await place.turn()).summary).toMatchObject({
      exit: { code: 0 },
      events: { acknowledged: 2 },
      outcomes: { none: 1 },
    });
    expect(place.service.state().leads.length).toBe(1);
    expect((await place.turn()).sent).toEqual([]);
    await place.export({ ...policy('create'), notes: [] });
    const { summary, sent } = await place.turn();
    expect(sent.map(({ type }) => type)).toEqual(['lead/created']);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { total: 2, acknowledged: 2 } });
    expect(place.lead('9')).toMatchObject({ customParams: { city: 'Pisa' } });
    expect((await place.turn()).sent).toEqual([]);
  });
});

describe('content that has changed since it was acknowledged', () => {
  const before = ['1,Ada,Roma', '2,Grace,Bari', '3,Alan,Pisa'];
  const after = ['1,Ada,Roma', '2,Grace Hopper,Bari', '3,Alan,Pisa'];

  it.each([
    ['reported', {}, { code: 1, reason: 'changed' }, 1],
    [
      'ignored',
      { 'lead/created': 'if_changed: ignore', 'lead/updated': 'if_changed: ignore' },
      { code: 0, reason: 'done' },
      0,
    ],
  ])('is %s and not sent under that `if_changed`', async (_what, policies, exit, changed) => {
    const place = await migration({ leads: before, policies });
    await place.turn();
    await place.export({ leads: after, policies });
    const { summary, sent } = await place.turn();
    expect(sent).toEqual([]);
    expect(summary).toMatchObject({ exit, events: { acknowledged: 3, changed } });
  });

  it('is sent without the fields that have not changed, once, and again with a new id if it changes back (if_changed: update)', async () => {
    const place = await migration({ leads: before, policies: UPDATE });
    await place.turn();
    const ids = new Set<string>();
    for (const leads of [after, before, after]) {
      const name = leads === after ? 'Grace Hopper' : 'Grace';
      await place.export({ leads, policies: UPDATE });
      const { summary, sent } = await place.turn();
      expect(summary).toMatchObject({ exit: { code: 0 }, events: { total: 3, acknowledged: 3 } });
      expect(sent).toMatchObject([{ type: 'lead/updated' }]);
      expect(sent[0]!.data).toEqual({ external_id: '2', full_name: name });
      ids.add(sent[0]!.id);
      expect(place.lead('2').fullName).toBe(name);
      expect((await place.turn()).sent).toEqual([]);
    }
    expect(ids.size).toBe(3);
    expect([place.lead('2').revision, place.lead('1').revision]).toEqual([4, 1]);
  });
});

describe('a lost answer', () => {
  const leads = ['1,Ada,Roma', '2,Grace,Bari'];
  const policies = { 'lead/created': 'if_exists: update' };
  const settled = (state: string) =>
    rowsIn(state, "select code from checkpoint.sent where status = 'acknowledged' and external_id = '1'");

  it('is asked for again if the event never arrived: a record that somebody else made meanwhile falls under `if_exists`', async () => {
    const place = await migration({ leads });
    await place.loseAnswer({ committed: false });
    await place.elsewhere('lead/created', { external_id: '1', full_name: 'Another Ada' });
    const { summary, sent } = await place.turn();
    expect(summary).toMatchObject({ exit: { code: 1, reason: 'rejected' }, events: { acknowledged: 1, rejected: 1 } });
    expect(sent.filter(({ data }) => data.external_id === '1')).toHaveLength(3);
    await place.export({ leads, policies });
    expect((await place.turn()).summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
    expect(place.lead('1')).toMatchObject({ fullName: 'Ada', revision: 2 });
  });

  it('for content that differs from the current one leaves the record changed, until `if_changed` sends the difference', async () => {
    const place = await migration({ leads });
    await place.loseAnswer({ committed: true });
    const changed = ['1,Ada Lovelace,Roma', '2,Grace,Bari'];
    await place.export({ leads: changed });
    // The rerun is cut off as well: now two requests about the record, with different content, have no answer.
    await place.loseAnswer({ committed: false });
    for (const _ of ['this run', 'the next']) {
      expect((await place.turn()).summary).toMatchObject({
        exit: { code: 1, reason: 'changed' },
        events: { acknowledged: 2, changed: 1 },
      });
    }
    expect(await settled(place.state())).toEqual([{ code: 'deduplicated' }]);
    expect(place.lead('1').fullName).toBe('Ada');

    await place.export({
      leads: changed,
      policies: { 'lead/created': 'if_changed: [full_name]', 'lead/updated': 'if_changed: ignore' },
    });
    const { summary, sent } = await place.turn();
    expect(sent).toMatchObject([{ type: 'lead/updated', data: { external_id: '1', full_name: 'Ada Lovelace' } }]);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { changed: 0 } });
    expect(place.lead('1').fullName).toBe('Ada Lovelace');
    expect((await place.turn()).sent).toEqual([]);
  });
});

it('records that the input no longer has are counted as gone, the totals still add up, and they remain valid parents', async () => {
  const place = await migration({ leads: ['1,Ada,Roma', '2,Grace,Bari', '3,Alan,Pisa'] });
  await place.turn();
  await place.export({ leads: ['1,Ada,Roma', '3,Alan,Pisa'], deals: ['D1,Site,10,Won,2'] });
  const { summary, sent } = await place.turn();
  expect(sent.map(({ type }) => type)).toEqual(['deal/created']);
  expect(summary).toMatchObject({ exit: { code: 0 }, events: { total: 3, acknowledged: 3, gone: 1 } });
  expect(place.service.state().leads.length).toBe(3);
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
    ['--only lead', 10, 'done'],
    ['--only comment/created', 0, 'waiting'],
    ['--pilot 4', 5, 'done'],
    ['--pick deal:D7 --pick lead:4', 5, 'done'],
  ])(
    'selected by %s is sent (%i events), and the rest by the next run, each event once',
    async (options, count, reason) => {
      const place = await migration(given);
      const part = await place.turn(...options.split(' '));
      expect(part.summary.exit).toEqual({ code: reason === 'done' ? 0 : 1, reason });
      expect(part.sent.length).toBe(count);
      expect(part.summary.events).toMatchObject({ acknowledged: count, pending: ALL - count });
      const rest = await place.turn();
      expect(rest.summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: ALL } });
      expect(rest.sent.length).toBe(ALL - count);
      expect(new Set(place.sent().map(({ id }) => id)).size).toBe(ALL);
    },
  );
});

it('comments without an id in the old CRM are all sent, even identical ones, and an added one is sent as another comment', async () => {
  const leads = ['1,Ada,Roma'];
  const alike = [',Left a message,1', ',Left a message,1', ',Left a message,1'];
  const place = await migration({ leads, notes: alike });
  await place.turn();
  expect(place.service.state().comments.length).toBe(3);
  expect((await place.turn()).sent).toEqual([]);
  await place.export({ leads, notes: [...alike, ',Called back,1', ',Left a message,1'] });
  expect((await place.turn()).sent.length).toBe(2);
  expect(place.service.state().comments.length).toBe(5);
});

describe('a checkpoint that is older than the plan beside it', () => {
  /** A run of the first rows, then one of the second rows; then the checkpoint of the first is put back. */
  async function olderAfter(first: readonly string[], second: readonly string[], policy = 'if_changed: update') {
    const policies = { 'lead/created': policy, 'lead/updated': policy };
    const place = await migration({ leads: first, policies });
    await place.turn();
    const putBack = await place.backup();
    await place.export({ leads: second, policies });
    await place.turn();
    await putBack();
    return {
      ...place,
      leads: (...leads: string[]) => place.export({ leads, policies }),
      exit: async (...options: string[]) => (await place.run(...options)).code,
      names: () => place.service.state().leads.map(({ fullName }) => fullName),
    };
  }

  it('stops the run, again and again, before anything is sent', async () => {
    const { leads, exit, names } = await olderAfter(['1,Ada,Roma'], ['1,Ada Lovelace,Roma']);
    await leads('1,Ada,Roma', '3,Alan,Bari');
    for (const _ of [1, 2]) expect(await exit()).toBe(3);
    expect(names()).toEqual(['Ada Lovelace']);
  });

  it.each(['ended', 'was killed', 'was followed by one that is refused'])(
    'stops the run where the copy was made during the last one, which %s',
    async (how) => {
      const { run, state, export: write } = await migration({ leads: ['1,Ada,Roma', '2,Grace,Pisa'] });
      await run();
      if (how === 'was followed by one that is refused') {
        await write({ leads: ['1,Ada,Roma', ',Alan,Bari'] });
        expect((await run('--max-errors', '0')).code).toBe(2);
      }
      const checkpoint = Database.open(state('checkpoint.db'), CHECKPOINT);
      for (const table of ['record', 'request']) checkpoint.run(`delete from ${table} where external_id = '2'`);
      checkpoint.close();
      const plan = Database.open(state('plan.db'), PLAN);
      if (how === 'was killed') expect(plan.run(`delete from setting where name = 'requests'`)).toBe(1);
      plan.close();
      expect((await run()).code).toBe(3);
    },
  );

  it('stops the run where the plan is gone, too, at the first answer that it does not explain', async () => {
    const { state, summary, exit, names } = await olderAfter(['1,Ada,Roma'], ['1,Ada,Roma', '2,Grace,Pisa']);
    await rm(state('plan.db'));
    for (const _ of [1, 2]) expect((await summary()).exit).toMatchObject({ code: 3, reason: 'unknown_history' });
    expect(await exit('--adopt')).toBe(0);
    expect(names()).toEqual(['Ada', 'Grace']);
  });

  it('stops the run where the whole folder is older, and with --adopt everything known is read back', async () => {
    const policies = UPDATE;
    const place = await migration({ leads: ['1,Ada,Roma'], policies });
    await place.turn();
    const whole = [await place.backup(), await place.backup('plan.db')];
    await place.export({ leads: ['1,Ada Lovelace,Roma', '2,Grace,Pisa'], policies });
    await place.turn();
    for (const putBack of whole) await putBack();
    await place.export({ leads: ['1,Ada,Roma', '2,Grace,Pisa'], policies });
    expect((await place.summary()).exit).toMatchObject({ code: 3, reason: 'unknown_history' });
    // Without reading back, Ada would be called unchanged.
    expect(await place.summary('--adopt')).toMatchObject({
      exit: { code: 1, reason: 'changed' },
      this_run: { adopted: 1 },
    });
    expect(place.service.state().leads.map(({ fullName }) => fullName)).toEqual(['Ada Lovelace', 'Grace']);
  });

  it('is not believed: what it calls unchanged is read back, and a difference is reported', async () => {
    const place = await olderAfter(['1,Ada,Roma', '2,Grace,Pisa'], ['1,Ada Lovelace,Roma', '2,Grace,Pisa']);
    // The export is as it was when the copy was made, and the service is not.
    await place.leads('1,Ada,Roma', '2,Grace,Pisa');
    expect((await place.summary('--adopt')).exit).toEqual({ code: 1, reason: 'changed' });
    expect(place.names()).toEqual(['Ada Lovelace', 'Grace']);
    expect(await rowsIn(place.state(), 'select external_id, field from change order by id')).toEqual([
      { external_id: '1', field: 'full_name' },
    ]);
  });
});
