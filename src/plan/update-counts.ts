import { Uint32Column } from '../columns.ts';

/** Counts the updates of each record that have the same content: the `n` of their event ids. */
export class UpdateCounts {
  /** Ordinal + 1 of each record's first update. */
  readonly #first = new Uint32Column();
  /** Ordinals of further updates, for the few records that have several. */
  readonly #more = new Map<number, number[]>();

  /** The number of earlier updates of this record with the same content, by `isSame`. `ordinal`: that of this update. */
  next(key: number, ordinal: number, isSame: (ordinal: number) => boolean): number {
    const first = this.#first.get(key) - 1;
    if (first < 0) {
      this.#first.set(key, ordinal + 1);
      return 0;
    }
    const more = this.#more.get(key) ?? [];
    const count = [first, ...more].filter(isSame).length;
    this.#more.set(key, [...more, ordinal]);
    return count;
  }
}
