import type { JsonPathStep } from './path.ts';

/** Of as many members, what they have in common is no chance. */
const MANY = 3;
/** Keys of a record that are compared with those of others. */
const MOST_COMPARED = 10;

/** A number, a hash, `-NtY1lLNKMKqrFtwJztS`, `cus_001`. */
const ID = /\d{3}|^\d+$|^(?=.*[A-Z].*[a-z].*[A-Z])[\w-]{15,}$/;

/** Whether an object has records as its values, by their keys: what is known of its members so far. */
export class KeyedObject {
  #members = 0;
  #objects = 0;
  #ids = 0;
  #scalars = 0;
  readonly #keys: JsonPathStep[] = [];
  /** The keys that all records have. */
  #common: readonly JsonPathStep[] | undefined;
  /** A record has a value of its own, or records by their keys. */
  #hasRecord = false;

  add(key: JsonPathStep, isObject: boolean): void {
    this.#members += 1;
    if (isObject) this.#objects += 1;
    else this.#scalars += 1;
    if (ID.test(String(key))) this.#ids += 1;
    if (this.#keys.length < MOST_COMPARED) this.#keys.push(key);
  }

  /** A member that is an object, at its end. */
  addRecord(record: KeyedObject): void {
    this.#common = this.#common ? this.#common.filter((key) => record.#keys.includes(key)) : record.#keys;
    this.#hasRecord ||= record.#scalars > 0 || record.isKeyed;
  }

  get isKeyed(): boolean {
    const isAlike = this.#members >= MANY && (this.#common?.length ?? 0) > 0;
    return (
      this.#members > 0 &&
      this.#objects === this.#members &&
      this.#hasRecord &&
      (this.#ids === this.#members || isAlike)
    );
  }
}
