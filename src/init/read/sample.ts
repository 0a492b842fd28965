/** Reads an export once: some records from its beginning, middle and end, and what all records have in each column. */
import { isObject, type JsonValue } from '../../json.ts';
import type { RawRecord } from '../../model.ts';
import { textOf } from '../../mapping/values/result.ts';
import type { Source } from '../../input/source.ts';
import { meaningOf } from '../facts/headers.ts';
import { LEVELS } from '../know/roles.ts';
import { NO_VALUE, TRUE } from '../know/words.ts';

/** Records of a table that are looked at. Of more, every second, fourth, … one. */
const MAX_RECORDS = 1000;
/** Characters of a value that are kept: enough to tell what a text is. */
const MAX_LENGTH = 500;
/** Longer values are neither ids nor statuses. */
const MAX_KEY = 120;
/** Distinct values of a column that are counted whatever it is; of more, only those that are hardly ever twice. */
const MAX_COUNTED = 60;

/** The records of an export, or the elements of a list inside them. */
export interface RawTable {
  /** Path of the list. */
  readonly list: string | undefined;
  readonly columns: RawColumn[];
  /** Of the sample: the cells by column. */
  readonly rows: (string | undefined)[][];
  /** Of all. */
  readonly records: number;
}

export interface RawColumn {
  readonly name: string;
  /** In JSON, the list inside the record that the value is in: that of its first element. */
  readonly list: string | undefined;
  /** What another value beside it calls it: `stage_id` of `[4, "Proposal"]`. */
  readonly label: string | undefined;
  /** The columns of a first and a last name, of which it is both. */
  readonly pair?: readonly [string, string];
  /** Records in which that list has more elements. */
  several: number;
  filled: number;
  /** Its header says that it has the ids of companies, which people and deals share. */
  readonly isShared: boolean;
  /** Texts that mean no value, and in how many records. */
  readonly missing: Map<string, number>;
  /** All values and how often each occurs, where they are few, or hardly any is twice. */
  values: Map<string, number> | undefined;
}

export interface ExportSample {
  /** The records first. */
  readonly tables: readonly RawTable[];
  readonly unreadable: number;
  /** Why the first of these cannot be read. */
  readonly why: string | undefined;
}

/** Throws the `UserError` of a source that cannot be read with its settings. */
export async function readSample(source: Source): Promise<ExportSample> {
  const main = new SampledTable(undefined);
  const lists = new Map<string, SampledTable>();
  source.columns.forEach((name, at) => main.column({ name: nameOf(source, name, at) }));
  let [unreadable, why]: [number, string | undefined] = [0, undefined];
  for await (const batch of source.batches()) {
    for (const item of batch) {
      if (item.kind === 'row') addRecord(main, lists, source, item.raw);
      else {
        unreadable += 1;
        why ??= item.issue.message;
      }
    }
  }
  const all = [main, ...lists.values()];
  for (const table of all) table.settleFalse();
  return { tables: all, unreadable, why };
}

/** A header that occurs several times is told apart by its position, as in a mapping. */
function nameOf({ columns, duplicateColumns }: Source, name: string, at: number): string {
  if (!duplicateColumns.has(name)) return name;
  return `${name}#${columns.slice(0, at + 1).filter((each) => each === name).length}`;
}

/** Adds a record. The elements of the lists in JSON become rows of tables of their own, too. */
function addRecord(main: SampledTable, lists: Map<string, SampledTable>, source: Source, raw: RawRecord): void {
  if (source.kind === 'table') {
    const cells = raw as readonly string[];
    main.add(cells.map((text, at) => ({ name: nameOf(source, source.columns[at] ?? '', at), text })));
    return;
  }
  main.add([...leavesOf(raw)]);
  for (const [path, list] of listsIn(raw)) {
    const table = lists.get(path) ?? new SampledTable(path);
    lists.set(path, table);
    for (const element of list) table.add([...leavesOf(element)]);
  }
}

const MISSING = new Set(NO_VALUE);

export const isFalseText = (value: string): boolean => value.length === 5 && value.toLowerCase() === 'false';

interface Leaf {
  readonly name: string;
  readonly text?: string | undefined;
  readonly list?: string | undefined;
  readonly label?: string | undefined;
  readonly several?: boolean;
  readonly pair?: readonly [string, string];
}

class SampledTable implements RawTable {
  readonly list: string | undefined;
  readonly columns: RawColumn[] = [];
  rows: (string | undefined)[][] = [];
  records = 0;
  readonly #places = new Map<string, number>();
  /** The places of the first columns with first and last names. */
  #first: number | undefined;
  #last: number | undefined;
  #step = 1;

  constructor(list: string | undefined) {
    this.list = list;
  }

