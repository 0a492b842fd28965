/** A text is not JSON, or not the JSON that was expected: where and why. */
export class JsonError extends Error {
  readonly line: number;
  readonly column: number;
  readonly hint: string | undefined;
  /** Where the arrays of the text are, if the one that was expected is not there. */
  readonly arrays: readonly string[];

  constructor(message: string, line: number, column: number, hint?: string, arrays: readonly string[] = []) {
    super(message);
    this.line = line;
    this.column = column;
    this.hint = hint;
    this.arrays = arrays;
  }
}

/** An error at the index `at` of a text that begins at the given line and column. */
export function errorWithin(text: string, at: number, message: string, line: number, column: number): JsonError {
  const before = text.slice(0, at);
  const breaks = before.split('\n').length - 1;
  const within = at - (before.lastIndexOf('\n') + 1);
  return new JsonError(message, line + breaks, breaks > 0 ? within + 1 : column + within);
}
