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
    const high = hash(value, 0xdeadbeef) || 1;
    const low = hash(value, 0x41c6ce57);
    const owner = hash(externalId, 0);
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

/** MurmurHash3's mixing over UTF-16 code units: fast, not cryptographic. */
function hash(text: string, seed: number): number {
  let h = seed ^ text.length;
  for (let index = 0; index < text.length; index += 1) {
    let k = Math.imul(text.charCodeAt(index), 0xcc9e2d51);
    k = (k << 15) | (k >>> 17);
    h ^= Math.imul(k, 0x1b873593);
    h = Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64;
  }
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
