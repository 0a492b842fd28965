/** What is known about a JSON value before it is parsed. */
export interface JsonShape {
  /** Number of levels of nested objects and arrays. */
  readonly deepest: number;
  /** Number of members of all its objects, repeated keys included. */
  readonly members: number;
  /** Whether it may contain numbers other than integers of up to 15 digits. */
  readonly rareNumbers: boolean;
}

/** The shape of a whole value. */
export function shapeOf(text: string): JsonShape {
  const bytes = Buffer.from(text);
  return new ValueScan().whole(bytes, 0, bytes.length);
}

/**
 * Follows a JSON value to its end, in chunks of UTF-8. It looks only at brackets, strings and signs of rare numbers; the
 * value is checked when it is parsed.
 */
export class ValueScan implements JsonShape {
  deepest = 0;
  members = 0;
  rareNumbers = false;
  /** Line feeds in the last chunk outside of strings, and the index of the last one. */
  lines = 0;
  lastLine = -1;
  #depth = 0;
  #digits = 0;
  #inString = false;
  #escaped = false;

  begin(): void {
    this.deepest = 0;
    this.members = 0;
    this.rareNumbers = false;
    this.#depth = 0;
    this.#digits = 0;
    this.#inString = false;
    this.#escaped = false;
  }

  /** The shape of a value that stands between two indexes; valid until the next value is scanned. */
  whole(bytes: Buffer, from: number, to: number): JsonShape {
    this.begin();
    this.follow(bytes, from, to);
    return this;
  }

  /** Returns where the object or array ends, or -1 if it does not end before `to`. */
  follow(bytes: Buffer, from: number, to: number): number {
    let inString = this.#inString;
    let escaped = this.#escaped;
    let depth = this.#depth;
    let digits = this.#digits;
    this.lines = 0;
    for (let index = from; index < to; index += 1) {
      const byte = bytes[index]!;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === 0x5c) escaped = true;
        else if (byte === 0x22) inString = false;
        continue;
      }
      if (byte >= 0x30 && byte <= 0x39) {
        digits += 1;
        continue;
      }
      // More digits than a number can keep, a fraction, a sign, an exponent.
      if (digits > 15 || byte === 0x2e || byte === 0x2d || byte === 0x45 || (byte === 0x65 && digits > 0)) {
        this.rareNumbers = true;
      }
      digits = 0;
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
          depth -= 1;
          if (depth === 0) return index + 1;
          break;
        case 0x3a:
          this.members += 1;
          break;
        case 0x0a:
          this.lines += 1;
          this.lastLine = index;
          break;
      }
    }
    this.#inString = inString;
    this.#escaped = escaped;
    this.#depth = depth;
    this.#digits = digits;
    return -1;
  }
}
