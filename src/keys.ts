import { hash } from 'node:crypto';

/** Entries in a block; whole blocks are added, so that growing copies nothing and wastes little. */
const BLOCK_BITS = 14;
const BLOCK = 1 << BLOCK_BITS;

/**
 * Entries in the first block as it begins; it doubles until it is whole. V8 drops its compiled code, of all callers too, at
 * a step that it has not seen before it compiled: growing is one that it has to see early. (Another is reading beyond the
 * end of an array.)
 */
const FIRST = 64;

/** Makes room for more; gives the number of entries that there is room for then. */
function grow<T extends Uint32Array | Int32Array | Uint8Array>(blocks: T[], Block: new (size: number) => T): number {
  const last = blocks.at(-1)!;
  if (last.length >= BLOCK) return blocks.push(new Block(BLOCK)) * BLOCK;
  const larger = new Block(last.length * 2);
  larger.set(last);
  blocks[0] = larger;
  return larger.length;
}

/** A column of unsigned 32-bit numbers that grows; what it does not hold yet reads as 0. */
export class Uint32Column {
  readonly #blocks = [new Uint32Array(FIRST)];
  #room = FIRST;

  get(index: number): number {
    return index < this.#room ? this.#blocks[index >>> BLOCK_BITS]![index & (BLOCK - 1)]! : 0;
  }

  set(index: number, value: number): void {
    while (index >= this.#room) this.#room = grow(this.#blocks, Uint32Array);
    this.#blocks[index >>> BLOCK_BITS]![index & (BLOCK - 1)] = value;
  }
}

/** A column of bytes that grows; what it does not hold yet reads as 0. */
export class ByteColumn {
  readonly #blocks = [new Uint8Array(FIRST)];
  #room = FIRST;

  get(index: number): number {
    return index < this.#room ? this.#blocks[index >>> BLOCK_BITS]![index & (BLOCK - 1)]! : 0;
  }

  set(index: number, value: number): void {
    while (index >= this.#room) this.#room = grow(this.#blocks, Uint8Array);
    this.#blocks[index >>> BLOCK_BITS]![index & (BLOCK - 1)] = value;
  }
}

/**
 * 128 bits that stand for a text, as four signed words of 32. A short text is its own key; a longer one, or one beyond
 * Latin-1, is known by 120 bits of its SHA-256, in which no two texts of one migration meet. The last byte tells them apart.
 */
export type KeyWords = readonly [number, number, number, number];

/** Characters that have room beside their number. */
const SHORT = 15;
const IS_HASH = 0xff;

export function keyWords(text: string): KeyWords {
  const { length } = text;
  if (length > SHORT) return hashWords(text);
  let first = 0;
  let second = 0;
  let third = 0;
  let last = 0;
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0xff) return hashWords(text);
    if (index < 4) first = (first << 8) | code;
    else if (index < 8) second = (second << 8) | code;
    else if (index < 12) third = (third << 8) | code;
    else last = (last << 8) | code;
  }
  return [first, second, third, (last << 8) | length];
}

/**
 * As `keyWords`, of one character and the ASCII characters that stand between `start` and `end` of `bytes`; into `words`.
 * False where that is too long.
 */
export function keyWordsIn(
  bytes: Uint8Array,
  start: number,
  end: number,
  before: number,
  words: [number, number, number, number],
): boolean {
  const length = end - start + 1;
  if (length > SHORT) return false;
  let word = before;
  words[0] = words[1] = words[2] = words[3] = 0;
  for (let index = 1; index < length; index += 1) {
    if ((index & 3) === 0) {
      words[(index >>> 2) - 1] = word;
      word = 0;
    }
    word = (word << 8) | bytes[start + index - 1]!;
  }
  words[(length - 1) >>> 2] = word;
  words[3] = (words[3] << 8) | length;
  return true;
}

function hashWords(text: string): KeyWords {
  // As text of one character a byte: of all forms of a digest the fastest to make and to read.
  const digest = hash('sha256', text, 'binary');
  return [wordAt(digest, 0), wordAt(digest, 4), wordAt(digest, 8), wordAt(digest, 12) | IS_HASH];
}

