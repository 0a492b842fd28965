import { ByteColumn, Uint32Column } from '../columns.ts';

/** Properties of one record, as bits. */
export const RECORD = {
  /** Several records of the input have this external id with different content. */
  conflict: 1,
  /** One of its events is invalid. */
  invalid: 2,
  /** An update of it was acknowledged in this run. */
  updated: 4,
  /** It is a deal. */
  deal: 8,
  /** Records of different sources are in conflict. */
  collision: 16,
  /** Its created event is invalid. */
  invalidCreated: 32,
} as const;

/** What the plan knows about each record, by its number in the ledger. */
export class RecordTable {
  readonly #bits = new ByteColumn();
  /** Ordinal + 1 of the created event that counts, and of the last updated event. */
  readonly #created = new Uint32Column();
  readonly #updated = new Uint32Column();

  mark(key: number, bit: number): void {
    this.#bits.set(key, this.#bits.get(key) | bit);
  }

  has(key: number | undefined, bit: number): boolean {
    return key !== undefined && (this.#bits.get(key) & bit) !== 0;
  }

  /** The ordinal of the created event that counts for the record. */
  created(key: number): number | undefined {
    const ordinal = this.#created.get(key);
    return ordinal === 0 ? undefined : ordinal - 1;
  }

  setCreated(key: number, ordinal: number): void {
    this.#created.set(key, ordinal + 1);
  }

  /** The ordinal of the record's last updated event. */
  updated(key: number): number | undefined {
    const ordinal = this.#updated.get(key);
    return ordinal === 0 ? undefined : ordinal - 1;
  }

  setUpdated(key: number, ordinal: number): void {
    this.#updated.set(key, ordinal + 1);
  }
}
