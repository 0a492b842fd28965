import type { Entity } from '../model.ts';
import { TextIndex } from '../text-index.ts';

/**
 * Numbers records 0, 1, 2, … in the order in which they are first seen, so that what is known of a record can be kept in
 * columns. Ledger and plan share the numbers.
 */
export class RecordNumbers {
  readonly #records: Readonly<Record<Entity, TextIndex>> = {
    lead: new TextIndex(),
    deal: new TextIndex(),
    comment: new TextIndex(),
  };
  /** Comments without external id, by event id. */
  readonly #events = new TextIndex();
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

  #intern(numbers: TextIndex, id: string): number {
    const known = numbers.get(id);
    if (known !== undefined) return known;
    const number = this.#size;
    this.#size += 1;
    numbers.add(id, number);
    return number;
  }
}
