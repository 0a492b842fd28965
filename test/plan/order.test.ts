import { describe, expect, it } from 'vitest';
import type { Policies } from '../../src/mapping/policies.ts';
import { priorityProgress } from '../../src/plan/order.ts';
import { deal, event, lead, leadNote, note, planOf, Planning, turnsOf, type Given } from './planning.ts';

const idsOf = async (events: readonly Given[], policies?: Partial<Policies>): Promise<string[]> =>
  turnsOf(await planOf(events, policies));

describe('without priorities, events', () => {
  it('go by type, and within a type as in the files', async () => {
    expect(await idsOf([note('n1', 'd1'), lead('2'), deal('d1', '2'), lead('1')])).toEqual(['2', '1', 'd1', 'n1']);
  });

  it('that an earlier run saw rejected go last within their type', async () => {
    const planning = await Planning.create();
    await planning.settle([lead('1')], 'rejected');
    expect(turnsOf(await planning.survey([lead('1'), lead('2'), deal('d', '2')]))).toEqual(['2', '1', 'd']);
  });
});

describe('an event with a higher priority', () => {
  it('goes first, after its parents and with everything that hangs on it', async () => {
    const db = await planOf([
      lead('1'),
      lead('2'),
      lead('3'),
      deal('closed', '1', { priority: 0 }),
      deal('open', '2', { priority: 1 }),
      note('n1', 'closed'),
      note('n2', 'open'),
      leadNote('n3', '2'),
      leadNote('n4', '3'),
    ]);
    expect(turnsOf(db)).toEqual(['2', 'open', 'n2', 'n3', '1', '3', 'closed', 'n1', 'n4']);
    expect(priorityProgress(db)).toMatchObject([
      { priority: 1, events: 4, left: 4 },
      { priority: 0, events: 5, left: 5 },
    ]);
  });

  it('lifts its parent and the parent of that, and so what hangs on them without a priority of its own', async () => {
    const ids = await idsOf([
      lead('1'),
      deal('other', '1', { priority: 0 }),
      deal('same', '1'),
      deal('d', '1'),
      note('n', 'd', { priority: 5 }),
      note('first', 'same'),
    ]);
    expect(ids).toEqual(['1', 'same', 'd', 'n', 'first', 'other']);
  });

  it('can be a lead, whose deals and comments go with it', async () => {
    expect(
      await idsOf([lead('1'), lead('2', { priority: 3 }), deal('d1', '1'), deal('d2', '2'), note('n2', 'd2')]),
    ).toEqual(['2', 'd2', 'n2', '1', 'd1']);
  });

  it('can get it from any of its rows', async () => {
    const update = (id: string, n: number, priority?: number) =>
      event('lead/updated', { external_id: id, custom_params: { n } }, priority === undefined ? {} : { priority });
    const events = [lead('1'), lead('2'), update('1', 1), update('2', 1, 0), update('2', 2, 4)];
    expect(await idsOf(events)).toEqual(['2', '1']);
  });

  it('lifts the parent that its last row names', async () => {
    const ids = await idsOf([
      lead('1'),
      lead('2'),
      deal('d', '1', { priority: 2 }),
      event('deal/updated', { external_id: 'd', lead_external_id: '2' }),
    ]);
    expect(ids).toEqual(['2', 'd', '1']);
  });

  it('is not a duplicate that was dropped, nor one that is invalid', async () => {
    const dropped = [
      lead('1'),
      lead('2'),
      deal('d', '2'),
      event('deal/created', { external_id: 'd', lead_external_id: '2', title: 'x' }, { priority: 9 }),
    ];
    expect(await idsOf(dropped, { duplicates: 'first' })).toEqual(['1', '2', 'd']);
    expect(await idsOf(dropped, { duplicates: 'last' })).toEqual(['2', 'd', '1']);
    expect(await idsOf(dropped)).toEqual(['1', '2']);
  });

  it('may wait for a parent that is nowhere: it is blocked, and lifts nothing', async () => {
    expect(await idsOf([lead('1'), deal('d', 'nowhere', { priority: 1 }), deal('e', '1')])).toEqual(['1', 'e']);
  });
});

