import { Float64Column, Uint32Column } from '../columns.ts';

/**
 * Counts the leads that share an e-mail address or phone number with an earlier lead. Values are kept as hashes of 53
 * bits, 8 MB per million; a collision would only make the count in a warning too high by one.
 */
export class SharedValues {
  readonly #hashes = new Float64Column();
  readonly #ordinals = new Uint32Column();
  #size = 0;

  /** `ordinal`: that of the lead in the plan. Call it once for each lead. */
  add(value: string, ordinal: number): void {
    this.#hashes.set(this.#size, hash53(value));
    this.#ordinals.set(this.#size, ordinal);
    this.#size += 1;
  }

  /** How many leads have a value of an earlier lead, and the ordinal of the first of them. */
  count(): { readonly count: number; readonly ordinal: number | undefined } {
    const repeated = this.#repeated();
    const seen = new Set<number>();
    let count = 0;
    let ordinal: number | undefined;
    if (repeated.size === 0) return { count, ordinal };
    for (let index = 0; index < this.#size; index += 1) {
      const hash = this.#hashes.get(index);
      if (!repeated.has(hash)) continue;
      if (seen.has(hash)) {
        count += 1;
        ordinal ??= this.#ordinals.get(index);
      }
      seen.add(hash);
    }
    return { count, ordinal };
  }

  #repeated(): ReadonlySet<number> {
    const sorted = new Float64Array(this.#size);
    for (let index = 0; index < this.#size; index += 1) sorted[index] = this.#hashes.get(index);
    sorted.sort();
    const repeated = new Set<number>();
    for (let index = 1; index < sorted.length; index += 1) {
      if (sorted[index] === sorted[index - 1]) repeated.add(sorted[index]!);
    }
    return repeated;
  }
}

/** Two multiplicative hashes of 32 bits, mixed into one of 53 (as in cyrb53, public domain). */
function hash53(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
}
