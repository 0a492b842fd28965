/** Bits of the second word of a slot that are the owner's; the others, and the first word, are the value's. */
const OWNER = 0xfffff;

/**
 * Counts the leads whose e-mail address or phone number another lead has as well, without keeping either: some 16 bytes a
 * distinct value, for 44 bits of its hash and 20 of that of the id that had it first. A clash would only miscount a warning.
 */
export class SharedValues {
  count = 0;
  externalId = '';
  /** Two words a slot, whose first is never 0 where it is taken. */
  #slots: Uint32Array;
  #size = 0;

  /** `expected`: about how many values will come; it spares moving them as the table grows. */
  constructor(expected = 0) {
    this.#slots = new Uint32Array(Math.max(2048, 2 ** Math.ceil(Math.log2(expected * 3 + 1))));
  }

  add(value: string, externalId: string): void {
    let high = value.length;
    let low = ~value.length;
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      high = Math.imul(high ^ code, 0x9e3779b1);
      low = Math.imul(low ^ code, 0x5f356495);
    }
    high = mixed(high, low) || 1;
    low = mixed(low, high);
    const slots = this.#slots;
    const at = find(slots, high, low);
    const mine = ((low & ~OWNER) | (ownerBits(externalId) & OWNER)) >>> 0;
    if (slots[at] === 0) {
      slots[at] = high;
      slots[at + 1] = mine;
      this.#size += 1;
      if (this.#size * 3 > slots.length) this.#grow();
    } else if (slots[at + 1] !== mine) {
      this.count += 1;
      this.externalId ||= externalId;
    }
  }

  #grow(): void {
    const old = this.#slots;
    const slots = new Uint32Array(old.length * 2);
    for (let from = 0; from < old.length; from += 2) {
      if (old[from] === 0) continue;
      const at = find(slots, old[from]!, old[from + 1]!);
      slots[at] = old[from]!;
      slots[at + 1] = old[from + 1]!;
    }
    this.#slots = slots;
  }
}

/** Where a hash stands, or would stand. */
function find(slots: Uint32Array, high: number, low: number): number {
  const mask = slots.length - 1;
  let at = (high << 1) & mask;
  while (slots[at] !== 0 && (slots[at] !== high || ((slots[at + 1]! ^ low) & ~OWNER) !== 0)) at = (at + 2) & mask;
  return at;
}

function ownerBits(externalId: string): number {
  let bits = 0;
  for (let index = 0; index < externalId.length; index += 1) {
    bits = Math.imul(bits ^ externalId.charCodeAt(index), 0x01000193);
  }
  return bits ^ (bits >>> 20);
}

/** MurmurHash3's last step: every bit of a hash comes to depend on every other, and on those of its twin. */
function mixed(hash: number, twin: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) ^ twin;
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
