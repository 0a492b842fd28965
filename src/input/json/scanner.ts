import type { UserError } from '../../errors.ts';
import { MAX_RECORD } from '../reading.ts';
import { formatPath, KeyedObject, ONE_PER_LINE, PathHints, type JsonPathStep, type RecordsPath } from './path.ts';
import { findSyntaxError, MAX_DEPTH, mistakeAt, mistakeWithin, ValueScan, type JsonShape } from './record.ts';

/** Where the mistake in a value without an end is looked for: mostly it is near its beginning. */
const SEARCHED = 1024 * 1024;

const TOO_DEEP = `this is nested more than ${MAX_DEPTH} levels deep`;
const INCOMPLETE = 'the export is incomplete: export it again';

/** A value, unparsed. */
interface Token extends JsonShape {
  readonly text: string;
  readonly line: number;
  /** In bytes, from 1. */
  readonly column: number;
}

/** One element of the array of records, or a value of the object of records. */
interface Element extends Token {
  readonly key?: string;
}

/** An object or array around the records whose end has not been read yet. */
interface OpenContainer {
  readonly isArray: boolean;
  /** How many steps of the path to the records lead to it; undefined if it is not on the path. */
  readonly steps: number | undefined;
  /** Its members are the records. */
  readonly isTarget: boolean;
  /** Key or index of the member that is being read. */
  step: JsonPathStep;
  readonly members: KeyedObject;
}

/** Yields where it needs the next chunk. */
type Walk<Found = void> = Generator<void, Found, void>;

const END = -1;
const [LINE_FEED, QUOTE, COMMA, COLON, LIST, OBJECT] = [0x0a, 0x22, 0x2c, 0x3a, 0x5b, 0x7b];

/**
 * Finds the elements of one array, or the values of one object, in a JSON text that arrives in chunks of UTF-8, in memory that does not
 * grow with the text. The text around them is checked strictly. Of a record only brackets and strings are followed: parsing it checks the
 * rest.
 */
export class RecordScanner {
  readonly #label: string;
  readonly #path: RecordsPath;
  readonly #onValue: (path: string, value: unknown) => void;
  readonly #hints: PathHints;
  readonly #stack: OpenContainer[] = [];
  readonly #walk = this.#document();
  #elements: Element[] = [];
  #found: 'array' | 'object' | undefined;

  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  #isEnd = false;
  /** Bytes before the chunk. */
  #offset = 0;
  #line = 1;
  #lineStart = 0;

  /** `onValue` is called with each value in the objects around the records: scalars as they are, objects as `{}`. */
  constructor(label: string, path: RecordsPath, onValue: (path: string, value: unknown) => void) {
    this.#label = label;
    this.#path = path;
    this.#onValue = onValue;
    this.#hints = new PathHints(path.steps);
  }

  /** Where the records are; undefined as long as none was met. */
  get found(): 'array' | 'object' | undefined {
    return this.#found;
  }

  /** The filled arrays and objects of records beside that of the records, as far as the text was read. */
  get arrays(): readonly string[] {
    return this.#hints.arrays;
  }

  /** Returns the elements that end in this chunk. Throws a `UserError` with its place. */
  scan(chunk: Buffer): readonly Element[] {
    this.#elements = [];
    this.#chunk = chunk;
    this.#at = 0;
    this.#walk.next();
    this.#offset += chunk.length;
    return this.#elements;
  }

  /** Call it after the last chunk. Throws a `UserError` if the text is cut off or does not have the array. */
  finish(): void {
    this.#isEnd = true;
    this.scan(Buffer.alloc(0));
  }

  *#document(): Walk {
    const first = yield* this.#next();
    if (first === END) throw this.#error('the file is empty', INCOMPLETE);
    const line = this.#line;
    yield* this.#value(0, 'value');
    const isOneLine = this.#line === line;
    const rest = yield* this.#next();
    if (rest !== END) {
      const another = isOneLine ? 'if the file has one object per line, set `format: ndjson`' : ONE_PER_LINE;
      const hint = first === OBJECT && rest === OBJECT ? another : 'remove it, or export the file again';
      throw this.#error('unexpected text after the end of the JSON', hint);
    }
    if (!this.#found) throw this.#hints.error(`${this.#label}:1:1: ${this.#hints.missing(kindOf(first)!)}`);
  }

