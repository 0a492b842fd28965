/**
 * A set of the few things that are in progress at a time, in the order in which they were added.
 *
 * It is an array because a `Set` through which a million requests pass keeps them in memory: when it has no room left, V8
 * gives it a new table, and the old one goes on pointing to the new one and to what it contained. As soon as one of these
 * tables is in the old generation, all that follow it, with their requests, are kept until the next full collection.
 */
export class SmallSet<T> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    this.#items.push(item);
  }

  delete(item: T): void {
    const at = this.#items.indexOf(item);
    if (at >= 0) this.#items.splice(at, 1);
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items.values();
  }
}
