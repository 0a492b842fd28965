import { parse as parseLossless } from 'lossless-json';
import { messageOf } from '../errors.ts';
import { hasDelicateNumber, isObject, parseExactJson, type JsonObject, type JsonValue } from '../json.ts';
import type { Issue } from '../model.ts';
import type { Shape } from './json-shape.ts';

/** Nesting beyond it is no record of a CRM, and would exhaust the stack of whatever walks through it. */
export const MAX_DEPTH = 200;

/** A record, or why it is none; `at` is where it stops being JSON. */
export type Parsed =
  | { readonly value: JsonObject }
  | { readonly issue: Issue; readonly raw?: JsonObject }
  | { readonly syntax: string; readonly at: number };

/** Reads one record. Numbers keep their digits; a key that is repeated with another value makes it unreadable. */
export function parseRecord(text: string, shape: Shape): Parsed {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return shape.deepest > MAX_DEPTH ? { syntax: 'this is no JSON', at: 0 } : findFault(text);
  }
  if (!isObject(value)) {
    const what = Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`;
    return { issue: readError('not_an_object', `a record must be an object, this is ${what}: ${shorten(text)}`) };
  }
  if (shape.deepest > MAX_DEPTH) {
    return {
      issue: readError('too_deep', `the record is nested ${shape.deepest} levels deep; at most ${MAX_DEPTH} are read`),
    };
  }
  const isExact = !shape.rareNumbers || !hasDelicateNumber(text);
  if (isExact && membersOf(value) === shape.members) return { value };
  const repeated = new Set<string>();
  const exact = parseExactJson(text, (key) => repeated.add(key)) as JsonObject;
  if (repeated.size === 0) return { value: exact };
  const keys = [...repeated].map((key) => `\`${shorten(key)}\``).join(', ');
  const issue = readError('repeated_key', `the record has ${keys} more than once, with different values`);
  return { issue, raw: exact };
}

export function readError(code: string, message: string): Issue {
  return { severity: 'error', kind: 'read', code, message };
}

export function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') members += membersOf(item);
    return members;
  }
  for (const key of Object.keys(value)) {
    members += 1;
    const member = (value as Record<string, unknown>)[key];
    if (typeof member === 'object') members += membersOf(member);
  }
  return members;
}

/** Where a text stops being JSON: JSON.parse does not always say, lossless-json does. Its end, where it is cut off. */
export function findFault(text: string): { readonly syntax: string; readonly at: number } {
  try {
    parseLossless(text, null, { onDuplicateKey: ({ newValue }) => newValue });
  } catch (error) {
    const [, syntax, at] = /^([^]*) at position (\d+)$/.exec(messageOf(error)) ?? [];
    if (syntax !== undefined) return { syntax, at: Number(at) };
  }
  return { syntax: 'this is no JSON', at: 0 };
}
