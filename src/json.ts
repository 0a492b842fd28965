import { parse as parseLossless } from 'lossless-json';

/**
 * A JSON number whose text would change as a JavaScript number (`9007199254740993`, `5.10`), kept as text. Only numbers
 * with `String(Number(text)) !== text` are kept so; all others are plain numbers.
 */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** A text with a number in it, which stays known whatever is made of it: a cell of a sheet, `12.345 EUR` of a template. Sent as text. */
export class NumberInText extends NumberText {
  readonly number: string;

  constructor(text: string, number: string) {
    super(text);
    this.number = number;
  }
}

/** The number that a value is or has in it, if its text could be read as another one: `12.345` with a comma for decimals. */
function decimalIn(value: JsonValue): string | undefined {
  if (typeof value !== 'number' && !(value instanceof NumberText)) return undefined;
  const number = value instanceof NumberInText ? value.number : String(value);
  return /[.e]/i.test(number) ? number : undefined;
}

/** A text made of values: with the number in it, where one of them is a decimal number and nothing else in the text has digits. */
export function textWith(text: string, values: readonly JsonValue[]): string | NumberInText {
  const [number, other] = values.flatMap((value) => decimalIn(value) ?? []);
  if (number === undefined || other !== undefined || !text.includes(number)) return text;
  return /\d/.test(text.replace(number, '')) ? text : new NumberInText(text, number);
}

export type JsonScalar = string | number | NumberText | boolean | null;
export type JsonValue = JsonScalar | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** The member in which a record of an object of records has its key there. */
const KEY = '_key';

/** A member of the record that is called so itself is kept. */
export function withKey(key: string, record: JsonObject): JsonObject {
  return { [KEY]: key, ...record };
}

/** The values of an object of objects, each with its key; undefined if it is another value. */
export function recordsByKey(value: JsonValue | undefined): readonly JsonObject[] | undefined {
  if (!isObject(value)) return undefined;
  const members = Object.entries(value).filter(([key]) => key !== KEY);
  const records = members.flatMap(([key, member]) => (isObject(member) ? [withKey(key, member)] : []));
  return records.length === members.length ? records : undefined;
}

/** A plain number if its text is exactly `text`, otherwise a `NumberText`. */
export function readNumber(text: string): number | NumberText {
  const number = Number(text);
  return String(number) === text ? number : new NumberText(text);
}

/**
 * A number that JSON.parse would change: many digits, zeros at its end, an exponent, a small fraction, or -0. It may match
 * inside a text value, which only costs time; it never misses such a number.
 */
const DELICATE_NUMBER = /(?:^|[:,[])\s*(?:-?(?:[\d.]{16,}|\d+\.\d*0|[\d.]+[eE][-+\d]+|0\.000000\d*)|-0)\s*(?:[,\]}]|$)/;

/** Whether JSON.parse may change a number in this text. */
export function hasDelicateNumber(text: string): boolean {
  return DELICATE_NUMBER.test(text);
}

/** Parses JSON without changing a number (see `NumberText`). Of a repeated key the last value counts. Throws a `SyntaxError`. */
export function parseJson(text: string): JsonValue {
  return hasDelicateNumber(text) ? parseExactJson(text) : (JSON.parse(text) as JsonValue);
}

/**
 * Like `parseJson`, several times slower. `onRepeatedKey` is called for each key that an object repeats with a different
 * value.
 */
export function parseExactJson(text: string, onRepeatedKey: (key: string) => void = () => undefined): JsonValue {
  return parseLossless(text, null, {
    parseNumber: readNumber,
    onDuplicateKey: ({ key, newValue }) => {
      onRepeatedKey(key);
      return newValue;
    },
  }) as JsonValue;
}

/** What walks through a value that is nested more deeply would overflow the stack. */
const MOST_LEVELS = 1_000;

/**
 * The value of a JSON text; undefined if it is none, or nested more than 1,000 levels deep. For texts of this program and the service:
 * digits of numbers may be lost.
 */
export function tryParseJson(text: string): unknown {
  try {
    return isTooDeep(text) ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function isTooDeep(text: string): boolean {
  let [levels, inText] = [0, false];
  for (let at = 0; at < text.length && levels <= MOST_LEVELS; at += 1) {
    const character = text[at];
    if (inText && character === '\\') at += 1;
    else if (character === '"') inText = !inText;
    else if (!inText && (character === '[' || character === '{')) levels += 1;
    else if (!inText && (character === ']' || character === '}')) levels -= 1;
  }
  return levels > MOST_LEVELS;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText);
}

/**
 * The canonical text of a value: keys sorted by UTF-16 code unit, no white space, undefined members left out, each
 * `NumberText` as its text. Event ids and content hashes are computed from it, and it is what is sent.
 */
export function canonicalJson(value: JsonValue): string {
  return isJson(value, 'sorted') ? JSON.stringify(value) : sortedJson(value);
}

/** A value as it stands in a cell: a text as it is, nothing for null, and JSON for the rest. */
export function cellText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : canonicalJson(value);
}

/** The text of a record: like `canonicalJson`, but with its keys in their own order if its numbers allow that. */
export function recordJson(record: JsonObject | readonly string[]): string {
  return Array.isArray(record) || isJson(record, 'any') ? JSON.stringify(record) : sortedJson(record);
}

/** Whether JSON.stringify writes the value as it is: no digits to preserve and, if asked for, all keys in order. */
function isJson(value: JsonValue | undefined, order: 'any' | 'sorted'): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (value instanceof NumberText) return false;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).every((element) => isJson(element, order));
  const object = value as JsonObject;
  let previous = '';
  for (const key in object) {
    if ((order === 'sorted' && key < previous) || !isJson(object[key], order)) return false;
    previous = key;
  }
  return true;
}

function sortedJson(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof NumberText) return value.text;
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(sortedJson).join(',')}]`;
  const object = value as JsonObject;
  let members = '';
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${sortedJson(member)}`;
  }
  return `{${members}}`;
}
