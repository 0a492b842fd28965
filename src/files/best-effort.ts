import { messageOf, UserError } from '../errors.ts';

/**
 * Files for people, written during a run. A failure must not end the run: it is warned about once, and named again at the end of the run if
 * it has not succeeded since.
 */
export class BestEffort {
  readonly #warn: (message: string) => void;
  readonly #failed = new Map<string, string>();

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  /** Undefined if it failed. `what`: its name, the same each time. */
  async attempt<Result>(what: string, act: () => Result | Promise<Result>): Promise<Result | undefined> {
    try {
      const result = await act();
      this.#failed.delete(what);
      return result;
    } catch (error) {
      const remedy = remedyOf(error);
      if (![...this.#failed.values()].includes(remedy)) this.#warn(messageOf(error));
      this.#failed.set(what, remedy);
      return undefined;
    }
  }

  /** What was not written in the end. */
  get failed(): readonly string[] {
    return [...this.#failed.keys()];
  }
}

/** One full disk is one warning, however many files it touches: the last line of the run names them. */
function remedyOf(error: unknown): string {
  return (error instanceof UserError && error.hint?.split(':')[0]) || messageOf(error);
}
