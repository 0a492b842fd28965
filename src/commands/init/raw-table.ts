/** Records as rows of cells, before they are loaded into SQL. */
import type { JsonObject } from '../../json.ts';

/** Characters of a value that are kept: enough to tell what a text is. */
const MAX_LENGTH = 500;
/** SQLite allows 2,000 columns in a table. */
export const MAX_COLUMNS = 1900;

/** Records of an export that have one of these values in a column, or any value, or none. */
export interface RecordType {
  readonly from: string;
  readonly is: readonly string[] | 'present' | 'absent';
  /** Those that have another value. */
  readonly isNot?: true;
  /** Parts of the others, or records among lines that are none. */
  readonly as?: 'parts' | 'records';
  /** What the lines are that are no records. */
  readonly others?: string;
  /** How many these are, where all records were read. */
  readonly skipped?: number;
  /** Where such lines continue a record, the column with its id. */
  readonly key?: string;
}

/** The records, or the elements of a list inside them. */
export interface RawTable {
  readonly list: string | undefined;
  /** The columns, by name: the places of their cells, the list that they stand in, and records with several elements of it. */
  readonly columns: Map<string, RawColumn>;
  /** The number of the record, and its cells by column. */
  readonly rows: (string | number | null)[][];
  /** Of elements that are a name and a value each. */
  readonly pairs: Pairs;
  /** Its records are groups of columns of a row: the headers of each group. Its own columns are called like those of the first one. */
  readonly groups?: readonly (readonly string[])[];
}

export interface RawColumn {
  readonly at: number;
  readonly list: string | undefined;
  several: number;
  main?: MainElement;
  /** Its name in a list of names and values; what is beside an id, `[4, "Proposal"]`, is called after it. */
  readonly label: string | undefined;
  readonly pair: Pair | undefined;
  /** The paths at which it is in some record: `answers[2].text`. */
  readonly places: Set<string>;
}

/** How a list tells its main element: by a flag, or by its type; or one of its values, by its name. */
export interface MainElement {
  /** Its key and value: `is_primary`, `true`. */
  readonly flag: string;
  readonly value: string;
  /** Records in which it is not the first element. */
  later: number;
  /** Elements of the longest list. */
  most: number;
  /** Where it is in some record; undefined if it may be anywhere. */
  readonly places?: readonly number[];
}

/** The names in a list of names and values. */
export interface Pairs {
  readonly names: Map<string, number>;
  /** Elements whose name another one of the same list has, too. */
  twice: number;
  /** Elements whose value is an address, or a number of a person: a list of one of these alone is no list of names. */
  emails: number;
  phones: number;
  /** Where the name of an element is: `field.ref`. */
  by?: string;
  /** The first element of each name, and the other members of elements that differ where the name is the same. */
  readonly firsts: Map<string, JsonObject>;
  readonly own: Set<string>;
}

/** The list of names and values of a value, and its path in it: `answers.text`. */
export interface Pair {
  readonly list: string;
  readonly path: string;
}

export interface Leaf {
  readonly name: string;
  readonly text: string | undefined;
  readonly list?: string;
  readonly several?: boolean;
  readonly main?: MainElement | undefined;
  readonly label?: string;
  readonly pair?: Pair;
  readonly place?: string;
}

export function newTable(list: string | undefined): RawTable {
  return {
    list,
    columns: new Map(),
    rows: [],
    pairs: { names: new Map(), twice: 0, emails: 0, phones: 0, firsts: new Map(), own: new Set() },
  };
}

export function addRow(table: RawTable, record: number, cells: readonly Leaf[]): void {
  const row: (string | number | null)[] = [record];
  table.rows.push(row);
  for (const { name, text, several, main, place, ...own } of cells) {
    const value = text?.trim() ?? '';
    const column = value === '' || name === '' ? undefined : columnAt(table, name, own);
    if (!column) continue;
    row[column.at] = value.slice(0, MAX_LENGTH);
    if (several) column.several += 1;
    if (place !== undefined) column.places.add(place);
    if (main && main.flag === (column.main ??= { ...main, later: 0 }).flag) {
      column.main.later += main.later;
      column.main.most = Math.max(column.main.most, main.most);
    }
  }
}

export function columnAt(
  { columns }: RawTable,
  name: string,
  { list, label, pair }: { readonly [Key in 'list' | 'label' | 'pair']?: RawColumn[Key] } = {},
): RawColumn | undefined {
  const known = columns.get(name);
  if (known !== undefined || name === '' || columns.size >= MAX_COLUMNS) return known;
  const column = { at: columns.size + 1, list, several: 0, label, pair, places: new Set<string>() };
  columns.set(name, column);
  return column;
}
