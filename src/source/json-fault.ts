/** Where and why a text is not the JSON that was expected. */
export class JsonFault extends Error {
  readonly line: number;
  readonly column: number;
  readonly hint: string | undefined;

  constructor(message: string, line: number, column: number, hint?: string) {
    super(message);
    this.line = line;
    this.column = column;
    this.hint = hint;
  }
}

/** A fault at a place in a text that begins at the given line and column. */
export function faultWithin(text: string, at: number, message: string, line: number, column: number): JsonFault {
  const before = text.slice(0, at);
  const breaks = before.split('\n').length - 1;
  const within = at - (before.lastIndexOf('\n') + 1);
  return new JsonFault(message, line + breaks, breaks > 0 ? within + 1 : column + within);
}
