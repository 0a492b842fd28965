import { KeyedObject } from './keyed.ts';
import { formatPath, MOST_KEYS, ONE_PER_LINE, PathHints, type JsonPathStep } from './path.ts';
import { errorWithin, findSyntaxError, JsonError, MAX_DEPTH, ValueScan, type JsonShape } from './record.ts';
import { MAX_RECORD } from '../reading.ts';

/** Where the mistake in a value without an end is looked for: mostly it is near its beginning. */
const SEARCHED = 1024 * 1024;

const INCOMPLETE = 'the export is incomplete: export it again';

/** One element of the array of records, or a value of the object of records, unparsed. */
interface Element extends JsonShape {
  readonly text: string;
  readonly key?: string;
  readonly line: number;
  /** In bytes, from 1. */
  readonly column: number;
}

/** An object or array around the records whose end has not been read yet. */
interface OpenContainer {
  readonly array: boolean;
  /** How many steps of the path to the records lead to it; undefined if it is not on the path. */
  readonly steps: number | undefined;
  readonly target: boolean;
  /** Key or index of the member that is being read. */
  step: JsonPathStep;
  /** The first keys, for hints. */
  readonly keys: string[];
  /** What its members show: records by their keys, or something else. */
  readonly members: KeyedObject;
}

/** What is read: what surrounds the records, or a token. Strings, objects and arrays say where they end. */
type Mode = 'structure' | 'scalar' | 'closed';
type Expect = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end' | 'nothing';

/**
 * Finds the elements of one array, or the values of one object, in a JSON text that arrives in chunks of UTF-8, in memory that does not grow with the
 * text. The text around them is checked strictly. Inside an element, only brackets and strings are followed, because parsing the
 * element checks the rest.
 */
export class ElementScanner {
  readonly #path: readonly JsonPathStep[];
  readonly #isOne: boolean;
  readonly #onValue: (path: string, value: unknown) => void;
  readonly #stack: OpenContainer[] = [];
  #mode: Mode = 'structure';
  #expect: Expect = 'value';
  #elements: Element[] = [];
  #found: 'array' | 'object' | undefined;
  readonly #mayBeKeyed: boolean;
  readonly #hints: PathHints;
  #top = '';
  #topLine = 1;
  /** The top level ended on the line on which it began. */
  #isOneLine = true;

  #offset = 0;
  #line = 1;
  #lineStart = 0;

  /** The token that is being read: its parts in earlier chunks, and where it begins in this chunk and in the file. */
  #parts: Buffer[] = [];
  #length = 0;
  #start = 0;
  #tokenLine = 1;
  #tokenColumn = 1;
  #scan = new ValueScan();
  /** The token is the one record that the path leads to. */
  #isRecord = false;

  /**
   * `isOne`: the path leads to one record. `mayBeKeyed`: it may lead to an object of records. `onValue` is called with each value in the
   * objects around the records: scalars as they are, objects as `{}`.
   */
  constructor(
    { path, isOne, mayBeKeyed }: { path: readonly JsonPathStep[]; isOne: boolean; mayBeKeyed: boolean },
    onValue: (path: string, value: unknown) => void,
  ) {
    this.#path = path;
    this.#isOne = isOne;
    this.#mayBeKeyed = mayBeKeyed;
    this.#hints = new PathHints(path);
    this.#onValue = onValue;
  }

  /** Where the records are; undefined as long as none was met. */
  get found(): 'array' | 'object' | undefined {
    return this.#found;
  }

  /** Returns the elements that end in this chunk. Throws a `JsonError`. */
  scan(chunk: Buffer): Element[] {
    this.#elements = [];
    this.#start = 0;
    let index = 0;
    while (index < chunk.length) {
      switch (this.#mode) {
        case 'structure':
          index = this.#structure(chunk, index);
          break;
        case 'scalar':
          index = this.#scalar(chunk, index);
          break;
        case 'closed':
          index = this.#closed(chunk, index);
          break;
      }
    }
    if (this.#mode !== 'structure') {
      const part = chunk.subarray(this.#start);
      this.#parts.push(part);
      this.#length += part.length;
      if (this.#length > MAX_RECORD) {
        this.#unfinished(
          `the ${this.#tokenKind()} that begins here is larger than 16 MiB`,
          'close every quote and bracket in it: at most 16 MiB are read as one',
        );
      }
    }
    this.#offset += chunk.length;
    return this.#elements;
  }

  /** The filled arrays and objects of records beside that of the records, as far as the text was read. */
  get arrays(): readonly string[] {
    return this.#hints.arrays;
  }

