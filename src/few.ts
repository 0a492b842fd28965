/**
 * A set of few, of which many come and go, in the order in which they came. A Set or Map leaves its tables behind as it
 * renews them, each pointing to the next one: once V8 holds a table for old, all that ever was in a later one stays in
 * memory until the old are looked through, with everything that it refers to.
 */
export class Few<T> implements Iterable<T> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  get first(): T | undefined {
    return this.#members[0];
  }

  add(member: T): void {
    this.#members.push(member);
  }

  delete(member: T): void {
    const at = this.#members.indexOf(member);
    if (at >= 0) this.#members.splice(at, 1);
  }

  find(is: (member: T) => boolean): T | undefined {
    return this.#members.find(is);
  }

  /** Those of this moment. */
  [Symbol.iterator](): Iterator<T> {
    return this.#members.slice()[Symbol.iterator]();
  }
}
