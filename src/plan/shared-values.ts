/**
 * Counts the leads that have an e-mail address or phone number which another lead has as well. Values are kept as
 * numbers of 53 bits, 8 MB a million; two that clash would miscount a warning by one.
 */
export class SharedValues {
  readonly #hashes: number[] = [];
  readonly #owners: string[] = [];

  add(value: string, externalId: string): void {
    this.#hashes.push(hash53(value));
    this.#owners.push(externalId);
  }

  /** The leads that have a value of an earlier lead, and the first of them; '' where there is none. */
  count(): { readonly count: number; readonly externalId: string } {
    const repeated = this.#repeated();
    const firstOwner = new Map<number, string>();
    let count = 0;
    let externalId = '';
    if (repeated.size === 0) return { count, externalId };
    for (const [index, hash] of this.#hashes.entries()) {
      if (!repeated.has(hash)) continue;
      const owner = this.#owners[index]!;
      const first = firstOwner.get(hash);
      if (first === undefined) firstOwner.set(hash, owner);
      else if (first !== owner) {
        count += 1;
        externalId ||= owner;
      }
    }
    return { count, externalId };
  }

  #repeated(): ReadonlySet<number> {
    const sorted = Float64Array.from(this.#hashes).sort();
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
