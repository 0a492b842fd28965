import type { Entity } from '../model.ts';

/**
 * Numbers records 0, 1, 2, … in the order in which they are first seen, so that what is known of a record can be kept in
 * columns. Ledger and plan share the numbers.
 */
export class RecordNumbers {
  readonly #records: Readonly<Record<Entity, Map<string, number>>> = {
    lead: new Map(),
    deal: new Map(),
    comment: new Map(),
  };
  /** Comments without external id, by event id. */
  readonly #events = new Map<string, number>();
  #size = 0;

  /** The record's number; a record not seen before gets the next one. */
  intern(entity: Entity, externalId: string): number {
    return this.#intern(this.#records[entity], externalId);
  }

  /** The number of a comment without external id, which is identified by its event id. */
  internEvent(eventId: string): number {
    return this.#intern(this.#events, eventId);
  }

  find(entity: Entity, externalId: string): number | undefined {
    return this.#records[entity].get(externalId);
  }

  #intern(numbers: Map<string, number>, id: string): number {
    const known = numbers.get(id);
    if (known !== undefined) return known;
    const number = this.#size;
    this.#size += 1;
    numbers.set(copyOf(id), number);
    return number;
  }
}

/** Shorter pieces of a text are copied when they are cut out of it. */
const SHORT = 12;

/** A string of its own: one that was cut out of a larger text may keep the whole of that text in memory. */
function copyOf(text: string): string {
  return text.length <= SHORT ? text : (JSON.parse(JSON.stringify(text)) as string);
}
