/** `--pilot`: the records that together have most of the features that occur. */
import { featureText, featureTexts, type FeatureKind, type PilotCounts } from '../report/pilot.ts';
import type { Database } from '../store/sqlite.ts';
import { MOST_FEATURES, type Candidate, type Feature, type Features } from './features.ts';
import { parentsOf } from './chosen.ts';
import type { State } from './states.ts';

export interface Cover {
  readonly counts: PilotCounts;
  /** What occurs, but in no record of the pilot. */
  readonly missed: readonly string[];
  /** The chosen records, in the order in which they were chosen; their parents come in addition. */
  readonly chosen: readonly Chosen[];
}

interface Chosen {
  /** Numbers of the events of the record. */
  readonly events: readonly number[];
  /** What it shows that no record before it does, in words. */
  readonly shows: readonly string[];
}

/** A record as it would be chosen: its events that can be sent, and its features with those of its parents. */
interface Choice {
  readonly events: readonly number[];
  readonly features: ReadonlySet<Feature>;
}

const SENDABLE: ReadonlySet<State> = new Set(['ready', 'retry', 'acknowledged']);
/** Chosen only where there are too few others, so that the run says what they wait for. */
const WAITING: ReadonlySet<State> = new Set(['waiting']);

/**
 * Chooses `features.limit` records, one after the other: the one with most features that no chosen record has yet, and of
 * equal ones the first in the input. Once every feature is covered, it begins again with all of them. Acknowledged events
 * count, so a rerun chooses the same records.
 */
export function coverOf(db: Database, features: Features): Cover {
  const { limit } = features;
  const candidates = features.candidates();
  const byEvent = new Map(candidates.flatMap((each) => each.events.map((event) => [event, each])));
  const stateOf = (event: number): State =>
    db.get<{ state: State }>('select state from event where id = ?', event)!.state;
  const choicesIn = (states: ReadonlySet<State>): Choice[] =>
    candidates.flatMap((candidate) => {
      const events = candidate.events.filter((event) => states.has(stateOf(event)));
      return events.length === 0 ? [] : [{ events, features: withParents(db, candidate, byEvent) }];
    });
  const sendable = choicesIn(SENDABLE);
  const waiting = choicesIn(WAITING);
  const choices = greedy(sendable, limit);
  choices.push(...greedy(waiting, limit - choices.length));
  const chosen = choices.map(({ choice, gained }) => ({ events: choice.events, shows: featureTexts(gained) }));
  const family = withAllParents(
    db,
    chosen.flatMap(({ events }) => events),
  );
  const events = [...family].filter((event) => SENDABLE.has(stateOf(event))).length;
  const picked = choices.map(({ choice }) => choice);
  return { ...covered(picked, [...sendable, ...waiting], events), chosen };
}

/** Remembers the chosen records, for `pilot.csv`. */
export function storePilot(db: Database, { chosen }: Cover): void {
  for (const { events, shows } of chosen)
    db.run('insert into pilot (event, shows) values (?, ?)', events[0]!, shows.join('; '));
}

function withAllParents(db: Database, events: readonly number[]): ReadonlySet<number> {
  const family = new Set(events);
  for (const event of family) for (const parent of parentsOf(db, event)) family.add(parent);
  return family;
}

function withParents(db: Database, candidate: Candidate, byEvent: ReadonlyMap<number, Candidate>): Set<Feature> {
  const found = new Set<Feature>();
  const visited = new Set<Candidate>();
  const visit = (each: Candidate): void => {
    if (visited.has(each)) return;
    visited.add(each);
    for (const feature of each.features) found.add(feature);
    for (const event of each.events) {
      for (const needed of parentsOf(db, event)) {
        const parent = byEvent.get(needed);
        if (parent) visit(parent);
      }
    }
  };
  visit(candidate);
  return found;
}

/** A choice, and the features that no choice before it had. */
interface Picked {
  readonly choice: Choice;
  readonly gained: readonly Feature[];
}

function greedy(choices: readonly Choice[], limit: number): Picked[] {
  const left = new Set(choices);
  const picked: Picked[] = [];
  let uncovered = new Set<Feature>();
  while (picked.length < limit && left.size > 0) {
    if (uncovered.size === 0) uncovered = featuresOf(left);
    let best: Choice | undefined;
    let most = -1;
    for (const choice of left) {
      const gain = gainOf(choice.features, uncovered);
      if (gain > most) [best, most] = [choice, gain];
    }
    left.delete(best!);
    const gained = [...best!.features].filter((feature) => uncovered.delete(feature));
    picked.push({ choice: best!, gained });
  }
  return picked;
}

function covered(picked: readonly Choice[], all: readonly Choice[], events: number): Omit<Cover, 'chosen'> {
  const found = featuresOf(picked);
  const missed: string[] = [];
  const features: { [K in FeatureKind]?: { covered: number; occurring: number } } = {};
  for (const feature of featuresOf(all)) {
    const { kind, name } = feature;
    const counts = (features[kind] ??= { covered: 0, occurring: 0 });
    counts.occurring += 1;
    if (found.has(feature)) counts.covered += 1;
    else missed.push(featureText(kind, name));
  }
  return { counts: { records: picked.length, events, features }, missed };
}

/** What the mapping and the account say comes first; special values only decide between records that are equal in that. */
function gainOf(features: ReadonlySet<Feature>, uncovered: ReadonlySet<Feature>): number {
  let gain = 0;
  for (const feature of features) if (uncovered.has(feature)) gain += feature.kind === 'value' ? 1 : MOST_FEATURES;
  return gain;
}

function featuresOf(choices: Iterable<Choice>): Set<Feature> {
  return new Set([...choices].flatMap(({ features }) => [...features]));
}
