import { EVENT_TYPES, type EventType, type Planned } from '../model.ts';
import type { Chosen } from './pilot.ts';
import type { Plan } from './plan.ts';

const SAMPLES_PER_TYPE = 3;

/** The first events of each type that have a line in the plan. */
export function samplesOf(plan: Plan): Map<EventType, Planned[]> {
  return new Map(
    EVENT_TYPES.map((type) => {
      const table = plan.tables[type];
      const ordinals: number[] = [];
      for (let ordinal = 0; ordinal < table.size && ordinals.length < SAMPLES_PER_TYPE; ordinal += 1) {
        if (table.at(ordinal) !== undefined) ordinals.push(ordinal);
      }
      return [type, ordinals.map((ordinal) => plan.read(type, ordinal))];
    }),
  );
}

/** The events that a pilot chose, in reading order. */
export function chosenOf(plan: Plan, chosen: Chosen): Map<EventType, Planned[]> {
  return new Map(
    EVENT_TYPES.map((type) => {
      const ordinals = [...chosen[type]].toSorted((a, b) => a - b);
      const planned = ordinals.filter((ordinal) => plan.tables[type].at(ordinal) !== undefined);
      return [type, planned.map((ordinal) => plan.read(type, ordinal))];
    }),
  );
}
