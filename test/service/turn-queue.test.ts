import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { TurnQueue, type Waiter } from '../../src/service/turn-queue.ts';

/** A queue, and the names of those that were withdrawn from it. */
function queueOf(turns: readonly (readonly [name: string, signal: AbortSignal | undefined])[]) {
  const queue = new TurnQueue<Waiter>();
  const withdrawn: string[] = [];
  const add = (name: string, signal: AbortSignal | undefined): void => {
    const turn: Waiter = {
      signal,
      withdraw: () => {
        queue.delete(turn);
        withdrawn.push(name);
      },
    };
    queue.add(turn);
  };
  for (const [name, signal] of turns) add(name, signal);
  return { queue, withdrawn, add };
}

it('withdraws those whose signal is aborted, and no others', () => {
  const one = new AbortController();
  const other = new AbortController();
  const { queue, withdrawn } = queueOf([
    ['a', one.signal],
    ['b', undefined],
    ['c', other.signal],
    ['d', one.signal],
  ]);
  one.abort();
  expect(withdrawn).toEqual(['a', 'd']);
  expect(queue.size).toBe(2);
  other.abort();
  expect(withdrawn).toEqual(['a', 'd', 'c']);
});

it('listens to a signal once, however many wait for it', () => {
  const { signal } = new AbortController();
  const { queue, add } = queueOf([['first', signal]]);
  queue.first!.withdraw();
  for (let turn = 0; turn < 50; turn += 1) add(String(turn), signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
});
