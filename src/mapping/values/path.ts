/** Columns and paths: from the text in the mapping to a function that reads a record. */
import { isObject, NumberInText, parseJson, recordsByKey, type JsonObject, type JsonValue } from '../../json.ts';
import { didYouMean, Problem, quoted } from '../../problem.ts';
import type { Source } from '../../input/source.ts';
import { textOf, type RowContext } from './result.ts';

/** Where paths are read: the source, its texts that mean "no value", and the elements of an enclosing `each`. */
export interface PathContext {
  readonly source: Source;
  readonly missing: ReadonlySet<string>;
  /** Within an `each`: whether its elements can be more than texts. */
  readonly elements?: 'texts' | 'anything';
  /** Lists and objects are read as they are: no element is trimmed or left out. */
  readonly verbatim?: boolean;
  /** Of columns that share a name: the position of the one that is meant. */
  readonly meant?: ReadonlyMap<string, number>;
}

interface CompiledPath {
  readonly evaluate: (row: RowContext) => JsonValue | undefined;
  /** Position among the columns of a table. */
  readonly column?: number | undefined;
  /** The column of a table, if it is written otherwise than in the mapping. */
  readonly header?: string | undefined;
}

/** The column that the export lacks. */
interface LackingColumn {
  readonly lacks: string;
  readonly hint: string;
}

/** The whole record, and a path into it from within `each`. */
const RECORD = '$';
const FROM_RECORD = '$.';
const ELEMENT = '.';
/** What has the list of the element, and a path into it. */
const HOLDER = '..';

export function compilePath(path: string, frame: PathContext): CompiledPath | LackingColumn | Problem {
  return frame.source.kind === 'table' ? tablePath(path, frame) : treePath(path, frame);
}

function tablePath(path: string, frame: PathContext): CompiledPath | LackingColumn | Problem {
  const { source, missing, elements } = frame;
  const { columns } = source;
  const fromRecord = !columns.includes(path) && path.startsWith(FROM_RECORD);
  const name = fromRecord ? path.slice(FROM_RECORD.length) : path;
  const isOfElement = elements !== undefined && !fromRecord;
  const column = frame.meant?.get(name) ?? (isOfElement ? exactColumn(columns, name) : findColumn(columns, name));
  if (isOfElement && (column >= 0 || path === ELEMENT || elements === 'anything')) {
    if (column < 0) return treePath(path, frame);
    const message = `within \`each\`, \`${name}\` refers to the element, not to the row`;
    return new Problem({ code: 'unknown_column', message, hint: `use \`${FROM_RECORD}${name}\` for the column` });
  }
  if (column < 0) return { lacks: name, hint: didYouMean(name, columns) ?? `available columns: ${listed(columns)}` };
  if (source.duplicateColumns.has(name) && !frame.meant?.has(name)) {
    const message = `source \`${source.name}\` has more than one column \`${name}\``;
    const ways = positions(columns, name).map((_, index) => `\`${name}#${index + 1}\``);
    const hint = `name one by its position, ${ways.join(' or ')}, or rename one of them in the file`;
    return new Problem({ code: 'duplicate_column', message, hint });
  }
  const read = cellReader(column, missing);
  const header = columns[column]!;
  const isFolded = header !== name && foldedHeader(header) === foldedHeader(name);
  // The separators of a mapping are those of texts: a sheet's own number is one wherever it goes.
  const evaluate: CompiledPath['evaluate'] = (row) => {
    const text = read(row);
    return typeof text === 'string' && row.decimals?.includes(column) ? new NumberInText(text, text) : text;
  };
  return { evaluate, column, header: isFolded ? header : undefined };
}

function listed(columns: readonly string[]): string {
  const shown = [...new Set(columns)].slice(0, 12);
  return quoted(shown) + (columns.length > shown.length ? `, and ${columns.length - shown.length} more` : '');
}

