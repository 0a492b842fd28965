import { Few } from '../few.ts';
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
 * listener serves all of a signal: Node chains its listeners, and one that was taken off goes on to point to the next, so
 * that, as with the tables of a Set (see `Few`), each old one would keep all later ones in memory, with their requests.
 */
export class TurnQueue extends Few<Turn> {
  readonly #stopped: AbortSignal;
  readonly #heeded = new WeakSet<AbortSignal>();

  /** Once `stopped` is aborted, all are withdrawn, and whoever comes after. */
  constructor(stopped: AbortSignal) {
    super();
    this.#stopped = stopped;
    this.#onAbort(stopped, () => true);
  }

  /** Settles as the job does, once its turn was run; rejects with `NotSent` where it was withdrawn. */
  wait<T>(job: () => Promise<T>, { signal, mayStart = () => true }: TurnOptions = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const turn: Turn = {
        signal,
        mayStart,
        withdraw: () => {
          this.delete(turn);
          reject(new NotSent());
        },
        run: () => {
          this.delete(turn);
          return job().then(resolve, reject);
        },
      };
      if (signal?.aborted || this.#stopped.aborted) return turn.withdraw();
      this.add(turn);
      if (signal) this.#onAbort(signal, (waiting) => waiting.signal === signal);
    });
  }

  #onAbort(signal: AbortSignal, concerns: (turn: Turn) => boolean): void {
    if (this.#heeded.has(signal)) return;
    this.#heeded.add(signal);
    const withdraw = (): void => {
      for (const turn of this) if (concerns(turn)) turn.withdraw();
    };
    signal.addEventListener('abort', withdraw, { once: true });
  }
}
