import { UserError } from '../../errors.ts';
import { JsonError } from './record.ts';

/** A key of an object or an index into an array. */
export type JsonPathStep = string | number;

/** The top level, in place of a path: an object of records. */
const TOP = '.';
/** At the end of a path: what it leads to is one record. */
const WHOLE = '$';

/** `isOne`: the path leads to one record, `$` or `contact.$`. */
interface RecordsPath {
  readonly steps: readonly JsonPathStep[];
  readonly isOne: boolean;
}

/** `a.b[0].items` as steps; none for the top level. Throws a `UserError` if the text is not a path. */
export function parsePath(text: string | undefined): RecordsPath {
  if (text === undefined || text === '' || text === TOP) return { steps: [], isOne: false };
  const parts = text.split('.');
  const isOne = parts.at(-1) === WHOLE;
  const steps: JsonPathStep[] = [];
  for (const part of isOne ? parts.slice(0, -1) : parts) {
    const match = /^([^[\]]*)((?:\[\d+\])*)$/.exec(part);
    if (!match || (match[1] === '' && (match[2] === '' || steps.length > 0))) {
      throw new UserError(`\`records: ${text}\` is not a path`, {
        hint: 'separate keys with dots and put indexes in brackets, for example `data.items` or `pages[0].results`',
      });
    }
    if (match[1]) steps.push(match[1]);
    for (const [, index] of match[2]!.matchAll(/\[(\d+)\]/g)) steps.push(Number(index));
  }
  return { steps, isOne };
}

export function formatPath(steps: readonly JsonPathStep[]): string {
  if (steps.length === 0) return TOP;
  return steps
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index > 0 ? '.' : ''}${step}`))
    .join('');
}

/** For objects over several lines, one after the other, which are neither JSON nor NDJSON. */
export const ONE_PER_LINE =
  'the file has several objects, each over several lines: write one object per line, for example with `jq -c . FILE > FILE.ndjson`';

const MOST_ARRAYS = 20;
/** Keys that a hint names. */
export const MOST_KEYS = 10;

/** Keys around the records, for hints about a wrong path. */
export class PathHints {
  readonly #path: readonly JsonPathStep[];
  #arrays: string[] = [];
  /** The keys at the deepest level that the path led to. */
  #deepest: { readonly depth: number; readonly keys: readonly string[] } = { depth: -1, keys: [] };

  constructor(path: readonly JsonPathStep[]) {
    this.#path = path;
  }

  get arrays(): readonly string[] {
    return this.#arrays;
  }

  addArray(path: string): void {
    if (this.#arrays.length < MOST_ARRAYS) this.#arrays.push(path);
  }

  /** An object of records, by their keys. What was found in its records is theirs. */
  addKeyed(path: string): void {
    const within = path === TOP ? '' : `${path}.`;
    this.#arrays = this.#arrays.filter((each) => !each.startsWith(within));
    this.addArray(path);
  }

  /** The keys of an object on the path. */
  addKeys(keys: readonly string[], depth: number): void {
    if (depth >= this.#deepest.depth) this.#deepest = { depth, keys };
  }

  /** The error for a text without the array. `top`: the type of the text: `an object`, … */
  missing(top: string): JsonError {
    if (this.#path.length === 0) return this.error(`the top level is ${top}, not an array of records`, 1, 1);
    const keys = this.#deepest.keys.map((key) => `\`${key}\``);
    const found = keys.length > 0 ? ` (keys found: ${keys.join(', ')})` : '';
    return this.error(`there is no \`${formatPath(this.#path)}\`${found}`, 1, 1);
  }

  /** An error that says how to find the records: it names the arrays and objects of records so far. */
  error(message: string, line: number, column: number): JsonError {
    const named = this.#arrays.map((path) => `\`records: ${path}\``);
    const hint =
      named.length === 0
        ? 'set the path to the records, for example `records: data.items`'
        : `records in this file: ${named.join(', ')}`;
    return new JsonError(message, line, column, hint, this.#arrays);
  }
}
