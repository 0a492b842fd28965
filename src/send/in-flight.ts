import { SmallSet } from '../small-set.ts';

/** The record numbers that tell which other events must have ended before an event is sent. */
interface Dependent {
  readonly record: string;
  readonly parent: string | undefined;
  readonly isComment: boolean;
}

/** An event on its way. */
interface PendingEvent extends Dependent {
  ended: Promise<void>;
}

/**
 * The events on their way, up to a capacity. An event is sent once those have ended that it depends on and that were added
 * before it: others about its record, the ones about its parent, and for a comment the previous ones of the same parent.
 */
export class InFlight {
  readonly #capacity: number;
  readonly #events = new SmallSet<PendingEvent>();
  /** Tells the one who waits for it that an event has ended. */
  #onEnd = (): void => undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#events.size;
  }

  /** Returns when the event has ended. `send` must not throw. */
  add(links: Dependent, send: () => Promise<void>): Promise<void> {
    const before = [...this.#events].filter((other) => precedes(other, links)).map(({ ended }) => ended);
    const { record, parent, isComment } = links;
    const event: PendingEvent = { record, parent, isComment, ended: Promise.resolve() };
    this.#events.add(event);
    event.ended = this.#run(before, send).then(() => {
      this.#events.delete(event);
      this.#onEnd();
    });
    return event.ended;
  }

  /** Resolves when there is room for another event. One caller at a time. */
  room(): Promise<void> {
    return this.#fewerThan(this.#capacity);
  }

  /** Resolves when every event has ended. */
  idle(): Promise<void> {
    return this.#fewerThan(1);
  }

  async #run(before: readonly Promise<void>[], send: () => Promise<void>): Promise<void> {
    for (const each of before) await each;
    await send();
  }

  async #fewerThan(count: number): Promise<void> {
    while (this.size >= count) await new Promise<void>((resolve) => (this.#onEnd = resolve));
  }
}

function precedes(other: Dependent, { record, parent, isComment }: Dependent): boolean {
  if (other.record === record || other.record === parent) return true;
  return isComment && other.isComment && other.parent === parent;
}
