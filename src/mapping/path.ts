/** Columns and paths: from the text in the mapping to a function that reads a record. */
import { isObject, type JsonValue } from '../json.ts';
import { didYouMean } from '../problem.ts';
import type { Source } from '../source/source.ts';
import { textOf } from './fault.ts';
import type { Scope } from './scope.ts';

/** Where paths are read: a source, the cells that mean no value there, and what an `each` around it iterates over. */
export interface Frame {
  readonly source: Source;
  readonly missing: ReadonlySet<string>;
  /** Within an `each`: whether its elements can be more than texts. */
  readonly elements?: 'texts' | 'anything';
}

export interface CompiledPath {
  readonly evaluate: (scope: Scope) => JsonValue | undefined;
  /** Position among the columns of a table. */
  readonly column?: number;
}

export interface PathMistake {
  readonly code: string;
  readonly message: string;
  readonly suggestion: string | undefined;
}

/** What stands for the whole record, and what leads to it from within an `each`. */
const RECORD = '$';
const FROM_RECORD = '$.';
const ELEMENT = '.';

export function compilePath(path: string, frame: Frame): CompiledPath | PathMistake {
  return frame.source.kind === 'table' ? tablePath(path, frame) : treePath(path, frame);
}

export function isMistake(compiled: CompiledPath | PathMistake): compiled is PathMistake {
  return 'message' in compiled;
}

function tablePath(path: string, { source, missing, elements }: Frame): CompiledPath | PathMistake {
  const fromRecord = !source.columns.includes(path) && path.startsWith(FROM_RECORD);
  const name = fromRecord ? path.slice(FROM_RECORD.length) : path;
  const column = source.columns.indexOf(name);
  if (elements !== undefined && !fromRecord && (column >= 0 || path === ELEMENT || elements === 'anything')) {
    if (column < 0) return { evaluate: elementReader(path, missing) };
    return {
      code: 'unknown_column',
      message: `within \`each\`, \`${name}\` is looked for in the element`,
      suggestion: `\`${FROM_RECORD}${name}\` reaches the column`,
    };
  }
  if (column < 0) {
    return {
      code: 'unknown_column',
      message: `source \`${source.name}\` has no column \`${name}\``,
      suggestion: didYouMean(name, source.columns) ?? `its columns are ${listed(source.columns)}`,
    };
  }
  if (source.duplicateColumns.has(name)) {
    return {
      code: 'duplicate_column',
      message: `source \`${source.name}\` has more than one column \`${name}\``,
      suggestion: 'rename one of them in the file: which is meant cannot be told',
    };
  }
  return { evaluate: cellReader(column, missing), column };
}

function listed(columns: readonly string[]): string {
  const shown = [...new Set(columns)].slice(0, 12).map((column) => `\`${column}\``);
  return shown.join(', ') + (columns.length > shown.length ? `, and ${columns.length - shown.length} more` : '');
}

function treePath(path: string, { missing }: Frame): CompiledPath {
  if (path === RECORD) return { evaluate: (scope) => scope.root };
  if (!path.startsWith(FROM_RECORD)) return { evaluate: elementReader(path, missing) };
  const read = pathReader(path.slice(FROM_RECORD.length));
  return { evaluate: (scope) => readValue(read(scope.root), missing) };
}

function elementReader(path: string, missing: ReadonlySet<string>): CompiledPath['evaluate'] {
  if (path === ELEMENT) return (scope) => readValue(scope.element, missing);
  const read = pathReader(path);
  return (scope) => readValue(read(scope.element), missing);
}

function cellReader(column: number, missing: ReadonlySet<string>): CompiledPath['evaluate'] {
  return (scope) => {
    const text = trimmed(scope.cells[column] ?? '');
    return text === '' || (missing.size > 0 && missing.has(text)) ? undefined : text;
  };
}

/** What `trim` gives, for less where a text begins and ends in ASCII that is no white space. */
function trimmed(text: string): string {
  return text !== '' && isInk(text.charCodeAt(0)) && isInk(text.charCodeAt(text.length - 1)) ? text : text.trim();
}

function isInk(code: number): boolean {
  return code > 0x20 && code < 0x80;
}

/** Texts trimmed; null, empty and missing values as undefined (within lists as null, so that positions stay). */
export function readValue(value: JsonValue | undefined, missing: ReadonlySet<string>): JsonValue | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') {
    const text = trimmed(value);
    return text === '' || (missing.size > 0 && missing.has(text)) ? undefined : text;
  }
  if (Array.isArray(value)) {
    const list = (value as readonly JsonValue[]).map((element) => readValue(element, missing) ?? null);
    return list.every((element) => element === null) ? undefined : list;
  }
  if (missing.size > 0 && missing.has(textOf(value) ?? '')) return undefined;
  return value;
}

interface Step {
  readonly key: string;
  readonly index: number | undefined;
  /** The path from here on as it was written, where that is longer than the key: keys may hold dots. */
  readonly rest: string | undefined;
}

/** `a.b[0].c`; what is not written like a path is one key. */
function parsePath(path: string): readonly Step[] {
  if (
    !/^[^.[\]]+(?:\[\d+\])*(?:\.[^.[\]]+(?:\[\d+\])*)*$/.test(path) &&
    !/^(?:\[\d+\])+(?:\.[^.[\]]+(?:\[\d+\])*)*$/.test(path)
  ) {
    return [{ key: path, index: undefined, rest: undefined }];
  }
  return [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map((match) => {
    const key = match[1] ?? match[0];
    const rest = path.slice(match.index);
    return { key, index: /^\d+$/.test(key) ? Number(key) : undefined, rest: rest === match[0] ? undefined : rest };
  });
}

/** What `walk` gives along a path, as a function. */
export function pathReader(path: string): (value: JsonValue | undefined) => JsonValue | undefined {
  const steps = parsePath(path);
  const { key, index } = steps[0]!;
  if (steps.length > 1 || index !== undefined || key in Object.prototype) return (value) => walk(value, steps, 0);
  return (value) => (isObject(value) ? value[key] : walk(value, steps, 0));
}

/** Follows a path; where it crosses a list without an index, it goes on in every element. */
function walk(value: JsonValue | undefined, steps: readonly Step[], from: number): JsonValue | undefined {
  let current = value;
  for (let position = from; position < steps.length; position += 1) {
    const step = steps[position]!;
    if (Array.isArray(current)) {
      const list = current as readonly JsonValue[];
      if (step.index === undefined) return walkEach(list, steps, position);
      current = list[step.index];
      continue;
    }
    if (!isObject(current)) return undefined;
    if (step.rest !== undefined && Object.hasOwn(current, step.rest)) return current[step.rest];
    if (!Object.hasOwn(current, step.key)) return undefined;
    current = current[step.key];
  }
  return current;
}

function walkEach(list: readonly JsonValue[], steps: readonly Step[], from: number): JsonValue | undefined {
  const found: JsonValue[] = [];
  for (const element of list) {
    const value = walk(element, steps, from);
    if (Array.isArray(value)) found.push(...(value as readonly JsonValue[]));
    else if (value !== undefined && value !== null) found.push(value);
  }
  return found.length === 0 ? undefined : found;
}
