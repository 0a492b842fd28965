import { UserError } from '../errors.ts';
import { EVENT_TYPES, type EventType } from '../model.ts';
import type { PickedRecord } from '../settings.ts';
import type { State } from './event-table.ts';
import type { Plan } from './plan.ts';

export const SENDABLE: ReadonlySet<State> = new Set(['ready', 'retry', 'acknowledged']);

/** Chosen only where there are too few others, so that the run says what they wait for. */
export const WAITING: ReadonlySet<State> = new Set(['waiting']);

/** Ordinals of events, by type. */
export type Chosen = Readonly<Record<EventType, Set<number>>>;

/**
 * A pilot of the first `limit` events of each type, chosen from the last type to the first together with the parents that
 * they need, so that the result is a small but complete migration. Acknowledged events count, so a rerun chooses the same
 * events.
 */
export function holdAllButFirst(plan: Plan, limit: number): void {
  const chosen = nothing();
  for (const type of [...EVENT_TYPES].reverse()) {
    const table = plan.tables[type];
    for (const states of [SENDABLE, WAITING]) {
      for (let ordinal = 0; ordinal < table.size && chosen[type].size < limit; ordinal += 1) {
        if (states.has(table.state(ordinal))) chosen[type].add(ordinal);
      }
    }
    addParents(plan, chosen, type);
  }
  holdOthers(plan, chosen);
}

/** A pilot of these records, with their parents and all their children. Returns their events. */
export function holdAllButPicked(plan: Plan, picks: readonly PickedRecord[]): Chosen {
  const keys = new Set(picks.map((pick) => keyOf(plan, pick)));
  const chosen = nothing();
  for (const type of EVENT_TYPES) {
    const table = plan.tables[type];
    for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
      const key = table.key(ordinal);
      const parent = table.parent(ordinal);
      const picked = (key !== undefined && keys.has(key)) || (parent !== undefined && keys.has(parent));
      if (!picked) continue;
      chosen[type].add(ordinal);
      if (key !== undefined) keys.add(key);
    }
  }
  for (const type of [...EVENT_TYPES].reverse()) addParents(plan, chosen, type);
  holdOthers(plan, chosen);
  return chosen;
}

function keyOf(plan: Plan, { entity, externalId }: PickedRecord): number {
  const key = plan.findRecord(entity, externalId);
  const known =
    key !== undefined &&
    [plan.tables[`${entity}/created`], plan.tables[`${entity}/updated`]].some((table) => table.hasEventOf(key));
  if (key !== undefined && known) return key;
  throw new UserError(`--pick ${entity}:${externalId}: the input has no such ${entity}`, {
    hint: 'ID is the external_id that the mapping gives the record',
  });
}

/** Adds what the chosen events of this type need: call it from the last type to the first. */
export function addParents(plan: Plan, chosen: Chosen, type: EventType): void {
  for (const ordinal of chosen[type]) {
    for (const parent of plan.links.eventsNeededBy(type, ordinal)) chosen[parent.type].add(parent.ordinal);
  }
}

export function holdOthers(plan: Plan, chosen: Chosen): void {
  for (const table of Object.values(plan.tables)) {
    table.unselected = 0;
    for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
      if (chosen[table.type].has(ordinal)) continue;
      const state = table.state(ordinal);
      if (state === 'ready' || state === 'retry' || state === 'waiting') plan.settle(table.type, ordinal, 'held');
      else if (state === 'acknowledged') table.unselected += 1;
    }
  }
}

export function nothing(): Chosen {
  return Object.fromEntries(EVENT_TYPES.map((type) => [type, new Set<number>()])) as unknown as Chosen;
}
