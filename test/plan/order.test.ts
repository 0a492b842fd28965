/** Examples; `model.test` compares the order of random events with a plain model. */
import { expect, it } from 'vitest';
import { priorityProgress } from '../../src/plan/order.ts';
import { deal, lead, leadNote, note, planOf, Planning, turnsOf } from './planning.ts';

it('without priorities, events go by type, and within a type as in the files', async () => {
  const db = await planOf([note('n1', 'd1'), lead('2'), deal('d1', '2'), lead('1')]);
  expect(turnsOf(db)).toEqual(['2', '1', 'd1', 'n1']);
});

it('an event with a higher priority goes first, after its parents and with everything that hangs on it', async () => {
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

it('the priority of a record is the same in a rerun, where its deal is acknowledged already', async () => {
  const before = [lead('1'), lead('2'), deal('open', '2', { priority: 1 })];
  const planning = await Planning.create();
  await planning.settle(before);
  const db = await planning.survey([...before, leadNote('a', '1'), leadNote('b', '2'), note('c', 'open')]);
  expect(turnsOf(db)).toEqual(['b', 'c', 'a']);
  expect(priorityProgress(db)).toMatchObject([
    { priority: 1, events: 4, acknowledged: 2, left: 2 },
    { priority: 0, events: 2, acknowledged: 1, left: 1 },
  ]);
});

it('comments of one parent go by the moment, whatever its offset and its fraction of a second', async () => {
  const times = ['2024-01-01T10:00:00.002Z', '2024-01-01T10:00:00.001Z', '2024-01-01T11:30:00+02:00'];
  const notes = times.map((occurredAt, n) => note(`n${n}`, 'd', { occurredAt }));
  expect(turnsOf(await planOf([lead('1'), deal('d', '1'), ...notes])).slice(2)).toEqual(['n2', 'n1', 'n0']);
});
