/** The events of the plan that a run sends: every option that leaves events for a later run, in one table. */
import type { Account } from '../service/account.ts';
import type { Selection } from '../settings/run-settings.ts';
import type { Database } from '../store/sqlite.ts';
import { holdOtherRecords, holdOtherTypes, holdUnpicked } from './chosen.ts';
import { coverOf, storePilot, type Cover } from './cover.ts';

/** What was left out, and what the records of a pilot cover. */
interface Selected {
  readonly isPart: boolean;
  readonly cover?: Cover;
}

type Select<Given> = (db: Database, given: Given, account: Account | undefined) => Selected;

const WHOLE: Selected = { isPart: false };

/** By the option, in the order in which they are applied: a pilot is chosen among the types that are selected. */
const STEPS: { readonly [Name in keyof Selection]: Select<Selection[Name]> } = {
  only: (db, types) => ({ isPart: holdOtherTypes(db, types) > 0 }),
  pilot(db, records, account) {
    if (records === undefined) return WHOLE;
    const cover = coverOf(db, records, account);
    holdOtherRecords(db, cover.events);
    storePilot(db, cover);
    return { isPart: true, cover };
  },
  pick(db, records) {
    if (records.length === 0) return WHOLE;
    holdUnpicked(db, records);
    return { isPart: true };
  },
};

/** Holds every event that the selection leaves for a later run. Throws a `UserError` if it names a record that is not there. */
export function select(db: Database, selection: Selection, account: Account | undefined): Selected {
  let selected = WHOLE;
  for (const name of Object.keys(STEPS) as (keyof Selection)[]) {
    const step = STEPS[name] as Select<unknown>;
    const { isPart, ...found } = step(db, selection[name], account);
    selected = { ...selected, ...found, isPart: selected.isPart || isPart };
  }
  return selected;
}
