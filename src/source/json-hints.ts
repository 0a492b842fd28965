import { JsonError } from './json-error.ts';
import { formatPath, type JsonPathStep } from './json-path.ts';

const MOST_ARRAYS = 20;
/** Keys that a hint names. */
export const MOST_KEYS = 10;

/** What the text around the records contains, for the hints of errors about the path to them. */
export class PathHints {
  readonly #path: readonly JsonPathStep[];
  readonly #arrays: string[] = [];
  /** The keys at the deepest level that the path led to. */
  #deepest: { readonly depth: number; readonly keys: readonly string[] } = { depth: -1, keys: [] };

  constructor(path: readonly JsonPathStep[]) {
    this.#path = path;
  }

  addArray(path: string): void {
    if (this.#arrays.length < MOST_ARRAYS) this.#arrays.push(path);
  }

  /** The keys of an object on the path. */
  addKeys(keys: readonly string[], depth: number): void {
    if (depth >= this.#deepest.depth) this.#deepest = { depth, keys };
  }

  /** The error for a text without the array. `top`: what the text is: `an object`, … */
  missing(top: string): JsonError {
    if (this.#path.length === 0) {
      return new JsonError(`the top level is ${top}, not an array of records`, 1, 1, this.hint());
    }
    const keys = this.#deepest.keys.map((key) => `\`${key}\``);
    const found = keys.length > 0 ? ` (keys found: ${keys.join(', ')})` : '';
    return new JsonError(`there is no \`${formatPath(this.#path)}\`${found}`, 1, 1, this.hint());
  }

  /** How to find the array of records: names the arrays so far. */
  hint(): string {
    if (this.#arrays.length === 0) return 'set the path to the array, for example `records: data.items`';
    return `arrays in this file: ${this.#arrays.map((path) => `\`records: ${path}\``).join(', ')}`;
  }
}
