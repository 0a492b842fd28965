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
    if (this.#path.length === 0) return this.error(`the top level is ${top}, not an array of records`, 1, 1);
    const keys = this.#deepest.keys.map((key) => `\`${key}\``);
    const found = keys.length > 0 ? ` (keys found: ${keys.join(', ')})` : '';
    return this.error(`there is no \`${formatPath(this.#path)}\`${found}`, 1, 1);
  }

  /** An error that says how to find the array of records: it names the arrays so far. */
  error(message: string, line: number, column: number): JsonError {
    const named = this.#arrays.map((path) => `\`records: ${path}\``);
    const hint =
      named.length === 0
        ? 'set the path to the array, for example `records: data.items`'
        : `arrays in this file: ${named.join(', ')}`;
    return new JsonError(message, line, column, hint, this.#arrays);
  }
}
