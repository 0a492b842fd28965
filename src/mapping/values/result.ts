/** The result of a value of the mapping for one record, and the form of values in messages. */
import { cellText, NumberText, type JsonValue } from '../../json.ts';
import type { Issue } from '../../model.ts';
import { shortened } from '../../report/words/visible.ts';

interface Why extends Pick<Issue, 'code' | 'message'> {
  readonly hint?: string | undefined;
}

/** Why a value could not be read. Returned, never thrown. */
export class ValueError {
  /** Stable, in snake_case: becomes the code of an issue. */
  readonly code: string;
  /** Contains the value, shortened; no full stop at the end. */
  readonly message: string;
  readonly hint: string | undefined;
  /** The value before any transform. */
  original: string | undefined = undefined;
  /** The position of the column that has the value, where it is one of several. */
  column: number | undefined = undefined;

  /** `hint`: instead of that of the issue. */
  constructor({ code, message, hint: own }: Why, hint = own) {
    this.code = code;
    this.message = message;
    this.hint = hint;
  }
}

/** Undefined is "no value"; within a list, null is, which preserves positions. */
export type Result = JsonValue | undefined | ValueError;

/** Records the value that caused an error, unless a more specific one is known already. */
export function withOriginal(error: ValueError, original: JsonValue | undefined): ValueError {
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
