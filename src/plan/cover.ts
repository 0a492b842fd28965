/** `--pilot`: the records that together have most of the features that occur. */
import { EVENT_TYPES } from '../model.ts';
import { featureText, type FeatureKind, type PilotCounts } from '../report/pilot.ts';
import type { State } from './event-table.ts';
import { MOST_FEATURES, type Candidate, type EventRef, type Feature, type Features } from './features.ts';
import { addParents, holdOthers, nothing, SENDABLE, WAITING, type Chosen } from './pilot.ts';
import type { Plan } from './plan.ts';

export interface Cover {
  readonly counts: PilotCounts;
  /** What occurs, but in no record of the pilot. */
  readonly missed: readonly string[];
  readonly chosen: Chosen;
}

/** A record as it would be chosen: its events that can be sent, and its features with those of its parents. */
interface Choice {
  readonly events: readonly EventRef[];
  readonly features: ReadonlySet<Feature>;
}

/**
 * Chooses `features.limit` records, one after the other: the one with most features that no chosen record has yet, and of
 * equal ones the first in the input. Once every feature is covered, it begins again with all of them. Acknowledged events
 * count, so a rerun chooses the same records.
 */
export function holdAllButCover(plan: Plan, features: Features): Cover {
  const { limit } = features;
  const candidates = features.candidates();
  const byEvent = new Map(candidates.flatMap((each) => each.events.map((event) => [keyOf(event), each])));
  const choicesIn = (states: ReadonlySet<State>): Choice[] =>
    candidates.flatMap((candidate) => {
      const events = candidate.events.filter(({ type, ordinal }) => states.has(plan.tables[type].state(ordinal)));
      return events.length === 0 ? [] : [{ events, features: withParents(plan, candidate, byEvent) }];
    });
  const sendable = choicesIn(SENDABLE);
  const waiting = choicesIn(WAITING);
  const choices = greedy(sendable, limit);
  choices.push(...greedy(waiting, limit - choices.length));

  const chosen = nothing();
  for (const { events } of choices) for (const { type, ordinal } of events) chosen[type].add(ordinal);
  for (const type of [...EVENT_TYPES].reverse()) addParents(plan, chosen, type);
  holdOthers(plan, chosen);
  return { ...coverOf(choices, [...sendable, ...waiting], countSendable(plan, chosen)), chosen };
}

function withParents(plan: Plan, candidate: Candidate, byEvent: ReadonlyMap<string, Candidate>): Set<Feature> {
  const found = new Set<Feature>();
  const visited = new Set<Candidate>();
  const visit = (each: Candidate): void => {
    if (visited.has(each)) return;
    visited.add(each);
    for (const feature of each.features) found.add(feature);
    for (const { type, ordinal } of each.events) {
      for (const needed of plan.links.eventsNeededBy(type, ordinal)) {
        const parent = byEvent.get(keyOf(needed));
        if (parent) visit(parent);
      }
    }
  };
  visit(candidate);
  return found;
}

function greedy(choices: readonly Choice[], limit: number): Choice[] {
  const left = new Set(choices);
  const picked: Choice[] = [];
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
    picked.push(best!);
    for (const feature of best!.features) uncovered.delete(feature);
  }
  return picked;
}

function coverOf(picked: readonly Choice[], all: readonly Choice[], events: number): Omit<Cover, 'chosen'> {
  const covered = featuresOf(picked);
  const missed: string[] = [];
  const features: { [K in FeatureKind]?: { covered: number; occurring: number } } = {};
  for (const feature of featuresOf(all)) {
    const { kind, name } = feature;
    const counts = (features[kind] ??= { covered: 0, occurring: 0 });
    counts.occurring += 1;
    if (covered.has(feature)) counts.covered += 1;
    else missed.push(featureText(kind, name));
  }
  return { counts: { records: picked.length, events, features }, missed };
}

function countSendable(plan: Plan, chosen: Chosen): number {
  return EVENT_TYPES.reduce((sum, type) => {
    const { [type]: table } = plan.tables;
    return sum + [...chosen[type]].filter((ordinal) => SENDABLE.has(table.state(ordinal))).length;
  }, 0);
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

function keyOf({ type, ordinal }: EventRef): string {
  return `${type} ${ordinal}`;
}
