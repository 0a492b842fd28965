/** The events of the plan that a run sends: every option that leaves events for a later run, in one table. */
import type { EntryHead } from '../mapping/mapping.ts';
import type { Account } from '../service/account.ts';
import type { Selection } from '../settings/run-settings.ts';
import type { Database } from '../store/sqlite.ts';
import { holdOtherRecords, holdOtherTypes, holdUnpicked } from './chosen.ts';
import { coverOf, storePilot, type Cover } from './cover.ts';
import { judgeParents } from './parents.ts';

/** The plan to select from. `account`: undefined if it is unknown. */
interface ChosenFrom {
  readonly db: Database;
  readonly entries: readonly EntryHead[];
  readonly account: Account | undefined;
}

/** What was left out, and what the records of a pilot cover. */
interface Selected {
  readonly isPart: boolean;
  readonly cover?: Cover;
}

type Select<Given> = (plan: ChosenFrom, given: Given) => Selected;

const WHOLE: Selected = { isPart: false };

/** By the option, in the order in which they are applied: a pilot is chosen among the events that are selected and can be sent. */
const STEPS: { readonly [Name in keyof Selection]: Select<Selection[Name]> } = {
  only: ({ db, entries }, types) => ({ isPart: holdOtherTypes(db, types, entries) > 0 }),
  pilot({ db, account }, records) {
    if (records === undefined) return WHOLE;
    const cover = coverOf(db, records, account);
    holdOtherRecords(db, cover.events);
    storePilot(db, cover);
    return { isPart: true, cover };
  },
  pick({ db }, records) {
    if (records.length === 0) return WHOLE;
    holdUnpicked(db, records);
    return { isPart: true };
  },
};

/**
 * Holds every event that the selection leaves for a later run, and lets those wait whose parent it leaves. Returns what the records of a
 * pilot cover. Throws a `UserError` if the selection names a record that is not there.
 */
export function select(plan: ChosenFrom, selection: Selection): Cover | undefined {
  let cover: Cover | undefined;
  for (const name of Object.keys(STEPS) as (keyof Selection)[]) {
    const step = STEPS[name] as Select<unknown>;
    const selected = step(plan, selection[name]);
    if (selected.isPart) judgeParents(plan.db, plan.entries);
    cover ??= selected.cover;
  }
  return cover;
}
