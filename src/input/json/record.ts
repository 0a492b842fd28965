import { parse as parseLossless } from 'lossless-json';
import { messageOf, UserError } from '../../errors.ts';
import { hasDelicateNumber, isObject, parseExactJson, type JsonObject, type JsonValue } from '../../json.ts';
import { shorten } from '../reading.ts';
import { issueOf } from '../../report/words/words.ts';
import type { Problem } from '../../problem.ts';

/** Far deeper than any record of a CRM; deeper nesting could exhaust the stack of code that walks through a record. */
export const MAX_DEPTH = 200;

/** A record, or why there is none; `at` is the index at which the text stops being JSON. */
type ParsedRecord =
  | { readonly value: JsonObject }
  | { readonly issue: Problem; readonly raw?: JsonObject }
  | { readonly syntax: string; readonly at: number };

/** Reads one record. Numbers keep their digits; a key that is repeated with a different value makes it unreadable. */
export function parseRecord(text: string, shape: JsonShape): ParsedRecord {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return shape.deepest > MAX_DEPTH ? { syntax: 'invalid JSON', at: 0 } : findSyntaxError(text);
  }
  if (!isObject(value)) {
    const what = Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`;
    return { issue: issueOf('not_an_object', what, shorten(text)) };
  }
  if (shape.deepest > MAX_DEPTH) {
    return { issue: issueOf('too_deep', shape.deepest, MAX_DEPTH) };
  }
  if (!hasDelicateNumber(text) && membersOf(value) === shape.members) return { value };
  const repeated = new Set<string>();
  const exact = parseExactJson(text, (key) => repeated.add(key)) as JsonObject;
  if (repeated.size === 0) return { value: exact };
  const keys = [...repeated].map((key) => `\`${shorten(key)}\``).join(', ');
  return { issue: issueOf('repeated_key', keys), raw: exact };
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  for (const key in value) {
    if (!Array.isArray(value)) members += 1;
    const member = (value as Record<string, unknown>)[key];
    if (typeof member === 'object') members += membersOf(member);
  }
  return members;
}

/** Where a text stops being JSON: its end if it is cut off. JSON.parse does not always report the place, lossless-json does. */
export function findSyntaxError(text: string): { readonly syntax: string; readonly at: number } {
  try {
    parseLossless(text, null, { onDuplicateKey: ({ newValue }) => newValue });
  } catch (error) {
    const [, syntax, at] = /^([^]*) at position (\d+)$/.exec(messageOf(error)) ?? [];
    if (syntax !== undefined) return { syntax, at: Number(at) };
  }
  return { syntax: 'invalid JSON', at: 0 };
}

/** Facts about a JSON value before it is parsed. */
export interface JsonShape {
  readonly deepest: number;
  /** Number of members of all its objects, repeated keys included. */
  readonly members: number;
}

export function shapeOf(text: string): JsonShape {
  const scan = new ValueScan();
  scan.follow(Buffer.from(text), 0);
  return scan;
}

/**
 * Follows a JSON value to its end, in chunks of UTF-8. It looks only at brackets, colons and strings; the value is checked
 * when it is parsed.
 */
export class ValueScan implements JsonShape {
  deepest = 0;
  members = 0;
  /** Line feeds in the last chunk outside of strings, and the index of the last one. */
  lines = 0;
  lastLine = -1;
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** Whether a bracket or quote is to be closed. */
  get isOpen(): boolean {
    return this.#depth > 0 || this.#inString;
  }

  /** Returns where the value ends, or -1 if it does not end in this chunk. A number or word ends before what cannot be a part of it. */
  follow(bytes: Buffer, from: number): number {
    let inString = this.#inString;
    let escaped = this.#escaped;
    let depth = this.#depth;
    this.lines = 0;
    for (let index = from; index < bytes.length; index += 1) {
      const byte = bytes[index]!;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === 0x5c) escaped = true;
        else if (byte === 0x22) {
          if (depth === 0) return index + 1;
          inString = false;
        }
        continue;
      }
      switch (byte) {
        case 0x22:
          inString = true;
          break;
        case 0x7b:
        case 0x5b:
          depth += 1;
          if (depth > this.deepest) this.deepest = depth;
          break;
        case 0x7d:
        case 0x5d:
          if (depth === 0) return index;
          depth -= 1;
          if (depth === 0) return index + 1;
          break;
        case 0x3a:
          if (depth === 0) return index;
          this.members += 1;
          break;
        case 0x0a:
          if (depth === 0) return index;
          this.lines += 1;
          this.lastLine = index;
          break;
        default:
          if (depth === 0 && (byte <= 0x20 || byte === 0x2c)) return index;
      }
    }
    this.#inString = inString;
    this.#escaped = escaped;
    this.#depth = depth;
    return -1;
  }
}

/** A text is not JSON, or not the JSON that was expected: where and why. */
export function mistakeAt(label: string, line: number, column: number, message: string, hint?: string): UserError {
  return new UserError(`${label}:${line}:${column}: ${message}`, hint === undefined ? {} : { hint });
}

/** At the index `at` of a text that begins at the given line and column. */
export function mistakeWithin(
  label: string,
  { text, line, column }: { readonly text: string; readonly line: number; readonly column: number },
  at: number,
  message: string,
): UserError {
  const before = text.slice(0, at);
  const breaks = before.split('\n').length - 1;
  const within = at - (before.lastIndexOf('\n') + 1);
  return mistakeAt(label, line + breaks, breaks > 0 ? within + 1 : column + within, message);
}
