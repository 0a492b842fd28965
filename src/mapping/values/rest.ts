/** `"*": rest` among the custom fields: what no other value of the entry reads, under its own name. */
import { isObject, type JsonObject, type JsonValue } from '../../json.ts';
import { uniqueNames, cellReader, readValue, type PathContext } from './path.ts';
import type { PathUse } from './compile-context.ts';
import type { RowContext } from './result.ts';

export const REST_KEY = '*';
export const REST = 'rest';

/** Names with the values that a record has under them. */
type Members = readonly (readonly [name: string, value: JsonValue])[];

interface RestOfRecord {
  readonly read: (row: RowContext) => Members;
  /** By name, the columns that it may read; for a tree the whole record or element. */
  readonly paths: readonly { readonly path: string; readonly column: number | undefined }[];
}

/**
 * `uses`: the columns that all other values of the entry read. Columns that only decide something are included, because nothing else shows
 * them.
 */
export function restOfRecord(frame: PathContext, hasEach: boolean, all: readonly PathUse[]): RestOfRecord {
  const uses = all.filter(({ decides }) => decides === undefined);
  return frame.source.kind === 'table' ? restOfTable(frame, uses) : restOfTree(frame, hasEach, uses);
}

function restOfTable({ source, missing }: PathContext, uses: readonly PathUse[]): RestOfRecord {
  const used = new Set(uses.map(({ column }) => column));
  const columns = uniqueNames(source.columns).flatMap((name, column) =>
    source.columns[column] === '' || used.has(column) ? [] : [{ name, column, read: cellReader(column, missing) }],
  );
  return {
    read: (row) =>
      columns.flatMap(({ name, read }) => {
        const value = read(row);
        return value === undefined ? [] : [[name, value] as const];
      }),
    paths: columns.map(({ name, column }) => ({ path: name, column })),
  };
}

/** Within `each`, the rest of the element. Objects are taken key by key: `address.city`. */
function restOfTree({ missing }: PathContext, hasEach: boolean, uses: readonly PathUse[]): RestOfRecord {
  const read = new Set<string>();
  const entered = new Set<string>();
  for (const { field, path } of uses) {
    const fromRecord = path.startsWith('$.');
    if (hasEach && (fromRecord || path.startsWith('..') || field === 'each')) continue;
    const own = fromRecord ? path.slice(2) : path;
    read.add(own);
    for (const { index, 0: mark } of own.matchAll(/[.[]/g)) (mark === '[' ? read : entered).add(own.slice(0, index));
  }
  const membersOf = (object: JsonObject, prefix: string): Members =>
    Object.entries(object).flatMap(([key, member]): Members => {
      const path = `${prefix}${key}`;
      if (read.has(path)) return [];
      if (isObject(member)) return membersOf(member, `${path}.`);
      if (entered.has(path) && Array.isArray(member)) return [];
      const value = readValue(member, missing);
      return value === undefined ? [] : [[path, value]];
    });
  return {
    read: ({ element }) => (isObject(element) ? membersOf(element, '') : []),
    paths: [{ path: hasEach ? '.' : '$', column: undefined }],
  };
}
