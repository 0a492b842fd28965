import { hash } from 'node:crypto';

/** Numbers in a block; whole blocks are added, so that growing copies nothing and wastes little. */
const BLOCK_BITS = 14;
const BLOCK = 1 << BLOCK_BITS;

/** A column of unsigned 32-bit numbers that grows; what it does not hold yet reads as 0. */
export class Uint32Column {
  readonly #blocks: (Uint32Array | undefined)[] = [];

  get(index: number): number {
    return this.#blocks[index >>> BLOCK_BITS]?.[index & (BLOCK - 1)] ?? 0;
  }

  set(index: number, value: number): void {
    (this.#blocks[index >>> BLOCK_BITS] ??= new Uint32Array(BLOCK))[index & (BLOCK - 1)] = value;
  }
}

/** A column of bytes that grows; what it does not hold yet reads as 0. */
export class ByteColumn {
  readonly #blocks: (Uint8Array | undefined)[] = [];

  get(index: number): number {
    return this.#blocks[index >>> BLOCK_BITS]?.[index & (BLOCK - 1)] ?? 0;
  }

  set(index: number, value: number): void {
    (this.#blocks[index >>> BLOCK_BITS] ??= new Uint8Array(BLOCK))[index & (BLOCK - 1)] = value;
  }
}

/** 128 bits of SHA-256 over a text; four words. Two different texts of one migration do not meet in it. */
export type KeyWords = readonly [number, number, number, number];

export function keyWords(text: string): KeyWords {
  // As text of one character a byte: of all forms of a digest the fastest to make and to read.
  const digest = hash('sha256', text, 'binary');
  return [wordAt(digest, 0), wordAt(digest, 4), wordAt(digest, 8), wordAt(digest, 12)];
}

function wordAt(digest: string, at: number): number {
  return (
    ((digest.charCodeAt(at) << 24) |
      (digest.charCodeAt(at + 1) << 16) |
      (digest.charCodeAt(at + 2) << 8) |
      digest.charCodeAt(at + 3)) >>>
    0
  );
}

/**
 * Numbers keys 0, 1, 2, … in the order in which they are first seen, without keeping their texts: about 28 bytes a key,
 * where a Set of strings costs 60 to 80 and ends at 16.7 million.
 */
export class KeyTable {
  #slots = new Int32Array(2048).fill(-1);
  readonly #words = new Uint32Column();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The key's number; a key not seen before gets the next one. */
  intern(key: KeyWords): number {
    const slot = this.#slotOf(key);
    const known = this.#slots[slot]!;
    if (known >= 0) return known;
    const number = this.#size;
    this.#size += 1;
    for (let index = 0; index < 4; index += 1) this.#words.set(number * 4 + index, key[index]!);
    this.#slots[slot] = number;
    if (this.#size * 3 > this.#slots.length * 2) this.#rehash();
    return number;
  }

  /** The key's number, or -1. */
  find(key: KeyWords): number {
    return this.#slots[this.#slotOf(key)]!;
  }

  #slotOf(key: KeyWords): number {
    const mask = this.#slots.length - 1;
    let slot = key[0] & mask;
    for (;;) {
      const number = this.#slots[slot]!;
      if (number < 0 || this.#holds(number, key)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #holds(number: number, key: KeyWords): boolean {
    const at = number * 4;
    return (
      this.#words.get(at) === key[0] &&
      this.#words.get(at + 1) === key[1] &&
      this.#words.get(at + 2) === key[2] &&
      this.#words.get(at + 3) === key[3]
    );
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2).fill(-1);
    const mask = slots.length - 1;
    for (let number = 0; number < this.#size; number += 1) {
      let slot = this.#words.get(number * 4) & mask;
      while (slots[slot]! >= 0) slot = (slot + 1) & mask;
      slots[slot] = number;
    }
    this.#slots = slots;
  }
}
