// Lost without it: a rare history could break a rule of the core.
import { expect, it } from 'vitest';
import * as known from '../../src/core/known.ts';
import * as nextStep from '../../src/core/next.ts';
import { playHistory } from '../core/history.ts';

const HISTORIES = 1_000_000;

it(`no field is wrong without being reported, in ${HISTORIES} histories of a record`, () => {
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    expect(playHistory({ ...known, ...nextStep }, seed), `history ${seed}`).toEqual([]);
  }
});