describe('a negative priority', () => {
  it('goes last, and does not lower a parent', async () => {
    const events = [lead('1'), deal('d', '1', { priority: -1 }), note('n', 'd'), lead('2'), deal('e', '2')];
    expect(await idsOf(events)).toEqual(['1', '2', 'e', 'd', 'n']);
  });

  it('of comments leaves their deals where they are', async () => {
    const ids = await idsOf([
      lead('1'),
      deal('d', '1', { priority: 1 }),
      note('n', 'd', { priority: -1 }),
      lead('2'),
      deal('e', '2'),
    ]);
    expect(ids).toEqual(['1', 'd', '2', 'e', 'n']);
  });
});

describe('the priority of a record is the same', () => {
  const events = [
    lead('1'),
    lead('2'),
    deal('open', '2', { priority: 1 }),
    leadNote('a', '1'),
    leadNote('b', '2'),
    note('c', 'open'),
  ];

  it('in a rerun, where its deal is acknowledged already', async () => {
    const planning = await Planning.create();
    await planning.settle(events.slice(0, 3));
    const db = await planning.survey(events);
    expect(turnsOf(db)).toEqual(['b', 'c', 'a']);
    expect(priorityProgress(db)).toMatchObject([
      { priority: 1, events: 4, acknowledged: 2, left: 2 },
      { priority: 0, events: 2, acknowledged: 1, left: 1 },
    ]);
  });

  it('with --only, which excludes its deals', async () => {
    const db = await (await Planning.create()).survey(events, { only: 'lead/created' });
    expect(turnsOf(db)).toEqual(['2', '1']);
    expect(priorityProgress(db)).toMatchObject([{ events: 1 }, { events: 1 }]);
  });

  it('with --pick', async () => {
    const db = await (await Planning.create()).survey(events, { pick: ['deal:open'] });
    expect(turnsOf(db)).toEqual(['2', 'open', 'c']);
  });
});

describe('comments of one parent', () => {
  const at = (day: number) => ({ occurredAt: `2024-01-0${day}T10:00:00+01:00` });

  it('go in the order of time, then as in the files, and those without a time last', async () => {
    const ids = await idsOf([
      lead('1'),
      deal('d', '1'),
      note('none', 'd'),
      note('third', 'd', at(3)),
      note('first', 'd', { occurredAt: '1969-12-31T23:00:00Z' }),
      note('second', 'd', at(2)),
      note('second too', 'd', at(2)),
      note('none too', 'd'),
    ]);
    expect(ids.slice(2)).toEqual(['first', 'second', 'second too', 'third', 'none', 'none too']);
  });

  it('go by the moment, whatever its offset and its fraction of a second', async () => {
    const times = ['2024-01-01T10:00:00.002Z', '2024-01-01T10:00:00.001Z', '2024-01-01T11:30:00+02:00'];
    const notes = times.map((occurredAt, n) => note(`n${n}`, 'd', { occurredAt }));
    expect((await idsOf([lead('1'), deal('d', '1'), ...notes])).slice(2)).toEqual(['n2', 'n1', 'n0']);
  });

  it('take turns with those of other parents, spread over all', async () => {
    const notes = ['a', 'b', 'c'].flatMap((id) => [1, 2, 3].map((n) => note(`${id}${n}`, id, at(n))));
    const ids = await idsOf([
      lead('1'),
      ...['a', 'b', 'c'].map((id) => deal(id, '1')),
      ...notes,
      note('b4', 'b', at(4)),
    ]);
    expect(ids.slice(4)).toEqual(['b1', 'a1', 'c1', 'b2', 'a2', 'c2', 'b3', 'a3', 'c3', 'b4']);
  });

  it('all take the highest priority among them, so that their order holds', async () => {
    const ids = await idsOf([
      lead('1'),
      deal('d', '1'),
      note('late', 'd', { ...at(2), priority: 7 }),
      note('early', 'd', { ...at(1), priority: 0 }),
      deal('e', '1', { priority: 1 }),
    ]);
    expect(ids).toEqual(['1', 'd', 'early', 'late', 'e']);
  });

  it('that were rejected before go last, in their order', async () => {
    const comments = [note('n1', 'd', at(1)), note('n2', 'd', at(2)), note('n3', 'd', at(3)), note('n4', 'd', at(4))];
    const planning = await Planning.create();
    await planning.settle([lead('1'), deal('d', '1')]);
    await planning.settle([comments[2]!, comments[0]!], 'rejected');
    const db = await planning.survey([lead('1'), deal('d', '1'), ...comments]);
    expect(turnsOf(db)).toEqual(['n2', 'n4', 'n1', 'n3']);
  });
});
