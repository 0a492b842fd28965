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

  /** Returns where the object, array or string ends, or -1 if it does not end in this chunk. */
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
    return -1;
  }
}
