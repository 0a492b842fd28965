/** The result of a value of the mapping for one record, and the form of values in messages. */
import { cellText, NumberText, type JsonValue } from '../../json.ts';
import type { Problem } from '../../problem.ts';
import { shortened } from '../../report/words/visible.ts';

/** Undefined is "no value"; within a list, null is, which preserves positions. */
export type Result = JsonValue | undefined | Problem;

/** Records the value that caused an error, unless a more specific one is known already. */
export function withOriginal(error: Problem, original: JsonValue | undefined): Problem {
  error.original ??= cellText(original);
  return error;
}

/** A value in a message: in backticks, on one line, at most 60 characters. */
export function valueText(value: JsonValue | undefined): string {
  return `\`${shortened(cellText(value).replace(/\s+/g, ' '), 60)}\``;
}

/** The text of a scalar; numbers keep all their digits. Undefined for lists, objects and null. */
export function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value instanceof NumberText ? value.text : undefined;
}
