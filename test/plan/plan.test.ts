/** Examples beside `model.test`, which compares plans of random events with a plain model. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRecords } from '../../src/plan/counts.ts';
import { countGone } from '../../src/plan/known/gone.ts';
import type { Database } from '../../src/store/sqlite.ts';
import { deal, event, lead, note, planOf, Planning, statesOf, turnsOf, type Given } from './planning.ts';

const update = (id: string, name: string): Given => event('lead/updated', { external_id: id, full_name: name });
const comment = event('comment/created', { content: 'same', lead_external_id: '1' });
/** What the ids of the events depend on. */
const contentsIn = (db: Database): string[] =>
  db.all<{ content: string }>(`select content from event where data is not null order by id`).map((row) => row.content);

/** The events of which something is sent as an update, though the input has them as created. */
function changesIn(db: Database): string[] {
  return db
    .all<{ name: string }>(
      `select external_id || ' ' || sends as name from event where state = 'ready' and sends <> type order by id`,
    )
    .map(({ name }) => name);
}

function dataOf(db: Database, id: number): object {
  return JSON.parse(db.get<{ data: string }>('select data from event where id = ?', id)!.data) as object;
}

function codesIn(db: Database): string[] {
  return db.all<{ code: string }>('select code from problems order by code').map(({ code }) => code);
}

describe('duplicates', () => {
  it.each([
    ['first', ['ready', 'duplicate', 'duplicate']],
    ['last', ['duplicate', 'duplicate', 'ready']],
  ] as const)('with different content follow `duplicates: %s`', async (duplicates, expected) => {
    const db = await planOf(
      ['a', 'b', 'c'].map((name) => lead('1', { name })),
      { duplicates },
    );
    expect(statesOf(db)).toEqual({ 'lead/created': expected });
    expect(db.all('select external_id, field, original from left_out')).toEqual(
      Array(2).fill({ external_id: '1', field: null, original: null }),
    );
  });

  it.each([
    ['the row whose content was sent stays', ['Acme', 'Ada'], ['invalid', 'acknowledged']],
    ['rows with that content stay', ['Acme', 'Ada', 'Ada'], ['invalid', 'acknowledged', 'duplicate']],
    ['none stays where no row has the content that was sent', ['Acme', 'Ada B'], ['invalid', 'invalid']],
  ] as const)('under `reject`: %s', async (_, names, expected) => {
    const planning = await Planning.create();
    await planning.settle([lead('1', { name: 'Ada' })]);
    const db = await planning.survey(names.map((name) => lead('1', { name })));
    expect(statesOf(db)).toEqual({ 'lead/created': expected });
  });

  it('under `reject`: a comment that was sent in a combined one stays', async () => {
    const planning = await Planning.create({ combine: 50 });
    const sent = event('comment/created', { external_id: 'n1', content: 'Called', lead_external_id: '1' });
    await planning.settle([lead('1'), sent]);
    const other = { ...sent, data: { ...sent.data, content: 'Met' } };
    const states = statesOf(await planning.survey([lead('1'), other, sent]))['comment/created'];
    expect(states).toEqual(['invalid', 'acknowledged']);
  });

  it('that one of two unanswered bodies has brought are uncertain, and the others are not', async () => {
    const planning = await Planning.create({ combine: 50 });
    const part = (id: string): Given =>
      event('comment/created', { external_id: id, content: 'Called', lead_external_id: '1' });
    await planning.settle([lead('1')]);
    const parts = ['n1', 'n2', 'n3'].map(part);
    await planning.settle([lead('1'), ...parts], 'open');
    await planning.settle([lead('1'), ...parts.slice(0, 2)], 'open');
    await planning.settle([lead('1'), ...parts.slice(0, 2)], 'deduplicated');
    const states = (db: Database) => db.all(`select state, code from event where entity = 'comment'`);
    const all = await planning.survey([lead('1'), ...parts]);
    expect(states(all)).toEqual([{ state: 'rejected', code: 'uncertain' }]);
    const certain = await planning.survey([lead('1'), ...parts.slice(0, 2)]);
    expect(states(certain)).toEqual([{ state: 'acknowledged', code: null }]);
  });

  it.each([
    ['last', [false, true], []],
    ['first', [true, false], []],
    ['last', [true, false], ['b']],
    ['first', [false, true], ['a']],
  ] as const)(
    'of which `%s` is chosen before `when` is asked, one is left out (%j)',
    async (duplicates, excluded, sent) => {
      const rows = ['a', 'b'].map((name, n) => lead('1', { name, isExcluded: excluded[n]! }));
      const planning = await Planning.create({ duplicates });
      const db = await planning.survey(rows);
      expect(
        db.all<{ name: string }>(`select data ->> 'full_name' as name from turn join event on event.id = event`),
      ).toEqual(sent.map((name) => ({ name })));
      expect(countRecords(db)).toEqual({ read: 2, mapped: sent.length, skipped: 2 - sent.length, unreadable: 0 });
      const told = db.all<{ reason: string }>('select reason from left_out').map(({ reason }) => reason);
      expect(told.filter((reason) => reason.includes('`duplicates`'))).toHaveLength(1 - sent.length);
      // Sent before, it is gone from the input.
      planning.forget();
      await planning.settle([lead('1', { name: 'a' })]);
      expect(countGone(await planning.survey(rows)).gone).toBe(1 - sent.length);
    },
  );

  it('among comments without an id are separate events, each recognised on a rerun', async () => {
    const planning = await Planning.create();
    await planning.settle([lead('1'), comment]);
    const db = await planning.survey([lead('1'), comment, comment]);
    expect(statesOf(db)['comment/created']).toEqual(['acknowledged', 'ready']);
    expect(countGone(db).gone).toBe(0);
  });
});