  /** The next byte that is not blank; `END` behind the last one. */
  *#next(): Walk<number> {
    for (;;) {
      for (; this.#at < this.#chunk.length; this.#at += 1) {
        const byte = this.#chunk[this.#at]!;
        if (byte === LINE_FEED) this.#breakLines(1, this.#at);
        else if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return byte;
      }
      if (this.#isEnd && this.#stack.length > 0)
        throw this.#error('the file ends here, before the end of the JSON', INCOMPLETE);
      if (this.#isEnd) return END;
      yield;
    }
  }

  /** Reads a value that is no record. `steps`: how many of the path lead to it. `expected`: what may be there. */
  *#value(steps: number | undefined, expected: string): Walk {
    const byte = this.#chunk[this.#at]!;
    const kind = kindOf(byte);
    if (kind === undefined) throw this.#unexpected(expected);
    const { steps: path, isOne, mayBeKeyed } = this.#path;
    const [isArray, isObject, depth] = [byte === LIST, byte === OBJECT, this.#stack.length];
    const isLast = steps === path.length;
    if (isLast && isOne && isObject) {
      this.#found = 'object';
      this.#elements.push(yield* this.#token('record'));
      return;
    }
    const isTarget = isLast && !isOne && (isArray || (isObject && mayBeKeyed));
    if (isLast && !isTarget && depth > 0) throw this.#noRecords(kind);
    this.#stack.at(-1)?.members.add(this.#stack.at(-1)!.step, isObject);
    // What an array beside the path has is only checked.
    if ((!isArray && !isObject) || (steps === undefined && this.#stack.at(-1)?.isArray)) {
      const value = this.#parsed(yield* this.#token('value'));
      if (depth > 0) this.#report(value);
      return;
    }
    if (isTarget && this.#found && !this.#stack.some((outer) => outer.isArray))
      throw this.#error(`\`${formatPath(path)}\` occurs twice`);
    if (depth >= MAX_DEPTH) throw this.#error(TOO_DEEP);
    if (depth > 0 && isObject) this.#report({});
    if (isTarget && isArray) this.#found = 'array';
    yield* this.#container({ isArray, steps, isTarget, step: isArray ? 0 : '', members: new KeyedObject() });
  }

  *#container(own: OpenContainer): Walk {
    const { isArray, steps, isTarget, members } = own;
    const end = isArray ? 0x5d : 0x7d;
    this.#stack.push(own);
    this.#at += 1;
    let byte = yield* this.#next();
    const isFilled = byte !== end;
    for (let or = ` or ${isArray ? ']' : '}'}`; byte !== end; or = '') {
      if (!isArray) own.step = yield* this.#key(byte, `key${or}`);
      yield* isTarget
        ? this.#record(own, `value${or}`)
        : this.#value(this.#stepsTo(own), isArray ? `value${or}` : 'value');
      byte = yield* this.#next();
      if (byte === end) break;
      if (byte !== COMMA) throw this.#unexpected(`, or ${isArray ? ']' : '}'}`);
      this.#at += 1;
      if (isArray) own.step = Number(own.step) + 1;
      byte = yield* this.#next();
      if (byte === end) throw this.#unexpected(isArray ? 'value' : 'key');
    }
    this.#at += 1;
    this.#stack.pop();
    if (isTarget) this.#found ??= 'object';
    else if (isArray && isFilled && this.#stack.length > 0) this.#report([]);
    else if (!isArray && members.isKeyed && this.#isOutside()) this.#hints.addKeyed(this.#here());
    if (!isArray) this.#stack.at(-1)?.members.addRecord(members);
    if (steps !== undefined) this.#hints.addKeys(isArray ? [] : members.keys, this.#stack.length);
  }

  *#key(byte: number, expected: string): Walk<string> {
    if (byte !== QUOTE) throw this.#unexpected(expected);
    const key = this.#parsed(yield* this.#token('value')) as string;
    if ((yield* this.#next()) !== COLON) throw this.#unexpected(':');
    this.#at += 1;
    yield* this.#next();
    return key;
  }

  *#record({ isArray, step }: OpenContainer, expected: string): Walk {
    const byte = this.#chunk[this.#at]!;
    if (kindOf(byte) === undefined) throw this.#unexpected(expected);
    if (!isArray && byte === LIST) this.#report([]);
    if (!isArray && (byte === LIST || (byte !== OBJECT && !this.#found))) throw this.#noRecords('an object');
    this.#found ??= 'object';
    const token = yield* this.#token('record');
    this.#elements.push(isArray ? token : { ...token, key: String(step) });
  }

  /** How many steps lead to the member of a container that is being read. A key leads on through all elements of an array. */
  #stepsTo({ isArray, steps, step }: OpenContainer): number | undefined {
    const wanted = steps === undefined ? undefined : this.#path.steps[steps];
    if (wanted === step) return steps! + 1;
    return isArray && typeof wanted === 'string' ? steps : undefined;
  }

  /** Reports a value that is not inside an array. */
  #report(value: unknown): void {
    if (!this.#isOutside()) return;
    if (!Array.isArray(value)) this.#onValue(this.#here(), value);
    else if (!this.#stack.slice(0, -1).some(({ members }) => members.isKeyed)) this.#hints.addArray(this.#here());
  }

  #isOutside(): boolean {
    return this.#stack.length <= 4 && !this.#stack.some(({ isArray }) => isArray);
  }

  #here(): string {
    return formatPath(this.#stack.map(({ step }) => step));
  }

  /** The value that begins here. */
  *#token(kind: 'record' | 'value'): Walk<Token> {
    const [line, column, scan] = [this.#line, this.#column(), new ValueScan()];
    const parts: Buffer[] = [];
    let length = 0;
    const unfinished = (message: string, hint: string): UserError => {
      const text = Buffer.concat(parts).toString('utf8', 0, Math.min(length, SEARCHED));
      const { at } = scan.deepest <= MAX_DEPTH ? findSyntaxError(text) : { at: 0 };
      if (at > 0 && at < text.length) return this.#syntaxError({ text, line, column });
      return mistakeAt(this.#label, line, column, message, hint);
    };
    for (;;) {
      const from = this.#at;
      const isClosed = this.#follow(scan);
      parts.push(this.#chunk.subarray(from, this.#at));
      length += this.#at - from;
      if (isClosed || (this.#isEnd && this.#stack.length === 0 && !scan.isOpen)) break;
      if (this.#isEnd) throw unfinished(`the file ends before the end of the ${kind} that begins here`, INCOMPLETE);
      if (length > MAX_RECORD)
        throw unfinished(
          `the ${kind} that begins here is larger than 16 MiB`,
          'close every quote and bracket in it: at most 16 MiB are read as one',
        );
      yield;
    }
    const text = (parts.length === 1 ? parts[0]! : Buffer.concat(parts)).toString();
    return { text, line, column, deepest: scan.deepest, members: scan.members };
  }

  /** Goes on in a value, in this chunk; returns whether it ends there. */
  #follow(scan: ValueScan): boolean {
    const end = scan.follow(this.#chunk, this.#at);
    if (scan.lines > 0) this.#breakLines(scan.lines, scan.lastLine);
    this.#at = end < 0 ? this.#chunk.length : end;
    return end >= 0;
  }

  #breakLines(count: number, last: number): void {
    this.#line += count;
    this.#lineStart = this.#offset + last + 1;
  }

  #column(): number {
    return this.#offset + this.#at - this.#lineStart + 1;
  }

  #parsed(token: Token): unknown {
    if (token.deepest > MAX_DEPTH) throw mistakeAt(this.#label, token.line, token.column, TOO_DEEP);
    try {
      return JSON.parse(token.text);
    } catch {
      throw this.#syntaxError(token);
    }
  }

  #syntaxError({ text, line, column }: Pick<Token, 'text' | 'line' | 'column'>): UserError {
    const { syntax, at } = findSyntaxError(text);
    return mistakeWithin(this.#label, { text, line, column }, at, syntax);
  }

  #error(message: string, hint?: string): UserError {
    return mistakeAt(this.#label, this.#line, this.#column(), message, hint);
  }

  #noRecords(kind: string): UserError {
    const message = `\`${formatPath(this.#path.steps)}\` is ${kind}, not an array of records`;
    return this.#hints.error(`${this.#label}:${this.#line}:${this.#column()}: ${message}`);
  }

  #unexpected(wanted: string): UserError {
    const char = [...this.#chunk.toString('utf8', this.#at, this.#at + 4)][0] ?? '';
    return this.#error(`expected ${wanted}, but found ${JSON.stringify(char)}`);
  }
}

/** What a value that begins so is; undefined if none does. */
function kindOf(byte: number): string | undefined {
  if (byte === OBJECT) return 'an object';
  if (byte === LIST) return 'an array';
  if (byte === QUOTE) return 'a string';
  const isScalar = byte === 0x2d || (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a);
  return isScalar ? 'a single value' : undefined;
}
