import type { JsonValue } from '../json.ts';

/** What a value could not become, and why. A value like any other: nothing on the way of a row throws. */
export class ValueError {
  /** snake_case, stable: becomes the code of an issue. */
  readonly code: string;
  /** Names the value, shortened; ends without a full stop. */
  readonly message: string;
  readonly hint: string | undefined;
  /** The value as it was read, before any transform; filled in where the error is first noticed. */
  original: string | undefined = undefined;

  constructor(code: string, message: string, hint?: string) {
    this.code = code;
    this.message = message;
    this.hint = hint;
  }
}

/** Undefined is "no value". Inside a list, null is: positions stay as they were read. */
export type Result = JsonValue | undefined | ValueError;
