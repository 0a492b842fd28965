import type { JsonValue } from '../json.ts';

/** Why a value could not be read. Returned, never thrown. */
export class ValueError {
  /** Stable, in snake_case: becomes the code of an issue. */
  readonly code: string;
  /** Contains the value, shortened; no full stop at the end. */
  readonly message: string;
  readonly hint: string | undefined;
  /** The value before any transform. */
  original: string | undefined = undefined;

  constructor(code: string, message: string, hint?: string) {
    this.code = code;
    this.message = message;
    this.hint = hint;
  }
}

/** Undefined is "no value"; within a list, null is, which preserves positions. */
export type Result = JsonValue | undefined | ValueError;
