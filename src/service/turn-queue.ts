import { Few } from '../few.ts';

/** What waits for its turn. */
export interface Waiter {
  readonly signal: AbortSignal | undefined;
  /** Gives its turn up. */
  readonly withdraw: () => void;
}

/**
 * Those that wait, first come, first served; those whose signal is aborted are withdrawn at once. One listener serves all
 * of a signal: Node chains its listeners, and one that was taken off goes on to point to the next, so that, as with the
 * tables of a Set (see `Few`), each old one would keep all later ones in memory, with their requests.
 */
export class TurnQueue<T extends Waiter> extends Few<T> {
  readonly #heeded = new WeakSet<AbortSignal>();

  override add(turn: T): void {
    super.add(turn);
    const { signal } = turn;
    if (!signal || this.#heeded.has(signal)) return;
    this.#heeded.add(signal);
    const withdraw = (): void => {
      for (const waiting of this) if (waiting.signal === signal) waiting.withdraw();
    };
    signal.addEventListener('abort', withdraw, { once: true });
  }
}