/** Signed: an array of such numbers holds them as they are, where unsigned ones would have to be floating-point. */
function wordAt(digest: string, at: number): number {
  return (
    (digest.charCodeAt(at) << 24) |
    (digest.charCodeAt(at + 1) << 16) |
    (digest.charCodeAt(at + 2) << 8) |
    digest.charCodeAt(at + 3)
  );
}

const SMALLEST = 2048;

/**
 * Numbers keys 0, 1, 2, … in the order in which they are first seen, without keeping their texts: about 28 bytes a key,
 * where a Set of strings costs 60 to 80 and ends at 16.7 million.
 */
export class KeyTable {
  /**
   * In the lower bits, as many as the slots' numbers have, a key's number + 1 (0 is free); in the others those of its
   * `spread`, so that most keys that stand in the way are passed by without a look at their words, far away.
   */
  #slots: Int32Array;
  /** Four words a key. */
  readonly #words = [new Int32Array(FIRST)];
  #room = FIRST;
  #size = 0;
  /** The number handed out last: keys often come again in the order in which they first came. */
  #last = -1;

  /** `expected`: about how many keys will come, where that is known; it spares moving them as the table grows. */
  constructor(expected = 0) {
    this.#slots = new Int32Array(Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(expected * 1.5 + 1))));
  }

  get size(): number {
    return this.#size;
  }

  /** The key's number; a key not seen before gets the next one. */
  intern(key: KeyWords): number {
    const next = this.#last + 1;
    if (next < this.#size && this.#holds(next, key)) return (this.#last = next);
    const slot = this.#slotOf(key);
    const known = this.#numberIn(slot);
    return (this.#last = known < 0 ? this.#add(key, slot) : known);
  }

  /** The key's number, or -1. */
  find(key: KeyWords): number {
    return this.#numberIn(this.#slotOf(key));
  }

  #numberIn(slot: number): number {
    return (this.#slots[slot]! & (this.#slots.length - 1)) - 1;
  }

  #add(key: KeyWords, slot: number): number {
    const number = this.#size;
    this.#size += 1;
    const first = number * 4;
    if (first === this.#room) this.#room = grow(this.#words, Int32Array);
    const block = this.#words[first >>> BLOCK_BITS]!;
    const at = first & (BLOCK - 1);
    block[at] = key[0];
    block[at + 1] = key[1];
    block[at + 2] = key[2];
    block[at + 3] = key[3];
    this.#slots[slot] = (spread(key[0], key[1], key[2], key[3]) & -this.#slots.length) | (number + 1);
    if (this.#size * 3 > this.#slots.length * 2) this.#grow();
    return number;
  }

  /** Where the key stands, or would. */
  #slotOf(key: KeyWords): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const bits = spread(key[0], key[1], key[2], key[3]);
    for (let slot = bits & mask; ; slot = (slot + 1) & mask) {
      const value = slots[slot]!;
      const number = (value & mask) - 1;
      if (number < 0 || (((value ^ bits) & ~mask) === 0 && this.#holds(number, key))) return slot;
    }
  }

  #holds(number: number, key: KeyWords): boolean {
    const first = number * 4;
    const block = this.#words[first >>> BLOCK_BITS]!;
    const at = first & (BLOCK - 1);
    return (
      block[at] === (key[0] | 0) &&
      block[at + 1] === (key[1] | 0) &&
      block[at + 2] === (key[2] | 0) &&
      block[at + 3] === (key[3] | 0)
    );
  }

  #grow(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let number = 0; number < this.#size; number += 1) {
      const first = number * 4;
      const block = this.#words[first >>> BLOCK_BITS]!;
      const at = first & (BLOCK - 1);
      const bits = spread(block[at]!, block[at + 1]!, block[at + 2]!, block[at + 3]!);
      let slot = bits & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = (bits & ~mask) | (number + 1);
    }
    this.#slots = slots;
  }
}

/** 32 bits that depend on all of a key: its own bits are those of its characters, which are much alike. */
function spread(first: number, second: number, third: number, last: number): number {
  let bits = Math.imul(first, 0x9e3779b1);
  bits = Math.imul((bits ^ (bits >>> 15)) + second, 0x85ebca6b);
  bits = Math.imul((bits ^ (bits >>> 13)) + third, 0xc2b2ae35);
  bits = Math.imul((bits ^ (bits >>> 16)) + last, 0x7feb352d);
  return bits ^ (bits >>> 15);
}