function treePath(path: string, { missing, verbatim = false }: PathContext): CompiledPath {
  if (path === RECORD) return { evaluate: (row) => row.root };
  const finish = (value: JsonValue | undefined): JsonValue | undefined =>
    verbatim && Array.isArray(value) ? (value as JsonValue) : readValue(value, missing);
  if (path.startsWith(HOLDER)) {
    const inHolder = path === HOLDER ? (value: JsonValue | undefined) => value : pathReader(path.slice(HOLDER.length));
    return { evaluate: (row) => finish(inHolder(row.holder)) };
  }
  if (path === ELEMENT) return { evaluate: (row) => finish(row.element) };
  const isFromRecord = path.startsWith(FROM_RECORD);
  const read = pathReader(isFromRecord ? path.slice(FROM_RECORD.length) : path);
  return { evaluate: (row) => finish(read(isFromRecord ? row.root : row.element)) };
}

/** Marks around a value that nobody sees: directions of writing, joiners, byte-order marks. */
const MARKS =
  /^[\s\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f]+|[\s\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f]+$/g;
/** Latin, Greek, Cyrillic, Arabic and Hebrew letters come before; most values begin and end with one. */
const FIRST_MARK = 0x61c;

function trimmed(value: string): string {
  const text = value.trim();
  const isPlain = text.charCodeAt(0) < FIRST_MARK && text.charCodeAt(text.length - 1) < FIRST_MARK;
  return isPlain || text === '' ? text : text.replace(MARKS, '');
}

/** The text of a cell, trimmed; undefined where it is empty or means "no value". */
export function cellReader(column: number, missing: ReadonlySet<string>): CompiledPath['evaluate'] {
  // Looking up a text that was just read means hashing it.
  const hasMissing = missing.size > 0;
  return (row) => {
    const text = trimmed(row.cells[column] ?? '');
    return text === '' || (hasMissing && missing.has(text)) ? undefined : text;
  };
}

/** Texts trimmed; null, empty and missing values as undefined (within lists as null, so that positions stay). */
export function readValue(value: JsonValue | undefined, missing: ReadonlySet<string>): JsonValue | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') {
    const text = trimmed(value);
    return text === '' || missing.has(text) ? undefined : text;
  }
  if (Array.isArray(value)) {
    const list = (value as readonly JsonValue[]).map((element) => readValue(element, missing) ?? null);
    return list.every((element) => element === null) ? undefined : list;
  }
  return missing.has(textOf(value) ?? '') ? undefined : value;
}

interface PathStep {
  readonly key: string;
  readonly index: number | undefined;
  /** The path from here on as it was written, where that is longer than the key: keys may hold dots. */
  readonly rest: string | undefined;
}

