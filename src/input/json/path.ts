import { UserError } from '../../errors.ts';
import { SettingError } from '../source.ts';

/** A key of an object or an index into an array. */
export type JsonPathStep = string | number;

/** The top level, in place of a path: an object of records. */
const TOP = '.';
/** At the end of a path: what it leads to is one record. */
const WHOLE = '$';

export interface RecordsPath {
  readonly steps: readonly JsonPathStep[];
  /** It leads to one record: `$` or `contact.$`. */
  readonly isOne: boolean;
  /** It may lead to an object of records. Without a setting, an object at the top level has the array somewhere. */
  readonly mayBeKeyed: boolean;
}

/** `a.b[0].items` as steps; none for the top level. Throws a `UserError` if the text is not a path. */
export function parsePath(text: string | undefined): RecordsPath {
  if (text === undefined || text === '' || text === TOP) return { steps: [], isOne: false, mayBeKeyed: text === TOP };
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
  return { steps, isOne, mayBeKeyed: !isOne };
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

/** Keys around the records, for hints about a wrong path. */
export class PathHints {
  readonly #path: readonly JsonPathStep[];
  #arrays: string[] = [];
  /** The keys at the deepest level that the path led to. */
  #deepest: { readonly depth: number; readonly keys: readonly JsonPathStep[] } = { depth: -1, keys: [] };

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
  addKeys(keys: readonly JsonPathStep[], depth: number): void {
    if (depth >= this.#deepest.depth) this.#deepest = { depth, keys };
  }

  /** The error for a text without the array. `top`: the type of the text: `an object`, … */
  missing(top: string): string {
    if (this.#path.length === 0) return `the top level is ${top}, not an array of records`;
    const keys = this.#deepest.keys.map((key) => `\`${key}\``);
    return `there is no \`${formatPath(this.#path)}\`${keys.length > 0 ? ` (keys found: ${keys.join(', ')})` : ''}`;
  }

  /** An error that says how to find the records: it names the arrays and objects of records so far. `message`: with its place. */
  error(message: string): UserError {
    if (this.#arrays.length === 0)
      return new UserError(message, { hint: 'set the path to the records, for example `records: data.items`' });
    const named = this.#arrays.map((path) => `\`records: ${path}\``);
    const hint = `records in this file: ${named.join(', ')}`;
    return new SettingError('records', message, { hint, choices: this.#arrays });
  }
}

/** Of as many members, what they have in common is no chance. */
const MANY = 3;
/** Keys of an object that are compared with those of others, and that a hint names. */
const MOST_KEYS = 10;

/** A number, a hash, `-NtY1lLNKMKqrFtwJztS`, `cus_001`. */
const ID = /\d{3}|^\d+$|^(?=.*[A-Z].*[a-z].*[A-Z])[\w-]{15,}$/;

/** Whether an object has records as its values, by their keys: what is known of its members so far. */
export class KeyedObject {
  #members = 0;
  #objects = 0;
  #ids = 0;
  #scalars = 0;
  /** The first ones. */
  readonly keys: JsonPathStep[] = [];
  /** The keys that all records have. */
  #common: readonly JsonPathStep[] | undefined;
  /** A record has a value of its own, or records by their keys. */
  #hasRecord = false;

  add(key: JsonPathStep, isObject: boolean): void {
    this.#members += 1;
    if (isObject) this.#objects += 1;
    else this.#scalars += 1;
    if (ID.test(String(key))) this.#ids += 1;
    if (this.keys.length < MOST_KEYS) this.keys.push(key);
  }

  /** A member that is an object, at its end. */
  addRecord(record: KeyedObject): void {
    this.#common = this.#common ? this.#common.filter((key) => record.keys.includes(key)) : record.keys;
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
