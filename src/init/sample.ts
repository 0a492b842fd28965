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
  for await (const batch of source.batches()) {
    if (main.rows.length >= MAX_RECORDS) return { tables: [main, ...lists.values()], whole: false };
    for (const item of batch) {
      if (item.kind !== 'row') continue;
      const record = main.rows.length;
      if (source.kind === 'tree') addRecord(main, lists, record, item.raw);
      else
        addRow(
          main,
          record,
          (item.raw as readonly string[]).map((cell, index) => [names[index] ?? '', cell]),
        );
    }
  }
  return { tables: [main, ...lists.values()], whole: true };
}

/** A header that occurs several times is told apart by its position, as in the mapping. */
function nameOf({ columns, duplicateColumns }: Source, name: string, index: number): string {
  if (!duplicateColumns.has(name)) return name;
  return `${name}#${columns.slice(0, index + 1).filter((each) => each === name).length}`;
}

/** Adds a record in JSON. The elements of its lists become rows of tables of their own; lists in lists stay whole. */
function addRecord(main: RawTable, lists: Map<string, RawTable>, record: number, value: JsonValue): void {
  const leaves = [...leavesOf(value)];
  addRow(
    main,
    record,
    leaves.flatMap(([path, leaf]) => (Array.isArray(leaf) ? [] : [[path, textOf(leaf)]])),
  );
  for (const [path, leaf] of leaves) {
    if (!Array.isArray(leaf)) continue;
    const table = lists.get(path) ?? { list: path, names: new Map<string, number>(), rows: [] };
    lists.set(path, table);
    for (const element of leaf as readonly JsonValue[]) {
      addRow(
        table,
        record,
        [...leavesOf(element)].map(([at, each]) => [at, Array.isArray(each) ? '[…]' : textOf(each)]),
      );
    }
  }
}

/** The scalars and lists in a value by path; of a scalar itself, `.`. */
function* leavesOf(value: JsonValue, path?: string): Generator<[path: string, leaf: JsonValue]> {
  if (!isObject(value)) yield [path ?? '.', value];
  else {
    for (const [key, member] of Object.entries(value)) {
      if (member !== undefined) yield* leavesOf(member, path === undefined ? key : `${path}.${key}`);
    }
  }
}

function addRow(
  table: RawTable,
  record: number,
  cells: readonly (readonly [name: string, text: string | undefined])[],
): void {
  const row: Cell[] = [record];
  table.rows.push(row);
  for (const [name, text] of cells) {
    const value = text?.trim() ?? '';
    const at = value === '' || name === '' ? undefined : columnAt(table, name);
    if (at !== undefined) row[at] = value.slice(0, MAX_LENGTH);
  }
}

function columnAt({ names }: RawTable, name: string): number | undefined {
  const known = names.get(name);
  if (known !== undefined || name === '' || names.size >= MAX_COLUMNS) return known;
  names.set(name, names.size + 1);
  return names.size;
}
