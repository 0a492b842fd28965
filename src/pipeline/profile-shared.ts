/** Words of a slot: two of the value's hash (0 and 0 are no value), one of the hash of the id that had it first. */
const WORDS = 3;

/**
 * Counts the leads whose e-mail address or phone number another lead has as well, without keeping either: about 25 bytes
 * a distinct value. A clash of 64 bits would only miscount a warning.
 */
export class SharedValues {
  count = 0;
  externalId = '';
  #slots = new Uint32Array(1024 * WORDS);
  #size = 0;

  add(value: string, externalId: string): void {
    // Multiplications that spread over all 32 bits, one hash for the place and both to tell values apart.
    let high = value.length;
    let low = ~value.length;
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      high = Math.imul(high ^ code, 0x9e3779b1);
      low = Math.imul(low ^ code, 0x5f356495);
    }
    high = mixed(high, low) || 1;
    low = mixed(low, high);
    let owner = 0;
    for (let index = 0; index < externalId.length; index += 1)
      owner = Math.imul(owner ^ externalId.charCodeAt(index), 0x01000193);
    owner >>>= 0;
    const slots = this.#slots;
    const at = find(slots, high, low);
    if (slots[at] !== 0) {
      if (slots[at + 2] === owner) return;
      this.count += 1;
      this.externalId ||= externalId;
      return;
    }
    put(slots, at, high, low, owner);
    this.#size += 1;
    if (this.#size * WORDS * 3 > slots.length * 2) this.#grow();
  }

  #grow(): void {
    const old = this.#slots;
    const slots = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += WORDS) {
      if (old[at] !== 0) put(slots, find(slots, old[at]!, old[at + 1]!), old[at]!, old[at + 1]!, old[at + 2]!);
    }
    this.#slots = slots;
  }
}

/** Where a hash stands, or would stand. */
function find(slots: Uint32Array, high: number, low: number): number {
  const count = slots.length / WORDS;
  let at = (low & (count - 1)) * WORDS;
  while (slots[at] !== 0 && (slots[at] !== high || slots[at + 1] !== low)) at = (at + WORDS) % slots.length;
  return at;
}

function put(slots: Uint32Array, at: number, high: number, low: number, owner: number): void {
  slots[at] = high;
  slots[at + 1] = low;
  slots[at + 2] = owner;
}

/** MurmurHash3's last step: every bit of a hash comes to depend on every other, and on those of its twin. */
function mixed(hash: number, twin: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) ^ twin;
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
