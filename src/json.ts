/**
 * A JSON number whose text a JavaScript number cannot give back (`9007199254740993`, `5.10`): kept digit by digit.
 * Readers produce it only where `String(Number(text)) !== text`; all other numbers are plain numbers.
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

export type JsonScalar = string | number | NumberText | boolean | null;
export type JsonValue = JsonScalar | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** A number as the readers give it: plain where that loses nothing, else its text. */
export function readNumber(text: string): number | NumberText {
  const number = Number(text);
  return String(number) === text ? number : new NumberText(text);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText);
}

/**
 * The one text of a value: keys sorted by UTF-16 code unit, no white space, members that are undefined left out,
 * `NumberText` digit by digit. Event ids and content hashes are taken over it, and it is what goes over the wire.
 */
export function canonicalJson(value: JsonValue): string {
  return isInOrder(value) ? JSON.stringify(value) : sortedJson(value);
}

/**
 * Whether JSON.stringify writes a value as it should be: nearly all are, since what the mapping yields has its keys in
 * order. Seeing that first takes a third of the time of putting the text together here.
 */
function isInOrder(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (value instanceof NumberText) return false;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).every(isInOrder);
  const object = value as JsonObject;
  let previous: string | undefined;
  for (const key of Object.keys(object)) {
    if (previous !== undefined && key < previous) return false;
    previous = key;
    const member = object[key];
    if (typeof member === 'object' && !isInOrder(member)) return false;
  }
  return true;
}

function sortedJson(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof NumberText) return value.text;
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(sortedJson).join(',')}]`;
  const object = value as JsonObject;
  let text = '';
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${sortedJson(member)}`;
  }
  return `{${text}}`;
}
