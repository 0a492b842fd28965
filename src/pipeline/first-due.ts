import { EVENT_TYPES, type EventType, type Ready, type Row } from '../model.ts';

/** One event that is due, with what the last function needs. */
export interface Due {
  readonly event: Ready;
  readonly ordinal: number;
  readonly row: Row;
  /** An update that `if_changed` makes of a record acknowledged earlier. */
  readonly derived: boolean;
}

/** Enough for a pilot and for most reruns, and little beside what the plan keeps. */
const MOST = 1000;

/**
 * The first events of each type that are to be sent, kept as the survey finds them: a pass begins with them at once, and
 * needs not read the input again where they are all.
 */
export class FirstDue {
  readonly #kept = new Map<EventType, Due[]>(EVENT_TYPES.map((type) => [type, []]));
  readonly #more = new Set<EventType>();

  /** To be called with every event whose state is `ready` or `retry`, in the order of the ordinals. */
  add(event: Ready, ordinal: number, row: Row, derived: boolean): void {
    const kept = this.#kept.get(event.type)!;
    if (kept.length < MOST) kept.push({ event, ordinal, row, derived });
    else this.#more.add(event.type);
  }

  of(type: EventType): readonly Due[] {
    return this.#kept.get(type)!;
  }

  isAll(type: EventType): boolean {
    return !this.#more.has(type);
  }
}
