import { Uint32Column } from '../columns.ts';

const NONE: readonly number[] = [];

/**
 * The updates of each record in the order in which they count: first the one that `if_changed` makes, since it stands for
 * the created event, then those of the input as they were read. By record number; updates by their ordinals.
 */
export class Updates {
  /** Ordinal + 1 of each record's first update in the input. */
  readonly #first = new Uint32Column();
  /** Ordinals of further updates, for the few records that have several. */
  readonly #more = new Map<number, number[]>();
  /** The update that `if_changed` makes. */
  readonly #derived = new Map<number, number>();

  /** Adds an update of the input; returns how many earlier ones of the record have the same content, by `isSame`. */
  add(key: number, ordinal: number, isSame: (ordinal: number) => boolean): number {
    if (this.#first.get(key) === 0) {
      this.#first.set(key, ordinal + 1);
      return 0;
    }
    const count = this.inInput(key).filter(isSame).length;
    const more = this.#more.get(key);
    if (more) more.push(ordinal);
    else this.#more.set(key, [ordinal]);
    return count;
  }

  /** Adds what `if_changed` makes; it replaces one made before. */
  addDerived(key: number, ordinal: number): void {
    this.#derived.set(key, ordinal);
  }

  derived(key: number): number | undefined {
    return this.#derived.get(key);
  }

  after(key: number, ordinal: number): readonly number[] {
    if (this.#derived.get(key) === ordinal) return this.inInput(key);
    return this.#more.has(key) ? this.inInput(key).filter((other) => other > ordinal) : NONE;
  }

  before(key: number, ordinal: number): readonly number[] {
    const derived = this.#derived.get(key);
    if (derived === ordinal) return NONE;
    const others = this.#more.has(key) ? this.inInput(key).filter((other) => other < ordinal) : NONE;
    return derived === undefined ? others : [derived, ...others];
  }

  /** The updates of the record, in the input, that have the same content, by `isSame`. */
  alike(key: number, isSame: (ordinal: number) => boolean): readonly number[] {
    return this.inInput(key).filter(isSame);
  }

  /** The updates of the record in the input. */
  inInput(key: number): readonly number[] {
    const first = this.#first.get(key) - 1;
    return first < 0 ? NONE : [first, ...(this.#more.get(key) ?? NONE)];
  }
}
