// Lost without it: what a run has opened could stay open after an error.
import { expect, it } from 'vitest';
import { closingAfter } from '../src/run/held-state.ts';

it('closes everything, the first that was opened last, whatever fails, and shows the first error', async () => {
  const closed: string[] = [];
  const ended = closingAfter(async (atEnd) => {
    for (const name of ['lock', 'log', 'plan']) {
      atEnd(async () => {
        closed.push(name);
        if (name !== 'lock') throw new Error(`${name} cannot be closed`);
      });
    }
    throw new Error('the disk is full');
  });
  await expect(ended).rejects.toThrow('the disk is full');
  expect(closed).toEqual(['plan', 'log', 'lock']);
});

it('what cannot be closed is an error of its own', async () => {
  const ended = closingAfter(async (atEnd) => {
    atEnd(() => {
      throw new Error('not closed');
    });
    return 'done';
  });
  await expect(ended).rejects.toThrow('not closed');
  expect(await closingAfter(async () => 'done')).toBe('done');
});
