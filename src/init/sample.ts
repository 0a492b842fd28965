/** The beginning of an export: the cells of its records, and of the lists in them. */
import { isObject, type JsonValue } from '../json.ts';
import { textOf } from '../mapping/result.ts';
import type { Source } from '../source/source.ts';

/** Records read of an export. */
const MAX_RECORDS = 20_000;
/** Characters of a value that are kept: enough to tell what a text is. */
const MAX_LENGTH = 500;
/** SQLite allows 2,000 columns in a table. */
export const MAX_COLUMNS = 1900;

export type Cell = string | number | null;

/** The records, or the elements of a list inside them. */
export interface RawTable {
  /** Path of the list; undefined for the records themselves. */
  readonly list: string | undefined;
  /** The columns, and the places of their cells. */
  readonly names: Map<string, number>;
  /** The number of the record, and its cells by column. */
  readonly rows: Cell[][];
}

export interface ExportSample {
  /** The records first. */
  readonly tables: readonly RawTable[];
  /** All records were read. */
  readonly whole: boolean;
}

/** Throws the `UserError` of a source that cannot be read with its settings. */
export async function readSample(source: Source): Promise<ExportSample> {
  const main: RawTable = { list: undefined, names: new Map(), rows: [] };
  const lists = new Map<string, RawTable>();
  const names = source.columns.map((name, index) => nameOf(source, name, index));
  for (const name of names) columnAt(main, name);
  let whole = true;
  for await (const batch of source.batches()) {
    if (main.rows.length >= MAX_RECORDS) {
      whole = false;
      break;
    }
    for (const item of batch) {
      if (item.kind !== 'row') continue;
      const row: Cell[] = [main.rows.length];
      main.rows.push(row);
      if (source.kind === 'tree') collect(item.raw, '', { table: main, row, lists });
      else (item.raw as readonly string[]).forEach((cell, index) => put(main, row, names[index] ?? '', cell));
    }
  }
  return { tables: [main, ...lists.values()], whole };
}

/** A header that occurs several times is told apart by its position, as in the mapping. */
function nameOf({ columns, duplicateColumns }: Source, name: string, index: number): string {
  if (!duplicateColumns.has(name)) return name;
  return `${name}#${columns.slice(0, index + 1).filter((each) => each === name).length}`;
}

interface Into {
  readonly table: RawTable;
  readonly row: Cell[];
  /** Undefined inside a list: lists in lists stay whole. */
  readonly lists?: Map<string, RawTable> | undefined;
}

/** The values of a record by path. The elements of a list become rows of a table of their own, scalars in the column `.`. */
function collect(value: JsonValue, path: string, into: Into): void {
  if (Array.isArray(value)) {
    if (!into.lists) return put(into.table, into.row, path === '' ? '.' : path, '[…]');
    const table = into.lists.get(path) ?? { list: path, names: new Map<string, number>(), rows: [] };
    into.lists.set(path, table);
    for (const element of value as readonly JsonValue[]) {
      const row: Cell[] = [into.row[0]!];
      table.rows.push(row);
      collect(element, '', { table, row });
    }
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      if (member !== undefined && member !== null) collect(member, path === '' ? key : `${path}.${key}`, into);
    }
  } else if (value !== null) put(into.table, into.row, path === '' ? '.' : path, textOf(value) ?? '');
}

function put(table: RawTable, row: Cell[], name: string, text: string): void {
  const value = text.trim();
  const at = value === '' || name === '' ? undefined : columnAt(table, name);
  if (at !== undefined) row[at] = value.slice(0, MAX_LENGTH);
}

function columnAt({ names }: RawTable, name: string): number | undefined {
  const known = names.get(name);
  if (known !== undefined || name === '' || names.size >= MAX_COLUMNS) return known;
  names.set(name, names.size + 1);
  return names.size;
}
