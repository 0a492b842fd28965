import { Uint32Column } from '../keys.ts';

/** Bits of a mark's second word that are the owner's; the others, and the first word, are the value's. */
const OWNER = 0xfffff;

/**
 * A value and whose it is, in two signed words of 32 bits: 44 of the value's hash, 20 of that of an id. The first is never 0.
 * Two that clash would only miscount a warning.
 */
export type Mark = readonly [number, number];

/** `owner` as `ownerOf` gives it. */
export function markOf(value: string, owner: number): Mark {
  let high = value.length;
  let low = ~value.length;
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    high = Math.imul(high ^ code, 0x9e3779b1);
    low = Math.imul(low ^ code, 0x5f356495);
  }
  high = mixed(high, low) || 1;
  return [high, (mixed(low, high) & ~OWNER) | owner];
}

export function ownerOf(externalId: string): number {
  let bits = 0;
  for (let index = 0; index < externalId.length; index += 1) {
    bits = Math.imul(bits ^ externalId.charCodeAt(index), 0x01000193);
  }
  return (bits ^ (bits >>> 20)) & OWNER;
}

/** MurmurHash3's last step: every bit of a hash comes to depend on every other, and on those of its twin. */
function mixed(hash: number, twin: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) ^ twin;
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/**
 * Of the ids of repeated values so many are kept, and one for each 32 values: more than are taken for repeated and are not.
 * Records that come twice use them up as well.
 */
const MOST_IDS = 100;

/**
 * Counts the leads whose e-mail address or phone number another lead has as well, in 12 to 16 bytes a value. Nearly all
 * values come once. So while they come they are only written down, and looked up in a filter that fits into the caches of
 * a processor, as a table of them all would not; those that it takes for repeated are counted at the end.
 */
export class SharedValues {
  readonly #marks = new Uint32Column();
  #size = 0;
  #seen = new Filter();
  #repeated = new Filter();
  /** Of the first that seemed repeated, by their number. */
  readonly #ids = new Map<number, string>();

  add(mark: Mark, externalId: string): void {
    if (this.#size === this.#seen.room) this.#grow();
    const index = this.#size;
    this.#size += 1;
    this.#marks.set(index * 2, mark[0]);
    this.#marks.set(index * 2 + 1, mark[1]);
    if (!this.#seemsRepeated(mark)) return;
    // A copy: a part of a text would keep the whole text.
    if (this.#ids.size < MOST_IDS + index / 32) this.#ids.set(index, structuredClone(externalId));
  }

  /** The leads that have a value of an earlier lead, and the first of them whose id was kept; '' where none was. */
  count(): { readonly count: number; readonly externalId: string } {
    const owners = new Owners();
    let count = 0;
    let externalId = '';
    for (let index = 0; index < this.#size; index += 1) {
      const mark = this.#mark(index);
      if (!this.#repeated.has(mark) || owners.isFirst(mark)) continue;
      count += 1;
      externalId ||= this.#ids.get(index) ?? '';
    }
    return { count, externalId };
  }

  /** Enters a mark into the filters. */
  #seemsRepeated(mark: Mark): boolean {
    const seems = this.#seen.add(mark);
    if (seems) this.#repeated.add(mark);
    return seems;
  }

  #mark(index: number): Mark {
    return [this.#marks.get(index * 2) | 0, this.#marks.get(index * 2 + 1) | 0];
  }

  #grow(): void {
    this.#seen = new Filter(this.#seen.room * 2);
    this.#repeated = new Filter(this.#repeated.room * 2);
    for (let index = 0; index < this.#size; index += 1) {
      this.#seemsRepeated(this.#mark(index));
    }
  }
}

/** A set of values, 16 bits and more for each, that takes one in a hundred for one that is there. */
class Filter {
  readonly room: number;
  readonly #words: Int32Array;

  /** `room`: a power of two. */
  constructor(room = 1024) {
    this.room = room;
    this.#words = new Int32Array(room / 2);
  }

  has(mark: Mark): boolean {
    const bits = bitsOf(mark);
    return (this.#words[this.#at(mark)]! & bits) === bits;
  }

  /** Whether it seemed to be there. */
  add(mark: Mark): boolean {
    const at = this.#at(mark);
    const bits = bitsOf(mark);
    const before = this.#words[at]!;
    this.#words[at] = before | bits;
    return (before & bits) === bits;
  }

  #at(mark: Mark): number {
    return mark[0] & (this.#words.length - 1);
  }
}

/** Three bits, by what has no part in finding the word. */
function bitsOf(mark: Mark): number {
  return (1 << (mark[0] >>> 27)) | (1 << (mark[1] >>> 27)) | (1 << ((mark[1] >>> 22) & 31));
}

/** Whose a value was first. */
class Owners {
  /** Two words a slot: the mark of who had the value first; 0 where there is none. */
  #slots = new Int32Array(2048);
  #size = 0;

  /** Whether nobody else had the value before. */
  isFirst(mark: Mark): boolean {
    const slots = this.#slots;
    const at = find(slots, mark);
    if (slots[at] !== 0) return slots[at + 1] === mark[1];
    slots[at] = mark[0];
    slots[at + 1] = mark[1];
    this.#size += 1;
    if (this.#size * 3 > slots.length) this.#grow();
    return true;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Int32Array(old.length * 2);
    for (let from = 0; from < old.length; from += 2) {
      if (old[from] === 0) continue;
      const at = find(this.#slots, [old[from]!, old[from + 1]!]);
      this.#slots.set(old.subarray(from, from + 2), at);
    }
  }
}

/** Where a value stands, whoever has it, or would stand. */
function find(slots: Int32Array, mark: Mark): number {
  const mask = slots.length - 1;
  let at = (mark[0] << 1) & mask;
  while (slots[at] !== 0 && (slots[at] !== mark[0] || ((slots[at + 1]! ^ mark[1]) & ~OWNER) !== 0))
    at = (at + 2) & mask;
  return at;
}