describe('the rows of one record', () => {
  it.each([
    ['of its created row', '2024-01-01T00:00:00Z', '2024-01-01T00:00:00.000Z'],
    ['of the last row that has one', undefined, '2024-01-03T00:00:00.000Z'],
  ])('have one time: that %s', async (_, occurredAt, expected) => {
    const dated = (day: string): Given => ({ ...update('1', 'Ada'), occurredAt: `2024-01-0${day}T00:00:00Z` });
    const created = lead('1', occurredAt === undefined ? {} : { occurredAt });
    const db = await planOf([created, dated('2'), dated('3'), update('1', 'Eve')]);
    expect(db.get('select occurred_at from event')).toEqual({ occurred_at: expected });
  });

  const full = (id: string, name: string, city?: string): Given =>
    event('lead/created', { external_id: id, full_name: name, ...(city && { custom_params: { city } }) });
  const partly = (id: string, data: object): Given => event('lead/updated', { external_id: id, ...data });

  it('are one event: later rows over earlier ones, an absent value overrides nothing', async () => {
    const db = await planOf([
      full('1', 'Ada', 'Bari'),
      partly('1', { custom_params: { size: 5 } }),
      partly('1', { full_name: 'Ada L.' }),
      full('2', 'Bob'),
    ]);
    expect(statesOf(db)).toEqual({ 'lead/created': ['ready', 'ready'] });
    expect(dataOf(db, 1)).toEqual({ external_id: '1', full_name: 'Ada L.', custom_params: { city: 'Bari', size: 5 } });
    expect(db.all('select rows from events order by external_id')).toEqual([{ rows: 3 }, { rows: 1 }]);
  });

  it('that update a record of somebody else are a warning where they have custom fields, which may replace all others', async () => {
    const codes = async (...events: Given[]): Promise<string[]> => codesIn(await planOf(events));
    expect(await codes(partly('1', { custom_params: { size: 5 } }))).toContain('custom_fields_may_go');
    expect(await codes(partly('1', { full_name: 'Ada' }))).not.toContain('custom_fields_may_go');
    expect(await codes(full('1', 'Ada', 'Bari'))).not.toContain('custom_fields_may_go');
  });

  it('are invalid as a whole if one of them cannot be mapped, and each is listed', async () => {
    const unmapped = { ...partly('1', { full_name: 'newer' }), isInvalid: true };
    const db = await planOf([full('1', 'older'), unmapped, deal('d', '1')]);
    expect(statesOf(db)).toEqual({ 'lead/created': ['invalid'], 'deal/created': ['blocked'] });
    expect(
      db.all(`select code, line from problems where severity = 'error' and type = 'lead/created' order by line`),
    ).toEqual([
      { code: 'row_invalid', line: 1 },
      { code: 'bad_date', line: 2 },
    ]);
    expect(db.get(`select message from problems where code = 'row_invalid'`)).toMatchObject({
      message: expect.stringContaining(':2') as string,
    });
  });

  it('have the policies of the entries that set their fields', async () => {
    const planning = await Planning.create({ if_changed: 'report' });
    await planning.settle([full('1', 'a'), partly('1', { custom_params: { size: 1 } })]);
    const db = await planning.survey([full('1', 'a'), partly('1', { custom_params: { size: 2 } })]);
    expect(db.get('select state, code from event')).toEqual({ state: 'acknowledged', code: 'changed' });
  });
});

