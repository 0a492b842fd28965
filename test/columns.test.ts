import { expect, it } from 'vitest';
import { ByteColumn, Uint32Column } from '../src/columns.ts';

it.each([
  ['bytes', () => new ByteColumn(), 255],
  ['32-bit numbers', () => new Uint32Column(), 0xffffffff],
])('a column of %s grows, and an entry that was never set is 0', (_name, create, largest) => {
  const column = create();
  for (const index of [3, 64, 100_000]) column.set(index, largest);
  expect([3, 64, 100_000].map((index) => column.get(index))).toEqual([largest, largest, largest]);
  expect([4, 65, 99_999, 1_000_000].map((index) => column.get(index))).toEqual([0, 0, 0, 0]);
});
