/** `--pilot`: the records of the plan that together show most of what occurs in it. */
import { featureText, featureTexts, type FeatureKind, type PilotCounts } from '../report/files/pilot.ts';
import type { Account } from '../service/account.ts';
import type { Database } from '../store/sqlite.ts';
import { parentsOf } from './order/selection.ts';
import { FeatureReader, type Feature, type ShownRecord } from './judge/shown.ts';
import type { State } from './events.ts';

export interface Cover {
  readonly counts: PilotCounts;
  /** What occurs, but in no record of the pilot. */
  readonly missed: readonly string[];
  /** Numbers of the events of the chosen records; the parents that they need come in addition. */
  readonly events: readonly number[];
  /** The chosen records in the order in which to look at them: each after its parents that show something. */
  readonly toSee: readonly ToSee[];
}

interface ToSee {
  /** The first event of the record. */
  readonly event: number;
  /** The features that it shows and no record before it does, in words. */
  readonly shows: readonly string[];
}

/** A record that may be chosen. */
interface Choice {
  readonly own: ShownRecord;
  /** The records of the parents that it needs, and itself last. */
  readonly family: readonly ShownRecord[];
  /** Of the whole family. */
  readonly features: ReadonlySet<Feature>;
}

const IN_STATES = 'e.is_chosen = 1 and e.state in (select value from json_each(?))';
const AMONG = 'e.id in (select value from json_each(?))';

const SENDABLE: readonly State[] = ['ready', 'retry', 'acknowledged'];
/** Chosen only where nothing can be sent, so that the run says what they wait for. */
const WAITING: readonly State[] = ['waiting'];

/**
 * Chooses `limit` records, one after the other: the one with most features that no record of the pilot has yet, and of
 * equal ones the first in the input. Once every feature is covered, it begins again with all of them. Acknowledged events
 * count, so a rerun chooses the same records. Without an account, stages and owners have the names of the export.
 */
export function coverOf(db: Database, limit: number, account: Account | undefined): Cover {
  const reader = new FeatureReader(db, account);
  const sendable = choicesIn(db, reader, SENDABLE, limit);
  const waiting = choicesIn(db, reader, WAITING, limit);
  const picked = pick(sendable.length > 0 ? sendable : waiting, limit);
  const covered = featuresOf(picked.map(({ choice }) => choice));
  const features: { [K in FeatureKind]?: { covered: number; occurring: number } } = {};
  const missed: string[] = [];
  for (const feature of featuresOf([...sendable, ...waiting])) {
    const counts = (features[feature.kind] ??= { covered: 0, occurring: 0 });
    counts.occurring += 1;
    if (covered.has(feature)) counts.covered += 1;
    else missed.push(featureText(feature));
  }
  const family = picked.flatMap(({ choice }) => choice.family.flatMap(({ events }) => events));
  return {
    counts: { records: picked.length, events: countIn(db, family, SENDABLE), features },
    missed,
    events: picked.flatMap(({ choice }) => choice.own.events),
    toSee: picked.flatMap(({ toSee }) => toSee),
  };
}

/** Remembers what to look at, for `pilot.csv`. */
export function storePilot(db: Database, { toSee }: Cover): void {
  for (const { event, shows } of toSee)
    db.run('insert into pilot (event, shows) values (?, ?)', event, shows.join('; '));
}

interface Picked {
  readonly choice: Choice;
  readonly toSee: readonly ToSee[];
}

function pick(choices: readonly Choice[], limit: number): Picked[] {
  const left = new Map(choices.map((choice) => [choice.own.record, choice]));
  const picked: Picked[] = [];
  // Nobody has to look at a record twice, though a later round begins with all features.
  const seen = new Set<number>();
  let uncovered: Set<Feature> = new Set();
  while (picked.length < limit && left.size > 0) {
    if (uncovered.size === 0) uncovered = featuresOf(left.values());
    const choice = richest(left.values(), uncovered);
    const toSee = choice.family.flatMap((each) => {
      // Those in the pilot need not be chosen once more.
      left.delete(each.record);
      const gained = [...each.features].filter((feature) => uncovered.delete(feature));
      if (seen.has(each.record) || (gained.length === 0 && each !== choice.own)) return [];
      seen.add(each.record);
      return [{ event: each.events[0]!, shows: featureTexts(gained) }];
    });
    picked.push({ choice, toSee });
  }
  return picked;
}

function richest(choices: Iterable<Choice>, uncovered: ReadonlySet<Feature>): Choice {
  let best: Choice | undefined;
  let most = -1;
  for (const choice of choices) {
    let gain = 0;
    for (const feature of choice.features) if (uncovered.has(feature)) gain += 1;
    if (gain > most) [best, most] = [choice, gain];
  }
  return best!;
}

function featuresOf(choices: Iterable<Choice>): Set<Feature> {
  return new Set([...choices].flatMap(({ features }) => [...features]));
}

/** The first records with each feature, so many that there is always another one to choose, with their parents. */
function choicesIn(db: Database, reader: FeatureReader, states: readonly State[], limit: number): Choice[] {
  const seen = new Map<Feature, number>();
  const records: ShownRecord[] = [];
  for (const record of reader.records(IN_STATES, states)) {
    let isNeeded = false;
    for (const feature of record.features) {
      const before = seen.get(feature) ?? 0;
      seen.set(feature, before + 1);
      if (before < limit) isNeeded = true;
    }
    if (isNeeded) records.push(record);
  }
  const families = records.map(({ events }) => withParents(db, events));
  const byEvent = new Map<number, ShownRecord>();
  for (const record of reader.records(AMONG, [...new Set(families.flat())]))
    for (const event of record.events) byEvent.set(event, record);
  return records.map((own, index) => {
    const parents = families[index]!.flatMap((event) => byEvent.get(event) ?? []).filter(
      ({ record }) => record !== own.record,
    );
    // A lead before its deal.
    const family = [...new Set(parents)].toSorted((a, b) => a.record - b.record).concat(own);
    return { own, family, features: new Set(family.flatMap(({ features }) => [...features])) };
  });
}

function withParents(db: Database, events: readonly number[]): number[] {
  const family = new Set(events);
  for (const event of family) for (const parent of parentsOf(db, event)) family.add(parent);
  return [...family];
}

function countIn(db: Database, events: readonly number[], states: readonly State[]): number {
  return db.get<{ count: number }>(
    `select count(*) as count from event where id in (select value from json_each(?))
       and state in (select value from json_each(?))`,
    JSON.stringify(events),
    JSON.stringify(states),
  )!.count;
}
