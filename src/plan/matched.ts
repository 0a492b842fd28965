import type { Ledger } from '../checkpoint/ledger.ts';
import type { ShaWords } from '../identity.ts';
import { isUpdate } from '../model.ts';
import { FLAG, type EventTable } from './event-table.ts';
import type { RecordTable } from './records.ts';
import type { Updates } from './updates.ts';

/** Which events acknowledged by earlier runs the input still has. The others are `gone`. */
export class Matched {
  readonly #ledger: Ledger;
  readonly #records: RecordTable;
  readonly #updates: Updates;
  /** Ordinals of created events that are acknowledged but invalid now, by the number of the record. */
  readonly #unmapped = new Map<number, number>();
  /** Updates that are invalid: the ordinals, and the numbers of their records. */
  readonly #invalidUpdates: { readonly table: EventTable; readonly ordinal: number; readonly key: number }[] = [];
  #unmappedUpdates = 0;
  /** The ordinal of the last of them, by the number of the record, if one may have arrived. */
  readonly #lastUnmappedUpdate = new Map<number, number>();
  #count = 0;

  constructor(ledger: Ledger, records: RecordTable, updates: Updates) {
    this.#ledger = ledger;
    this.#records = records;
    this.#updates = updates;
  }

  /** Events acknowledged earlier that the input no longer has. */
  get gone(): number {
    return this.#ledger.acknowledged - this.#count;
  }

  /** Events acknowledged earlier whose record can no longer be mapped: each counts as acknowledged, and has an error. */
  get unmapped(): number {
    return this.#unmapped.size + this.#unmappedUpdates;
  }

  add(): void {
    this.#count += 1;
  }

  remove(): void {
    this.#count -= 1;
  }

  /**
   * Adds a created event that cannot be mapped any more. False if its record was not acknowledged, or if another event of the
   * input has been matched with that.
   */
  addUnmapped(key: number, ordinal: number): boolean {
    const isAcknowledged = this.#ledger.created(key) === 'acknowledged';
    if (!isAcknowledged || this.#records.created(key) !== undefined || this.#unmapped.has(key)) return false;
    this.#unmapped.set(key, ordinal);
    this.#count += 1;
    return true;
  }

  addInvalidUpdate(key: number, table: EventTable, ordinal: number): void {
    this.#invalidUpdates.push({ table, ordinal, key });
  }

  /** When each update that can be mapped has been matched: acknowledged ones that are left belong to the invalid ones. */
  matchInvalidUpdates(): void {
    for (const { table, ordinal, key } of this.#invalidUpdates) {
      const isAcknowledged = this.#ledger.claimAnyUpdate(key);
      const mayHaveArrived =
        isAcknowledged || this.#ledger.mayHaveArrivedOther(table.type, key, this.#shasOf(table, key));
      if (mayHaveArrived || this.#lastUnmappedUpdate.has(key)) this.#lastUnmappedUpdate.set(key, ordinal);
      if (!isAcknowledged) continue;
      table.setState(ordinal, 'acknowledged');
      this.#unmappedUpdates += 1;
      this.#count += 1;
    }
  }

  /** The contents of the record's updates that can be mapped. */
  #shasOf(table: EventTable, key: number): ShaWords[] {
    const derived = this.#updates.derived(key);
    const ordinals = [...this.#updates.inInput(key), ...(derived === undefined ? [] : [derived])];
    return ordinals.map((ordinal) => table.shas.get(ordinal));
  }

  /** Whether an update that may have arrived, but can no longer be mapped, may come after this event of its record. */
  hasLaterUnmapped(table: EventTable, ordinal: number): boolean {
    const last = this.#lastUnmappedUpdate.get(table.key(ordinal)!);
    return last !== undefined && (!isUpdate(table.type) || table.has(ordinal, FLAG.derived) || ordinal < last);
  }

  /** An earlier row of the same record could not be mapped, and a later one can: the acknowledgement belongs to that one. */
  releaseUnmapped(key: number, table: EventTable): void {
    const invalid = this.#unmapped.get(key);
    if (invalid === undefined) return;
    this.#unmapped.delete(key);
    this.#count -= 1;
    table.setState(invalid, 'invalid');
  }
}
