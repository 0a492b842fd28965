import { SmallSet } from '../small-set.ts';
import { NotSent, type TurnOptions } from './limiter.ts';

/** A request waiting for its turn; `withdraw` and `run` both remove it from the queue. */
export interface Turn {
  readonly signal: AbortSignal | undefined;
  readonly mayStart: () => boolean;
  readonly place: number;
  readonly withdraw: () => void;
  /** Resolves when the job has ended, whether it succeeded or failed. */
  readonly run: () => Promise<void>;
}

/**
 * Requests waiting for their turn, by place and then in order of arrival. Aborting a signal withdraws its requests immediately. A signal
 * has one listener for all its requests, since one signal usually serves a whole run.
 */
export class TurnQueue {
  readonly #turns = new SmallSet<Turn>();
  readonly #stopped: AbortSignal;
  readonly #listened = new WeakSet<AbortSignal>();

  /** Aborting `stopped` withdraws all requests, including later ones. */
  constructor(stopped: AbortSignal) {
    this.#stopped = stopped;
    this.#onAbort(stopped, () => true);
  }

  get size(): number {
    return this.#turns.size;
  }

  get first(): Turn | undefined {
    let first: Turn | undefined;
    for (const turn of this.#turns) if (!first || turn.place < first.place) first = turn;
    return first;
  }

  /** Settles like the job once it has run; rejects with `NotSent` if it was withdrawn. */
  wait<T>(job: () => Promise<T>, { signal, mayStart = () => true, place = 0 }: TurnOptions = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const turn: Turn = {
        signal,
        mayStart,
        place,
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

  #onAbort(signal: AbortSignal, matches: (turn: Turn) => boolean): void {
    if (this.#listened.has(signal)) return;
    this.#listened.add(signal);
    const withdraw = (): void => {
      for (const turn of [...this.#turns]) if (matches(turn)) turn.withdraw();
    };
    signal.addEventListener('abort', withdraw, { once: true });
  }
}
