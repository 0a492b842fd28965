/** The samples of all exports as tables of an SQLite database in memory. What `init` wants to know it asks by select. */
import { DatabaseSync } from '@photostructure/sqlite';
import { isObject, type JsonValue } from '../json.ts';
import { textOf } from '../mapping/value-text.ts';
import { isDayFirst } from './dates.ts';
import { columnOf, type Column } from './columns.ts';
import type { Export } from './open-export.ts';

/** Records read of an export. */
const MAX_RECORDS = 20_000;
/** Characters of a value that are kept: enough to tell what a text is. */
const MAX_LENGTH = 500;
/** SQLite allows 2,000 columns in a table. */
const MAX_COLUMNS = 1900;
/** Texts that mean "no value" wherever they stand, and those that do so only in many cells. */
const NO_VALUE = ['\\N', 'NULL', 'null', '(null)', '<null>', 'N/A', 'n/a', '#N/A', '(none)', 'NaN', 'nan'];
const PERHAPS_NO_VALUE = ['-', '--', '—'];
const MIN_DASHES = 0.02;

/** The records of an export, or the elements of a list inside them. */
export interface Table {
  readonly samples: Samples;
  readonly from: Export;
  /** Path of the list; undefined for the records themselves. */
  readonly list: string | undefined;
  /** The table of the records that have the list. */
  readonly parent: Table | undefined;
  readonly lists: readonly Table[];
  readonly columns: readonly Column[];
  readonly rows: number;
  /** Whether all records were read. */
  readonly whole: boolean;
  /** Its name in SQL. */
  readonly sql: string;
}

type Cell = string | number | null;

/** What is known before the columns are looked at. */
interface RawTable {
  readonly list: string | undefined;
  readonly names: Map<string, number>;
  /** Cells by column, behind the number of the record. */
  readonly rows: Cell[][];
}

export class Samples {
  readonly #db = new DatabaseSync(':memory:');
  readonly #missing = new Map<string, number>();
  #tables = 0;

  /** One row for each result. */
  select<T>(sql: string, ...values: (string | number)[]): T[] {
    return this.#db.prepare(sql).all(...values) as T[];
  }

  /** The first column of the only row. */
  count(sql: string, ...values: (string | number)[]): number {
    return Number(Object.values(this.select<Record<string, unknown>>(sql, ...values)[0] ?? {})[0] ?? 0);
  }

  /** Empties the database. */
  run(sql: string): void {
    this.#db.exec(sql);
  }

  /** Adds rows in one transaction. */
  insert(sql: string, rows: Iterable<readonly Cell[]>): void {
    const statement = this.#db.prepare(sql);
    this.#db.exec('begin');
    for (const row of rows) statement.run(...row);
    this.#db.exec('commit');
  }

  /** Texts that stand for no value, and in how many cells. */
  get missing(): ReadonlyMap<string, number> {
    return this.#missing;
  }

  /** Reads the beginning of every export. `missing`: further texts that stand for no value. */
  async load(exports: readonly Export[], missing: readonly string[]): Promise<Table[]> {
    const read: { from: Export; sql: string; tables: RawTable[]; whole: boolean }[] = [];
    for (const from of exports) {
      const { tables, whole } = await readTables(from);
      const sql = `t${(this.#tables += 1)}`;
      tables.forEach((table, index) => this.#create(`${sql}_${index}`, table));
      read.push({ from, sql, tables, whole });
    }
    const all = read.flatMap(({ sql, tables }) => tables.map((table, index) => ({ table, sql: `${sql}_${index}` })));
    for (const { table, sql } of all) this.#countMissing(sql, table, [...NO_VALUE, ...missing, ...PERHAPS_NO_VALUE]);
    const list = [...this.#missing.keys()].map(quoted).join(', ');
    for (const { table, sql } of list === '' ? [] : all) {
      for (const name of sqlNames(table)) this.run(`update ${sql} set ${name} = null where ${name} in (${list})`);
    }
    return read.map((each) => this.#look(each));
  }

  #create(sql: string, { names, rows }: RawTable): void {
    const columns = [...names.values()].map((index) => `c${index} text`);
    this.run(`create table ${sql} (${['record integer', ...columns].join(', ')})`);
    const marks = Array.from({ length: columns.length + 1 }, () => '?').join(', ');
    this.insert(
      `insert into ${sql} values (${marks})`,
      rows.map((row) => Array.from({ length: columns.length + 1 }, (_, index) => row[index] ?? null)),
    );
  }

  #countMissing(sql: string, table: RawTable, texts: readonly string[]): void {
    const list = texts.map(quoted).join(', ');
    for (const name of sqlNames(table)) {
      const found = this.select<{ value: string; n: number }>(
        `select ${name} value, count(*) n from ${sql} where ${name} in (${list}) group by 1`,
      );
      for (const { value, n } of found) {
        if (PERHAPS_NO_VALUE.includes(value) && (n < 3 || n < table.rows.length * MIN_DASHES)) continue;
        this.#missing.set(value, (this.#missing.get(value) ?? 0) + n);
      }
    }
  }

  #look({ from, sql, tables, whole }: { from: Export; sql: string; tables: RawTable[]; whole: boolean }): Table {
    const made = tables.map(({ list, names, rows }, index) => {
      const name = `${sql}_${index}`;
      const columns: Column[] = [];
      const parent = undefined as Table | undefined;
      const lists: Table[] = [];
      const known = { samples: this, from, list, parent, lists, columns, rows: rows.length, whole, sql: name };
      const values = [...names].map(([column, at]) => ({ column, at, sample: this.#sample(name, at) }));
      // With a comma between the cells, the dates may be American.
      const dayFirst = !/`,`/.test(from.source.description) || isDayFirst(values.map(({ sample }) => sample));
      for (const { column, at, sample } of values) columns.push(columnOf(known, column, `c${at}`, sample, dayFirst));
      return known;
    });
    const [main, ...lists] = made;
    main!.lists.push(...lists);
    for (const each of lists) each.parent = main!;
    return main!;
  }

  #sample(sql: string, at: number): string[] {
    const query = `select c${at} value from ${sql} where c${at} is not null order by rowid limit 2000`;
    return this.select<{ value: string }>(query).map(({ value }) => value);
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function sqlNames({ names }: RawTable): string[] {
  return [...names.values()].map((index) => `c${index}`);
}

async function readTables({ source }: Export): Promise<{ tables: RawTable[]; whole: boolean }> {
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
function nameOf({ columns, duplicateColumns }: Export['source'], name: string, index: number): string {
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
