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

/** Counts the leads whose e-mail address or phone number another lead has as well: some 16 bytes a distinct value. */
export class SharedValues {
  count = 0;
  externalId = '';
  /** Two words a slot: the mark of who had the value first; 0 where there is none. */
  #slots: Int32Array;
  #size = 0;

  /** `expected`: about how many values will come; it spares moving them as the table grows. */
  constructor(expected = 0) {
    this.#slots = new Int32Array(Math.max(2048, 2 ** Math.ceil(Math.log2(expected * 3 + 1))));
  }

  add(mark: Mark, externalId: string): void {
    const slots = this.#slots;
    const at = find(slots, mark[0], mark[1]);
    if (slots[at] === 0) {
      slots[at] = mark[0];
      slots[at + 1] = mark[1];
      this.#size += 1;
      if (this.#size * 3 > slots.length) this.#grow();
    } else if (slots[at + 1] !== mark[1]) {
      this.count += 1;
      this.externalId ||= externalId;
    }
  }

  #grow(): void {
    const old = this.#slots;
    const slots = new Int32Array(old.length * 2);
    for (let from = 0; from < old.length; from += 2) {
      if (old[from] === 0) continue;
      const at = find(slots, old[from]!, old[from + 1]!);
      slots[at] = old[from]!;
      slots[at + 1] = old[from + 1]!;
    }
    this.#slots = slots;
  }
}

/** Where a value stands, whoever has it, or would stand. */
function find(slots: Int32Array, high: number, low: number): number {
  const mask = slots.length - 1;
  let at = (high << 1) - 2;
  let isOther: boolean;
  // No step is rare: V8 would compile without it, and drop what it compiled when it comes.
  do {
    at = (at + 2) & mask;
    const difference = (slots[at]! ^ high) | ((slots[at + 1]! ^ low) & ~OWNER);
    isOther = (slots[at] === 0 ? 0 : difference) !== 0;
  } while (isOther);
  return at;
}

/** MurmurHash3's last step: every bit of a hash comes to depend on every other, and on those of its twin. */
function mixed(hash: number, twin: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) ^ twin;
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
