import { Float64Column, Uint16Column, Uint32Column } from './columns.ts';

const FIRST_SLOTS = 1024;

/**
 * A map from text to number whose entries are columns, a hash table with linear probing. A `Map` with a million external
 * ids takes 60 MB of the JavaScript heap, and V8 lets garbage grow to three times of what is alive before it collects it.
 */
export class TextIndex {
  #size = 0;
  /** The UTF-16 code units of all texts, one after the other, and where each text ends. */
  readonly #units = new Uint16Column();
  readonly #ends = new Float64Column();
  readonly #hashes = new Uint32Column();
  readonly #numbers = new Uint32Column();
  /** Entry + 1; 0 where a slot is free. At most half of them are taken. */
  #slots = new Uint32Array(FIRST_SLOTS);

  get(text: string): number | undefined {
    const entry = this.#slots[this.#slotOf(text, hashOf(text))]!;
    return entry === 0 ? undefined : this.#numbers.get(entry - 1);
  }

  /** Adds a text that is not there yet; `number` is an integer below 2^32. */
  add(text: string, number: number): void {
    const entry = this.#size;
    const hash = hashOf(text);
    const begin = this.#begin(entry);
    for (let at = 0; at < text.length; at += 1) this.#units.set(begin + at, text.charCodeAt(at));
    this.#ends.set(entry, begin + text.length);
    this.#hashes.set(entry, hash);
    this.#numbers.set(entry, number);
    this.#slots[this.#slotOf(text, hash)] = entry + 1;
    this.#size += 1;
    if (this.#size * 2 > this.#slots.length) this.#grow();
  }

  /** The slot that holds the text, or the free one where it belongs. */
  #slotOf(text: string, hash: number): number {
    const last = this.#slots.length - 1;
    for (let slot = hash & last; ; slot = (slot + 1) & last) {
      const entry = this.#slots[slot]!;
      if (entry === 0 || (this.#hashes.get(entry - 1) === hash && this.#holds(entry - 1, text))) return slot;
    }
  }

  #holds(entry: number, text: string): boolean {
    const begin = this.#begin(entry);
    if (this.#ends.get(entry) - begin !== text.length) return false;
    for (let at = 0; at < text.length; at += 1) {
      if (this.#units.get(begin + at) !== text.charCodeAt(at)) return false;
    }
    return true;
  }

  #begin(entry: number): number {
    return entry === 0 ? 0 : this.#ends.get(entry - 1);
  }

  #grow(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    const last = this.#slots.length - 1;
    for (let entry = 0; entry < this.#size; entry += 1) {
      let slot = this.#hashes.get(entry) & last;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & last;
      this.#slots[slot] = entry + 1;
    }
  }
}

/** FNV-1a over the code units, 32 bits; its lower bits are mixed with the upper ones. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
