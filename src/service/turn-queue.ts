import { NotSent, type TurnOptions } from './limiter.ts';

/** One that waits to make its request; it leaves the queue with either. */
export interface Turn {
  readonly signal: AbortSignal | undefined;
  readonly mayStart: () => boolean;
  readonly withdraw: () => void;
  /** Resolves when its job has ended, however it did. */
  readonly run: () => Promise<void>;
}

/**
 * Those that wait for their turn, first come, first served; those whose signal is aborted are withdrawn at once. One
 * listener serves all turns of a signal: a listener for each would be added and removed with every request.
 */
export class TurnQueue {
  readonly #turns = new Set<Turn>();
  readonly #stopped: AbortSignal;
  readonly #listened = new WeakSet<AbortSignal>();

  /** Once `stopped` is aborted, all are withdrawn, and whoever comes after. */
  constructor(stopped: AbortSignal) {
    this.#stopped = stopped;
    this.#onAbort(stopped, () => true);
  }

  get size(): number {
    return this.#turns.size;
  }

  /** Who has waited longest. */
  get first(): Turn | undefined {
    return this.#turns.values().next().value;
  }

  /** Settles as the job does, once its turn was run; rejects with `NotSent` where it was withdrawn. */
  wait<T>(job: () => Promise<T>, { signal, mayStart = () => true }: TurnOptions = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const turn: Turn = {
        signal,
        mayStart,
        withdraw: () => {
          this.#turns.delete(turn);
          reject(new NotSent());
        },
        run: () => {
          this.#turns.delete(turn);
          return job().then(resolve, reject);
        },
      };
      if (signal?.aborted || this.#stopped.aborted) return turn.withdraw();
      this.#turns.add(turn);
      if (signal) this.#onAbort(signal, (waiting) => waiting.signal === signal);
    });
  }

  #onAbort(signal: AbortSignal, concerns: (turn: Turn) => boolean): void {
    if (this.#listened.has(signal)) return;
    this.#listened.add(signal);
    const withdraw = (): void => {
      for (const turn of [...this.#turns]) if (concerns(turn)) turn.withdraw();
    };
    signal.addEventListener('abort', withdraw, { once: true });
  }
}
