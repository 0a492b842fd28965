import type { JsonValue } from '../json.ts';
import { KeyTable, keyWords, Uint32Column } from '../keys.ts';
import type { Fault } from './fault.ts';

/** Marks a text that several records match with different values. */
export const SEVERAL = Symbol('several');

export type LookedUp = JsonValue | Fault | typeof SEVERAL | undefined;

const CHUNK_BYTES = 1 << 20;

/**
 * What a lookup gives for each text it matches. A million keys are no rarity, so keys are kept as hashes and values, which
 * are nearly always short texts, as bytes one after the other: 79 bytes a key all told for e-mail addresses that give ids
 * of 18 characters, where a Map of the same strings takes 133, on the garbage-collected heap.
 */
export class LookupValues {
  readonly #keys = new KeyTable();
  readonly #starts = new Uint32Column();
  readonly #lengths = new Uint32Column();
  readonly #chunks: Buffer[] = [];
  #end = 0;
  /** Values that are no plain text; `undefined` among them: the record is there and has no value. */
  readonly #others = new Map<number, LookedUp>();

  has(text: string): boolean {
    return this.#keys.find(keyWords(text)) >= 0;
  }

  get(text: string): LookedUp {
    const key = this.#keys.find(keyWords(text));
    if (key < 0) return undefined;
    if (this.#others.has(key)) return this.#others.get(key);
    const start = this.#starts.get(key);
    const at = start % CHUNK_BYTES;
    return this.#chunks[Math.floor(start / CHUNK_BYTES)]!.toString('utf8', at, at + this.#lengths.get(key));
  }

  set(text: string, value: LookedUp): void {
    const key = this.#keys.intern(keyWords(text));
    const bytes = typeof value === 'string' && value.isWellFormed() ? Buffer.byteLength(value) : CHUNK_BYTES + 1;
    if (bytes > CHUNK_BYTES) {
      this.#others.set(key, value);
      return;
    }
    this.#others.delete(key);
    const start = this.#reserve(bytes);
    this.#starts.set(key, start);
    this.#lengths.set(key, bytes);
    this.#chunks[Math.floor(start / CHUNK_BYTES)]!.write(value as string, start % CHUNK_BYTES, 'utf8');
  }

  /** Where so many bytes have room in one chunk. */
  #reserve(bytes: number): number {
    const left = this.#chunks.length * CHUNK_BYTES - this.#end;
    if (bytes > left || left === 0) {
      this.#end = this.#chunks.length * CHUNK_BYTES;
      this.#chunks.push(Buffer.allocUnsafe(CHUNK_BYTES));
    }
    const start = this.#end;
    this.#end += bytes;
    return start;
  }
}