  column({ name, list, label, pair }: Leaf): number {
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const { concepts } = meaningOf(name);
    const isShared = concepts.has('company') && concepts.has('id');
    const more = { several: 0, filled: 0, isShared, missing: new Map(), values: new Map() };
    const at = this.columns.push({ name, list, label, ...(pair && { pair }), ...more }) - 1;
    this.#places.set(name, at);
    const isName = pair === undefined && list === undefined;
    const isLast = concepts.has('surname') || (concepts.has('last') && concepts.has('name'));
    if (isName && concepts.has('first')) this.#first ??= at;
    else if (isName && isLast) this.#last ??= at;
    return at;
  }

  add(cells: readonly Leaf[]): void {
    const row: (string | undefined)[] = [];
    for (const leaf of cells) {
      const value = leaf.text?.trim() ?? '';
      if (value === '' || leaf.name === '') continue;
      const at = this.column(leaf);
      const column = this.columns[at]!;
      if (MISSING.has(value) || isFalseText(value)) {
        if (isFalseText(value)) row[this.column(leaf)] = value;
        column.missing.set(value, (column.missing.get(value) ?? 0) + 1);
        continue;
      }
      if (leaf.several) column.several += 1;
      row[at] = value.length > MAX_LENGTH ? value.slice(0, MAX_LENGTH) : value;
      count(column, value);
    }
    this.#addName(row);
    if (this.records % this.#step === 0) this.rows.push(row);
    this.records += 1;
    if (this.rows.length <= MAX_RECORDS) return;
    this.rows = this.rows.filter((_, at) => at % 2 === 0);
    this.#step *= 2;
  }

  /** Odoo writes `false` for no value; where a column has no other texts than true and false, it is one. */
  settleFalse(): void {
    for (const [at, column] of this.columns.entries()) {
      const falses = [...column.missing].filter(([text]) => isFalseText(text));
      if (falses.length === 0) continue;
      const isFlag = column.filled === 0 || [...(column.values?.keys() ?? [])].every((value) => TRUE.test(value));
      for (const [text, n] of isFlag ? falses : []) {
        column.missing.delete(text);
        column.filled += n;
        column.values?.set(text, n);
      }
      if (!isFlag) for (const row of this.rows) if (row[at] !== undefined && isFalseText(row[at])) row[at] = undefined;
    }
  }

  /** First and last name as one column, which others may name. */
  #addName(row: (string | undefined)[]): void {
    const [first, last] = [this.#first, this.#last];
    if (first === undefined || last === undefined || row[first] === undefined || row[last] === undefined) return;
    const pair = [this.columns[first]!.name, this.columns[last]!.name] as const;
    const name = pair.join(' ');
    if (this.#places.has(name) && !this.columns[this.#places.get(name)!]!.pair) return;
    const at = this.column({ name, pair });
    row[at] = `${row[first]} ${row[last]}`;
    count(this.columns[at]!, row[at]);
  }
}

function count(column: RawColumn, value: string): void {
  column.filled += 1;
  const { values, filled, isShared } = column;
  if (!values) return;
  if (value.length > MAX_KEY) column.values = undefined;
  else values.set(value, (values.get(value) ?? 0) + 1);
  if (values.size > MAX_COUNTED && values.size < filled * LEVELS.most && !isShared) column.values = undefined;
}

/** The scalars in a value by path (of a scalar itself, `.`); of a list, the first one at each path. */
function* leavesOf(value: JsonValue, path = '', list?: string): Generator<Leaf> {
  if (isNamedId(value)) {
    yield { name: `${path}[0]`, text: textOf(value[0]), list };
    yield { name: `${path}[1]`, text: textOf(value[1]), list, label: path.replace(/(?<=.)_?ids?$/i, '') };
  } else if (Array.isArray(value)) {
    const first = new Map<string, Leaf>();
    for (const leaf of (value as readonly JsonValue[]).flatMap((each) => [...leavesOf(each, path, list ?? path)])) {
      if (!leaf.text?.trim()) continue;
      const known = first.get(leaf.name);
      first.set(leaf.name, known ? { ...known, several: true } : leaf);
    }
    yield* first.values();
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value))
      if (member !== undefined) yield* leavesOf(member, path === '' ? key : `${path}.${key}`, list);
  } else yield { name: path === '' ? '.' : path, text: textOf(value), list };
}

/** `[4, "Proposal"]`: the id of another record and what it is called. */
function isNamedId(value: JsonValue): value is readonly JsonValue[] & JsonValue {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [id, name] = value as readonly JsonValue[];
  return /^\d+$/.test(textOf(id) ?? '') && typeof name === 'string' && !/^\d*$/.test(name);
}

/** Also the lists in the elements of lists. */
function* listsIn(value: JsonValue, path = ''): Generator<readonly [path: string, list: readonly JsonValue[]]> {
  if (Array.isArray(value) && !isNamedId(value)) {
    const list = value as readonly JsonValue[];
    yield [path, list];
    for (const element of list) if (isObject(element)) yield* listsIn(element, path);
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value))
      if (member !== undefined) yield* listsIn(member, path === '' ? key : `${path}.${key}`);
  }
}
