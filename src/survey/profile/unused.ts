/** What a source has and the mapping does not read. */
import { isObject, recordsByKey, type JsonValue } from '../../json.ts';
import type { CompiledEntry } from '../../mapping/mapping.ts';
import { findColumn, uniqueNames } from '../../mapping/values/path.ts';
import { textOf } from '../../mapping/values/result.ts';
import type { RawRecord } from '../../model.ts';
import type { Source } from '../../input/source.ts';

/** The values of further paths are not counted. */
const MOST_PATHS = 500;

export interface Unused {
  /** `number`: of the record, from 1. */
  count(record: RawRecord, number: number): void;
  /** Columns or paths, how many values each has, and of paths the first record that has one. */
  found(): readonly (readonly [name: string, values: number, first: number])[];
}

/** Whether a text means that there is no value. */
export function isMissing(text: string, missing: ReadonlySet<string>): boolean {
  return missing.size > 0 && missing.has(text.trim());
}

export function unusedColumns(
  { columns }: Source,
  entries: readonly CompiledEntry[],
  lookedUp: ReadonlySet<string>,
  missing: ReadonlySet<string>,
): Unused {
  const used = new Set<number | undefined>([...lookedUp].map((name) => findColumn(columns, name)));
  for (const { column } of entries.flatMap(({ uses }) => uses)) used.add(column);
  const unused = uniqueNames(columns)
    .map((name, column) => ({ name, column, values: 0 }))
    .filter(({ column }) => columns[column] !== '' && !used.has(column));
  return {
    count(record) {
      for (const each of unused) {
        const text = (record as readonly string[])[each.column]?.trim();
        if (text && !isMissing(text, missing)) each.values += 1;
      }
    },
    found: () => unused.map(({ name, values }) => [name, values, 0]),
  };
}

/** The values at a path, without positions in lists, and below it. */
interface PathNode {
  readonly path: string;
  values: number;
  /** The number of the first record that has it. */
  readonly first: number;
  readonly members: Map<string, PathNode>;
}

export function unusedPaths(
  entries: readonly CompiledEntry[],
  lookedUp: ReadonlySet<string>,
  missing: ReadonlySet<string>,
): Unused {
  const plain = (path: string): string => path.replace(/\[\d+\]/g, '');
  const uses = entries.flatMap((entry) =>
    entry.uses.map(({ field, path, isRest }) => {
      const isEach = field === 'each';
      return { path: plain(isEach ? path : wholePath(path, entry.uses)), isRest, isEach };
    }),
  );
  const used = new Set([...lookedUp].map(plain));
  for (const { path, isRest } of uses) if (!isRest) used.add(path);
  // An object there may have its records by key.
  const lists = new Set(uses.flatMap(({ path, isEach }) => (isEach ? [path === '$' ? '' : path] : [])));
  // Everything below is used too. `each` is not: its elements have paths of their own.
  const whole = uses.flatMap(({ path, isEach }) => (isEach ? [] : [path]));
  const root: PathNode = { path: '', values: 0, first: 1, members: new Map() };
  let nodes = 0;

  const count = (value: RawRecord | JsonValue | undefined, node: PathNode, number: number): void => {
    if (value === undefined || value === null || value === '') return;
    const list = Array.isArray(value) ? value : lists.has(node.path) ? recordsByKey(value) : undefined;
    if (list) for (const element of list as readonly JsonValue[]) count(element, node, number);
    else if (isObject(value))
      for (const key of Object.keys(value)) count(value[key], member(node, key, number), number);
    else if (!isMissing(textOf(value) ?? '', missing)) node.values += 1;
  };
  const member = ({ path, members }: PathNode, key: string, first: number): PathNode => {
    const known = members.get(key);
    if (known) return known;
    const made = { path: path === '' ? key : `${path}.${key}`, values: 0, first, members: new Map() };
    if (nodes === MOST_PATHS) return made;
    members.set(key, made);
    nodes += 1;
    return made;
  };
  return {
    count: (record, number) => count(record, root, number),
    found: () =>
      used.has('$') || whole.includes('$')
        ? []
        : pathsBelow(root).filter(([path]) => !used.has(path) && !whole.some((other) => path.startsWith(`${other}.`))),
  };
}

function pathsBelow({ members }: PathNode): (readonly [string, number, number])[] {
  return [...members.values()].flatMap((node) => [
    ...(node.values > 0 ? [[node.path, node.values, node.first] as const] : []),
    ...pathsBelow(node),
  ]);
}

/** Converts a path within the `each` of an entry to one that starts at the record; paths cross lists without positions. */
export function wholePath(path: string, uses: CompiledEntry['uses']): string {
  if (path.startsWith('$.')) return path.slice(2);
  const each = uses.find(({ field }) => field === 'each')?.path;
  if (each === undefined || path === '$') return path;
  if (path.startsWith('..')) return `${each.replace(/[^.]*$/, '')}${path.slice(2)}`;
  return path === '.' ? each : `${each}.${path}`;
}