  /** Call it after the last chunk. Throws a `JsonError` if the text is cut off or does not have the array. */
  finish(): void {
    const empty = Buffer.alloc(0);
    this.#start = 0;
    if (this.#mode === 'scalar' && this.#stack.length === 0) this.#endToken(empty, 0);
    if (this.#mode !== 'structure') {
      this.#unfinished(`the file ends before the end of the ${this.#tokenKind()} that begins here`, INCOMPLETE);
    }
    if (this.#top === '') throw this.#error('the file is empty', 0, INCOMPLETE);
    if (this.#stack.length > 0) throw this.#error('the file ends here, before the end of the JSON', 0, INCOMPLETE);
    if (!this.#found) throw this.#hints.missing(this.#top);
  }

  #structure(chunk: Buffer, index: number): number {
    const byte = chunk[index]!;
    if (byte === 0x0a) {
      this.#line += 1;
      this.#lineStart = this.#offset + index + 1;
      return index + 1;
    }
    if (byte === 0x20 || byte === 0x0d || byte === 0x09) return index + 1;
    const container = this.#stack.at(-1);
    const mayClose = this.#expect === 'value or ]' || this.#expect === 'key or }' || this.#expect === ', or end';
    if (container && mayClose && byte === (container.array ? 0x5d : 0x7d)) {
      this.#close(container);
      return index + 1;
    }
    switch (this.#expect) {
      case 'value':
      case 'value or ]':
        return this.#value(chunk, index, container);
      case 'key':
      case 'key or }':
        if (byte === 0x22) return this.#beginToken('closed', index);
        break;
      case ':':
        if (byte === 0x3a) {
          this.#expect = 'value';
          return index + 1;
        }
        break;
      case ', or end':
        if (byte === 0x2c && container) {
          if (container.array) container.step = Number(container.step) + 1;
          this.#expect = container.array ? 'value' : 'key';
          return index + 1;
        }
        break;
      case 'nothing':
        throw this.#error(
          'unexpected text after the end of the JSON',
          index,
          this.#top === 'an object' && byte === 0x7b
            ? this.#isOneLine
              ? 'if the file has one object per line, set `format: ndjson`'
              : ONE_PER_LINE
            : 'remove it, or export the file again',
        );
    }
    throw this.#unexpected(chunk, index);
  }

  #value(chunk: Buffer, index: number, container: OpenContainer | undefined): number {
    const byte = chunk[index]!;
    const opens = byte === 0x7b || byte === 0x5b;
    if (
      !opens &&
      byte !== 0x22 &&
      byte !== 0x2d &&
      !(byte >= 0x30 && byte <= 0x39) &&
      !(byte >= 0x61 && byte <= 0x7a)
    ) {
      throw this.#unexpected(chunk, index);
    }
    const mode = opens || byte === 0x22 ? 'closed' : 'scalar';
    const isRecord = container?.target && (container.array || byte === 0x7b || (byte !== 0x5b && this.#found));
    if (isRecord) {
      this.#found ??= 'object';
      return this.#beginToken(mode, index);
    }
    const kind =
      byte === 0x7b ? 'an object' : byte === 0x5b ? 'an array' : byte === 0x22 ? 'a string' : 'a single value';
    if (!container) {
      this.#top = kind;
      this.#topLine = this.#line;
    }
    const depth = this.#stack.length;
    const steps = container ? this.#stepsTo(container) : 0;
    const last = steps === this.#path.length;
    if (last && this.#isOne && byte === 0x7b) {
      this.#found = 'object';
      this.#isRecord = true;
      return this.#beginToken(mode, index);
    }
    const target = last && !this.#isOne && (byte === 0x5b || (byte === 0x7b && this.#mayBeKeyed));
    if (container?.target) {
      if (byte === 0x5b) this.#report([]);
      throw this.#noRecords('an object', index);
    }
    if (last && !target && depth > 0) throw this.#noRecords(kind, index);
    container?.members.add(container.step, byte === 0x7b);
    if (!opens) return this.#beginToken(mode, index);
    if (target && this.#found && !this.#stack.some(({ array }) => array))
      throw this.#error(`\`${formatPath(this.#path)}\` occurs twice`, index);
    if (depth >= MAX_DEPTH) throw this.#error(`this is nested more than ${MAX_DEPTH} levels deep`, index);
    if (depth > 0 && byte === 0x7b) this.#report({});
    if (target && byte === 0x5b) this.#found = 'array';
    const step = byte === 0x5b ? 0 : '';
    this.#stack.push({ array: byte === 0x5b, steps, target, step, keys: [], members: new KeyedObject() });
    this.#expect = byte === 0x5b ? 'value or ]' : 'key or }';
    return index + 1;
  }

  /** How many steps lead to the member of a container that is being read. A key leads on through all elements of an array. */
  #stepsTo({ array, steps, step }: OpenContainer): number | undefined {
    if (steps === undefined) return undefined;
    if (this.#path[steps] === step) return steps + 1;
    return array && typeof this.#path[steps] === 'string' ? steps : undefined;
  }

  #noRecords(kind: string, index: number): JsonError {
    const message = `\`${formatPath(this.#path)}\` is ${kind}, not an array of records`;
    return this.#hints.error(message, this.#line, this.#column(index));
  }

  #close(container: OpenContainer): void {
    const isFilled = this.#expect === ', or end';
    const { array, target, members } = container;
    this.#stack.pop();
    if (target) this.#found ??= 'object';
    else if (array && isFilled && this.#stack.length > 0) this.#report([]);
    else if (!array && members.isKeyed && this.#isOutside()) this.#hints.addKeyed(this.#here());
    if (!array) this.#stack.at(-1)?.members.addRecord(members);
    if (container.steps !== undefined) this.#hints.addKeys(container.keys, this.#stack.length);
    this.#expect = this.#stack.length > 0 ? ', or end' : 'nothing';
    this.#isOneLine = this.#line === this.#topLine;
  }

  /** Reports a value that is not inside an array. */
  #report(value: unknown): void {
    if (!this.#isOutside()) return;
    if (!Array.isArray(value)) this.#onValue(this.#here(), value);
    else if (!this.#stack.slice(0, -1).some(({ members }) => members.isKeyed)) this.#hints.addArray(this.#here());
  }

  #isOutside(): boolean {
    return this.#stack.length <= 4 && !this.#stack.some(({ array }) => array);
  }

  #here(): string {
    return formatPath(this.#stack.map(({ step }) => step));
  }

  #beginToken(mode: Mode, index: number): number {
    this.#mode = mode;
    this.#parts = [];
    this.#length = 0;
    this.#start = index;
    this.#tokenLine = this.#line;
    this.#tokenColumn = this.#offset + index - this.#lineStart + 1;
    this.#scan = new ValueScan();
    return index;
  }

  #scalar(chunk: Buffer, from: number): number {
    let index = from;
    for (; index < chunk.length; index += 1) {
      const byte = chunk[index]!;
      if (byte <= 0x20 || byte === 0x2c || byte === 0x5d || byte === 0x7d || byte === 0x3a) {
        return this.#endToken(chunk, index);
      }
    }
    return index;
  }

  #closed(chunk: Buffer, from: number): number {
    const scan = this.#scan;
    const end = scan.follow(chunk, from);
    if (scan.lines > 0) {
      this.#line += scan.lines;
      this.#lineStart = this.#offset + scan.lastLine + 1;
    }
    return end < 0 ? chunk.length : this.#endToken(chunk, end);
  }

  #endToken(chunk: Buffer, end: number): number {
    const text = this.#token(chunk, end);
    this.#mode = 'structure';
    this.#parts = [];
    const container = this.#stack.at(-1);
    const isKey = this.#expect === 'key' || this.#expect === 'key or }';
    if (this.#isRecord || (container?.target && !isKey)) {
      this.#elements.push({
        text,
        ...(container?.target && !container.array && { key: String(container.step) }),
        line: this.#tokenLine,
        column: this.#tokenColumn,
        deepest: this.#scan.deepest,
        members: this.#scan.members,
      });
      this.#isRecord = false;
      this.#expect = container ? ', or end' : 'nothing';
      return end;
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw this.#errorIn(text);
    }
    if (isKey) {
      container!.step = value as string;
      if (container!.steps !== undefined && container!.keys.length < MOST_KEYS) container!.keys.push(value as string);
      this.#expect = ':';
      return end;
    }
    if (container) this.#report(value);
    this.#expect = container ? ', or end' : 'nothing';
    return end;
  }

  #token(chunk: Buffer, end: number): string {
    if (this.#parts.length === 0) return chunk.toString('utf8', this.#start, end);
    return Buffer.concat([...this.#parts, chunk.subarray(this.#start, end)]).toString('utf8');
  }

  #error(message: string, index: number, hint?: string): JsonError {
    return new JsonError(message, this.#line, this.#column(index), hint);
  }

  #column(index: number): number {
    return this.#offset + index - this.#lineStart + 1;
  }

  #unexpected(chunk: Buffer, index: number): JsonError {
    const char = [...chunk.toString('utf8', index, index + 4)][0] ?? '';
    const wanted = this.#expect === ', or end' ? (this.#stack.at(-1)?.array ? ', or ]' : ', or }') : this.#expect;
    return this.#error(`expected ${wanted}, but found ${JSON.stringify(char)}`, index);
  }

  /** The last token is not valid JSON. */
  #errorIn(text: string): JsonError {
    const { syntax, at } = findSyntaxError(text);
    return errorWithin(text, at, syntax, this.#tokenLine, this.#tokenColumn);
  }

  /** The last token has no end: there is a mistake in it, or the file is cut off. */
  #unfinished(message: string, hint: string): never {
    const text = Buffer.concat(this.#parts).toString('utf8', 0, Math.min(this.#length, SEARCHED));
    if (this.#scan.deepest <= MAX_DEPTH) {
      const { at } = findSyntaxError(text);
      if (at > 0 && at < text.length) throw this.#errorIn(text);
    }
    throw new JsonError(message, this.#tokenLine, this.#tokenColumn, hint);
  }

  #tokenKind(): string {
    return this.#isRecord || this.#stack.at(-1)?.target ? 'record' : 'value';
  }
}
