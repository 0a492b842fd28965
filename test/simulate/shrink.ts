/** Makes a failing history shorter: leaves things out one after the other, as long as it still fails. */
import { QUIET, type Day, type History, type Mapping, type Policies, type Row, type Run } from './history.ts';

const PLAIN: Policies = {
  if_exists: 'update',
  if_changed: 'update',
  if_edited: 'keep',
  if_missing: 'create',
  if_parent_missing: 'block',
  if_contact_exists: 'ignore',
  duplicates: 'last',
  priority: false,
};

/** `fails`: whether a history fails in the same way. `isOver`: whether to be content with what there is. */
export async function shrink(
  failing: History,
  fails: (history: History) => Promise<boolean>,
  isOver: () => boolean,
): Promise<History> {
  let shortest = failing;
  for (let isShorter = true; isShorter && !isOver();) {
    isShorter = false;
    for (const candidate of candidatesOf(shortest)) {
      if (isOver()) break;
      if (JSON.stringify(candidate) === JSON.stringify(shortest) || !(await fails(candidate))) continue;
      shortest = candidate;
      isShorter = true;
      break;
    }
  }
  return shortest;
}

/** Histories with one thing less, large things first. */
function* candidatesOf(history: History): Generator<History, void, undefined> {
  const { days, mapping, habits } = history;
  for (const [at] of days.entries()) if (days.length > 1) yield { ...history, ...withoutDay(history, at) };
  const lists = ['comments', 'dealChanges', 'deals', 'leadChanges', 'leads', 'somebodys'] as const;
  for (const name of lists) {
    if (history[name].length > 1) yield { ...history, [name]: name === 'leads' ? history.leads.slice(0, 1) : [] };
    for (const [at] of history[name].entries()) {
      if (name !== 'leads' || at > 0)
        yield { ...history, [name]: (history[name] as readonly unknown[]).toSpliced(at, 1) };
    }
  }
  for (const [at, day] of days.entries()) {
    for (const shorter of shorterDays(day)) yield { ...history, days: days.with(at, shorter) };
  }
  for (const entity of ['lead', 'deal', 'comment'] as const) {
    for (const [name, value] of Object.entries(PLAIN)) {
      const changed: Mapping = { ...mapping, [entity]: { ...mapping[entity], [name]: value as string } };
      yield { ...history, mapping: changed };
    }
  }
  yield { ...history, cuts: undefined };
  yield { ...history, combines: undefined };
  yield { ...history, changed: undefined };
  if (history.combines) yield { ...history, combines: history.combines.map(() => true) };
  yield { ...history, habits: { ...habits, limit: 100, pageSize: 100, normalises: false } };
  for (const name of ['leads', 'leadChanges', 'deals', 'dealChanges'] as const) {
    for (const [at, row] of history[name].entries()) {
      for (const plainer of plainerRows(row)) yield { ...history, [name]: history[name].with(at, plainer) };
    }
  }
}

/** The export of the day after goes on as on that day. */
function withoutDay(history: History, at: number): Partial<History> {
  const shift = <T extends { readonly days: readonly unknown[] }>(rows: readonly T[]): T[] =>
    rows.map((row) => ({ ...row, days: [...without(row.days, at), row.days.at(-1)] }));
  const { leads, leadChanges, deals, dealChanges, comments, days, cuts, combines } = history;
  return {
    days: without(days, at),
    combines: combines && [...without(combines, at), combines.at(-1)!],
    cuts: cuts && [...without(cuts, at), cuts.at(-1)!],
    leads: shift(leads),
    leadChanges: shift(leadChanges),
    deals: shift(deals),
    dealChanges: shift(dealChanges),
    comments: shift(comments),
  };
}

function* shorterDays(day: Day): Generator<Day, void, undefined> {
  for (const [at] of day.runs.entries()) if (day.runs.length > 1) yield { ...day, runs: without(day.runs, at) };
  for (const [at] of day.acts.entries()) yield { ...day, acts: without(day.acts, at) };
  yield { ...day, foreign: 0, isMismapped: false };
  yield { ...day, policies: undefined };
  yield { ...day, state: undefined };
  for (const [at, run] of day.runs.entries()) {
    for (const shorter of shorterRuns(run)) yield { ...day, runs: day.runs.with(at, shorter) };
  }
}

function* shorterRuns(run: Run): Generator<Run, void, undefined> {
  const { weather } = run;
  yield { ...run, weather: QUIET.weather };
  yield { ...run, ending: undefined };
  yield { ...run, fixes: false };
  yield { ...run, pick: undefined };
  yield { ...run, approves: false };
  yield { ...run, rate: undefined };
  for (const name of ['dryRun', 'pilot', 'only', 'concurrency', 'maxOutage', 'pauseMs'] as const) {
    yield { ...run, [name]: QUIET[name] };
  }
  for (const [at] of weather.faults.entries()) {
    yield { ...run, weather: { ...weather, faults: without(weather.faults, at) } };
  }
  yield { ...run, weather: { ...weather, readFaults: [] } };
  yield { ...run, weather: { ...weather, outage: undefined } };
  yield { ...run, weather: { ...weather, clock: undefined } };
}

/** With fewer values, and fewer changes from day to day. */
function* plainerRows(row: Row): Generator<Row, void, undefined> {
  for (let at = 1; at < row.days.length; at += 1) yield { ...row, days: row.days.with(at, row.days[at - 1]!) };
  const columns = Object.keys(row.days.find((cells) => cells !== null) ?? {});
  for (const column of columns) {
    for (const letter of ['', 'a'] as const) {
      const days = row.days.map((cells) => cells && { ...cells, [column]: letter });
      if (row.days.some((cells) => cells && cells[column] !== '' && cells[column] !== letter)) yield { ...row, days };
    }
  }
}

function without<T>(list: readonly T[], at: number): T[] {
  return list.toSpliced(at, 1);
}