/** `a.b[0].c`; text that is not a path is a single key. */
function parsePath(path: string): readonly PathStep[] {
  if (!/^(?:[^.[\]]+|\[\d+\])(?:\[\d+\]|\.[^.[\]]+)*$/.test(path))
    return [{ key: path, index: undefined, rest: undefined }];
  return [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map((match) => {
    const key = match[1] ?? match[0];
    const rest = path.slice(match.index);
    return { key, index: /^\d+$/.test(key) ? Number(key) : undefined, rest: rest === match[0] ? undefined : rest };
  });
}

/** An element of a list, and what has the list. */
export type ListElement = Pick<RowContext, 'element' | 'holder'>;

/** The elements of a list by its path in a tree; undefined if the list is another value. */
export function elementReader(
  path: unknown,
  { kind }: Source,
  missing: ReadonlySet<string>,
): ((row: RowContext) => readonly ListElement[]) | undefined {
  if (kind !== 'tree' || typeof path !== 'string' || /^[$.]/.test(path)) return undefined;
  const steps = parsePath(path);
  return ({ root }) => [...elementsAt(root, steps, 0, root, missing)];
}

function* elementsAt(
  value: JsonValue | undefined,
  steps: readonly PathStep[],
  from: number,
  holder: JsonValue | undefined,
  missing: ReadonlySet<string>,
): Generator<ListElement> {
  const step = steps[from];
  if (step === undefined) {
    for (const element of elementsOf(readValue(value, missing))) yield { element, holder };
  } else if (Array.isArray(value)) {
    const list = value as readonly JsonValue[];
    if (step.index !== undefined) yield* elementsAt(list[step.index], steps, from + 1, list[step.index], missing);
    else for (const each of list) yield* elementsAt(each, steps, from, each, missing);
  } else if (isObject(value)) {
    const isRest = step.rest !== undefined && Object.hasOwn(value, step.rest);
    if (isRest) yield* elementsAt(value[step.rest], steps, steps.length, holder, missing);
    else if (Object.hasOwn(value, step.key)) yield* elementsAt(value[step.key], steps, from + 1, holder, missing);
  }
}

/** A single element counts as a list of one; nested lists are flattened. An object of objects is a list of these. */
export function elementsOf(value: JsonValue | undefined): readonly JsonValue[] {
  return recordsByKey(value) ?? flattened(value);
}

function flattened(value: JsonValue | undefined): readonly JsonValue[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? (value as readonly JsonValue[]).flatMap(flattened) : [value];
}

export function pathReader(path: string): (value: JsonValue | undefined) => JsonValue | undefined {
  const steps = parsePath(path);
  return (value) => walk(value, steps, 0);
}

/** Follows a path. At a list without an index, it continues in every element. */
function walk(value: JsonValue | undefined, steps: readonly PathStep[], from: number): JsonValue | undefined {
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

function walkEach(list: readonly JsonValue[], steps: readonly PathStep[], from: number): JsonValue | undefined {
  const found: JsonValue[] = [];
  for (const element of list) {
    const value = walk(element, steps, from);
    // One by one: a list may be longer than a call can have arguments.
    if (Array.isArray(value)) for (const each of value as readonly JsonValue[]) found.push(each);
    else if (value !== undefined && value !== null) found.push(value);
  }
  return found.length === 0 ? undefined : found;
}

/** The column that a value reads, among those of a table. */
export function columnOf(path: unknown, { source: { columns }, meant }: PathContext): number | undefined {
  if (typeof path !== 'string') return undefined;
  const name = columns.includes(path) ? path : path.replace(/^\$\./, '');
  const column = meant?.get(name) ?? findColumn(columns, name);
  return column < 0 ? undefined : column;
}

/** `Email#2` is the second of the columns named `Email`. */
const BY_POSITION = /^(.*)#([1-9]\d*)$/;

/**
 * The index of the column that a mapping means: by its name, else by its position among those of one name, else the only one whose name
 * differs in nothing but letter case, spaces and `_`; -1 if none.
 */
export function findColumn(columns: readonly string[], name: string): number {
  const index = exactColumn(columns, name);
  if (index >= 0) return index;
  const wanted = foldedHeader(name);
  const alike = columns.flatMap((column, at) => (foldedHeader(column) === wanted ? [at] : []));
  return alike.length === 1 ? alike[0]! : -1;
}

function exactColumn(columns: readonly string[], name: string): number {
  const index = columns.indexOf(name);
  const [, shared, nth] = BY_POSITION.exec(name) ?? [];
  if (index >= 0 || shared === undefined) return index;
  return positions(columns, shared)[Number(nth) - 1] ?? -1;
}

/** Equal for headers that are compared as one: `First Name`, `firstname`, `FIRST_NAME`. */
function foldedHeader(name: string): string {
  return name
    .normalize()
    .replace(/[\s_]+/g, '')
    .toLowerCase();
}

/** A name for each column that no other one has. */
export function uniqueNames(columns: readonly string[]): readonly string[] {
  const all = new Set(columns);
  const seen = new Map<string, number>();
  return columns.map((name) => {
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    let unique = name;
    while (nth > 1 && all.has(unique)) unique += `#${nth}`;
    return unique;
  });
}

/** The cells of a stored row by the names that a mapping has for their columns; null where nothing could be read. */
export function namedCells({
  raw,
  columns,
}: {
  readonly raw: string | null;
  readonly columns: string;
}): JsonObject | null {
  const record = raw === null ? null : parseJson(raw);
  if (record === null || isObject(record)) return record;
  const names = uniqueNames(JSON.parse(columns) as string[]);
  return Object.fromEntries((record as readonly string[]).map((cell, at) => [names[at] ?? `column ${at + 1}`, cell]));
}

function positions(columns: readonly string[], name: string): readonly number[] {
  return columns.flatMap((column, index) => (column === name ? [index] : []));
}
