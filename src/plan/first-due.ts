import { EVENT_TYPES, type EventType, type Ready, type Row } from '../model.ts';

/** One event that is due, with what the last function needs. */
export interface Due {
  readonly event: Ready;
  readonly ordinal: number;
  readonly row: Row;
  /** An update that `if_changed` makes of a record acknowledged earlier. */
  readonly derived: boolean;
}

/** As the survey hands it in: with a way to make its event. */
type Makeable = Omit<Due, 'event'> & { readonly event: () => Ready };

/** For one pass. Its event is made when somebody asks for it. */
class Kept implements Due {
  readonly ordinal: number;
  readonly row: Row;
  readonly derived: boolean;
  readonly #make: () => Ready;
  #event: Ready | undefined;

  constructor({ event, ordinal, row, derived }: Makeable) {
    this.ordinal = ordinal;
    this.row = row;
    this.derived = derived;
    this.#make = event;
  }

  get event(): Ready {
    return (this.#event ??= this.#make());
  }
}

/** Enough for a pilot and for most reruns, and little beside what the plan keeps. */
const MOST = 1000;

/**
 * The first events of each type that are to be sent, kept as the survey finds them: a pass begins with them at once, and
 * needs not read the input again where they are all.
 */
export class FirstDue {
  readonly #kept = new Map<EventType, Makeable[]>(EVENT_TYPES.map((type) => [type, []]));
  readonly #more = new Set<EventType>();

  /** To be asked for every event whose state is `ready` or `retry`, in the order of the ordinals: whether to keep it. */
  wants(type: EventType): boolean {
    if (this.#kept.get(type)!.length < MOST) return true;
    this.#more.add(type);
    return false;
  }

  keep(type: EventType, due: Makeable): void {
    this.#kept.get(type)!.push(due);
  }

  /** Events are made anew each time: few are asked for twice, and all would stay in memory as long as the run goes on. */
  *of(type: EventType): Generator<Due, void, undefined> {
    for (const due of this.#kept.get(type)!) yield new Kept(due);
  }

  isAll(type: EventType): boolean {
    return !this.#more.has(type);
  }
}
