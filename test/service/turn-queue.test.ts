import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { NotSent } from '../../src/service/limiter.ts';
import { TurnQueue } from '../../src/service/turn-queue.ts';

/** A queue, and the names of those that were withdrawn from it. */
function queueOf(turns: readonly (readonly [name: string, signal: AbortSignal | undefined])[]) {
  const stop = new AbortController();
  const queue = new TurnQueue(stop.signal);
  const withdrawn: string[] = [];
  const add = (name: string, signal: AbortSignal | undefined): void => {
    queue
      .wait(async () => name, signal ? { signal } : {})
      .catch((error: unknown) => {
        expect(error).toBeInstanceOf(NotSent);
        withdrawn.push(name);
      });
  };
  for (const [name, signal] of turns) add(name, signal);
  return { queue, withdrawn, add, stop };
}

it('withdraws only the requests whose signal is aborted', async () => {
  const one = new AbortController();
  const other = new AbortController();
  const { queue, withdrawn } = queueOf([
    ['a', one.signal],
    ['b', undefined],
    ['c', other.signal],
    ['d', one.signal],
  ]);
  one.abort();
  await setImmediate();
  expect(withdrawn).toEqual(['a', 'd']);
  expect(queue.size).toBe(2);
  other.abort();
  await setImmediate();
  expect(withdrawn).toEqual(['a', 'd', 'c']);
});

it('withdraws all waiting and later requests once stopped', async () => {
  const { queue, withdrawn, add, stop } = queueOf([
    ['a', undefined],
    ['b', new AbortController().signal],
  ]);
  stop.abort();
  add('c', undefined);
  await setImmediate();
  expect(withdrawn).toEqual(['a', 'b', 'c']);
  expect(queue.size).toBe(0);
});

it('adds one listener per signal', () => {
  const { signal } = new AbortController();
  const { queue, add } = queueOf([['first', signal]]);
  queue.first!.withdraw();
  for (let turn = 0; turn < 50; turn += 1) add(String(turn), signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
});

it('gives the first turn to the lowest place, and among equal ones to the first that came', async () => {
  const queue = new TurnQueue(new AbortController().signal);
  const order: string[] = [];
  const turns = (['late', 'early', 'retried', 'second'] as const).map((name, index) =>
    queue.wait(async () => order.push(name), { place: [9, 1, 0, 1][index]! }),
  );
  while (queue.first) void queue.first.run();
  await Promise.all(turns);
  expect(order).toEqual(['retried', 'early', 'second', 'late']);
});