describe('event ids', () => {
  it('do not depend on the order of the rows', async () => {
    const id = fc.constantFrom('1', '2', '3');
    const events = fc.array(
      fc.oneof(
        id.map((of) => lead(of, { name: `name ${of}` })),
        fc.tuple(id, id).map(([of, parent]) => deal(of, parent)),
        // Of two updates of a field, the last one counts.
        id.map((of) => update(of, `new ${of}`)),
        fc
          .tuple(fc.constantFrom(undefined, 'a', 'b'), fc.constantFrom('x', 'y'), id)
          .map(([of, content, parent]) =>
            event('comment/created', { ...(of && { external_id: of }), content, lead_external_id: parent }),
          ),
      ),
      { minLength: 1, maxLength: 12 },
    );
    const shuffled = events.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    const planning = await Planning.create({ duplicates: 'first' });
    const sortedIds = async (given: readonly Given[]): Promise<string[]> => {
      const db = await planning.survey(given);
      const ids = contentsIn(db).sort();
      db.close();
      return ids;
    };
    await fc.assert(
      fc.asyncProperty(shuffled, async ([all, other]) => {
        expect(await sortedIds(other)).toEqual(await sortedIds(all));
      }),
      { numRuns: 30 },
    );
  });
});

describe('a rerun', () => {
  it('distinguishes acknowledged, changed, rejected and new events', async () => {
    const planning = await Planning.create();
    await planning.settle([lead('1'), lead('2', { name: 'before' })]);
    await planning.settle([lead('3'), lead('4', { name: 'before' })], 'rejected');
    const db = await planning.survey([lead('1'), lead('2', { name: 'after' }), lead('3'), lead('4'), lead('5')]);
    expect(db.all('select external_id, state, code from event order by id')).toEqual([
      { external_id: '1', state: 'acknowledged', code: null },
      { external_id: '2', state: 'acknowledged', code: 'changed' },
      { external_id: '3', state: 'retry', code: null },
      { external_id: '4', state: 'ready', code: null },
      { external_id: '5', state: 'ready', code: null },
    ]);
    expect(codesIn(db).filter((code) => code === 'changed')).toHaveLength(1);
  });

  it('sends what went out without an answer again, under its id', async () => {
    const planning = await Planning.create();
    const first = contentsIn(await planning.survey([lead('1')]));
    await planning.settle([lead('1')], 'open');
    const db = await planning.survey([lead('1')]);
    expect(statesOf(db)).toEqual({ 'lead/created': ['ready'] });
    expect(contentsIn(db)).toEqual(first);
  });

  it('does not create a record anew whose row can no longer be mapped', async () => {
    const planning = await Planning.create();
    await planning.settle([lead('1')]);
    const db = await planning.survey([lead('1', { isInvalid: true }), deal('d', '1')]);
    expect(statesOf(db)).toEqual({ 'lead/created': ['acknowledged'], 'deal/created': ['ready'] });
    expect(countGone(db).gone).toBe(0);
  });
});

it('`if_changed` with a list compares and sends only those fields', async () => {
  const of = (name: string, city: string, size: string): Given =>
    event('lead/created', { external_id: '1', full_name: name, custom_params: { city, size } });
  const planning = await Planning.create({ if_changed: ['custom_params'] });
  await planning.settle([of('x', 'Roma', '1')]);
  expect(changesIn(await planning.survey([of('y', 'Roma', '1')]))).toEqual([]);
  expect(changesIn(await planning.survey([of('y', 'Pisa', '1')]))).toEqual(['1 lead/updated']);
});

it('`if_changed: update` sends what may have been changed without an answer, also where the export says the former value again', async () => {
  const planning = await Planning.create({ if_changed: 'update' });
  await planning.settle([lead('1', { name: 'before' })]);
  await planning.sent(await planning.survey([lead('1', { name: 'after' })]), 'open');
  expect(changesIn(await planning.survey([lead('1', { name: 'before' })]))).toEqual(['1 lead/updated']);
  expect(changesIn(await planning.survey([lead('1', { name: 'after' })]))).toEqual(['1 lead/updated']);
});

it('a selection of a record that the input does not have is refused', async () => {
  const planning = await Planning.create();
  await expect(planning.survey([lead('1')], { pick: ['lead:nobody'] })).rejects.toThrow('lead:nobody');
});

it('comments of one parent go by the moment, whatever its offset and its fraction of a second', async () => {
  const times = ['2024-01-01T10:00:00.002Z', '2024-01-01T10:00:00.001Z', '2024-01-01T11:30:00+02:00'];
  const notes = times.map((occurredAt, n) => note(`n${n}`, 'd', { occurredAt }));
  expect(turnsOf(await planOf([lead('1'), deal('d', '1'), ...notes])).slice(2)).toEqual(['n2', 'n1', 'n0']);
});
