import PQueue from 'p-queue';

/** A record, by number or external id. */
type LinkKey = string | number;

/** The records that tell which other events must have ended before an event is sent. */
interface EventLinks {
  readonly record: LinkKey;
  readonly parent: LinkKey | undefined;
  readonly isNote: boolean;
}

/**
 * The events in progress, up to a number of them. An event is sent once those have ended that it depends on and that were
 * added before it: others about its record, the ones about its parent, and for a note the previous ones about its parent.
 * It only waits for what is before it in the order, so the events in progress never wait for one that is not.
 */
export class EventQueue {
  readonly #queue: PQueue;
  /** The last event about each record, and the last note about each parent, while they are in progress. */
  readonly #records = new Map<LinkKey, Promise<void>>();
  readonly #notes = new Map<LinkKey | undefined, Promise<void>>();

  constructor(concurrency: number) {
    this.#queue = new PQueue({ concurrency });
  }

  /** The events that have not ended. */
  get size(): number {
    return this.#queue.size + this.#queue.pending;
  }

  /**
   * Resolves when the event has ended. `place`: its place in the order of the run, after all that it depends on. `send` must
   * not throw.
   */
  add({ record, parent, isNote }: EventLinks, place: number, send: () => Promise<void>): Promise<void> {
    const before = [
      this.#records.get(record),
      parent === undefined ? undefined : this.#records.get(parent),
      isNote ? this.#notes.get(parent) : undefined,
    ].filter((each) => each !== undefined);
    const ended = this.#queue.add(
      async () => {
        await Promise.all(before);
        await send();
      },
      { priority: -place },
    );
    remember(this.#records, record, ended);
    if (isNote) remember(this.#notes, parent, ended);
    return ended;
  }

  /** Resolves when every event is being sent or waits for others: then there is room for the next. */
  room(): Promise<void> {
    return this.#queue.onSizeLessThan(1);
  }

  /** Resolves when every event has ended. */
  idle(): Promise<void> {
    return this.#queue.onIdle();
  }
}

/** Keeps the promise until it is settled. */
function remember<K>(last: Map<K, Promise<void>>, key: K, ended: Promise<void>): void {
  last.set(key, ended);
  void ended.then(() => {
    if (last.get(key) === ended) last.delete(key);
  });
}
