import { EVENT_TYPES, type EventType, type Ready, type Row } from '../model.ts';

/** One event that is due, with what the last function needs. */
export interface Due {
  readonly event: Ready;
  readonly ordinal: number;
  readonly row: Row;
  /** An update that `if_changed` makes of a record acknowledged earlier. */
  readonly derived: boolean;
}

/** As it is kept: the event is made when it is asked for, which in a dry run it never is. */
type Kept = Omit<Due, 'event'> & { readonly event: () => Ready };

/** Enough for a pilot and for most reruns, and little beside what the plan keeps. */
const MOST = 1000;

/**
 * The first events of each type that are to be sent, kept as the survey finds them: a pass begins with them at once, and
 * needs not read the input again where they are all.
 */
export class FirstDue {
  readonly #kept = new Map<EventType, Kept[]>(EVENT_TYPES.map((type) => [type, []]));
  readonly #more = new Set<EventType>();

  /** To be asked for every event whose state is `ready` or `retry`, in the order of the ordinals: whether to keep it. */
  wants(type: EventType): boolean {
    if (this.#kept.get(type)!.length < MOST) return true;
    this.#more.add(type);
    return false;
  }

  keep(type: EventType, due: Kept): void {
    this.#kept.get(type)!.push(due);
  }

  *of(type: EventType): Generator<Due> {
    for (const { event, ...due } of this.#kept.get(type)!) yield { event: event(), ...due };
  }

  /** Ordinal of the last event that is kept of a type; -1 where none is. */
  lastOf(type: EventType): number {
    return this.#kept.get(type)!.at(-1)?.ordinal ?? -1;
  }

  isAll(type: EventType): boolean {
    return !this.#more.has(type);
  }
}
