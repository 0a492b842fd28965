/** The samples of all exports as tables of an SQLite database in memory. What `init` wants to know it asks by select. */
import { DatabaseSync } from '@photostructure/sqlite';
import { isDayFirst, type DateFacts } from './dates.ts';
import type { Export } from './open-export.ts';
import type { Cell, RawTable } from './sample.ts';

/** Texts that mean "no value" wherever they stand, and those that do so only in many cells. */
const NO_VALUE = ['\\N', 'NULL', 'null', '(null)', '<null>', 'N/A', 'n/a', '#N/A', '(none)', 'NaN', 'nan'];
const PERHAPS_NO_VALUE = ['-', '--', '—'];
const MIN_DASHES = 0.02;

/** A column of a table, or the path of a value in JSON, and what its values look like. Shares are of the cells with a value. */
export interface NumberFacts {
  readonly decimal: '.' | ',';
  readonly group: '' | '.' | ',' | ' ' | "'";
  /** The values do not decide the separators: `1.250` may be 1250 or 1.25. */
  readonly ambiguous: boolean;
}

export interface ExportColumn {
  readonly table: Table;
  readonly name: string;
  /** Its name in SQL. */
  readonly sql: string;
  readonly filled: number;
  readonly distinct: number;
  /** No value occurs twice. */
  readonly unique: boolean;
  /** Every record has a value. */
  readonly whole: boolean;
  /** Average number of characters. */
  readonly length: number;
  /** The first values, in order. */
  readonly values: readonly string[];
  readonly email: boolean;
  readonly phone: boolean;
  readonly html: boolean;
  readonly currency: boolean;
  readonly number: NumberFacts | undefined;
  readonly date: DateFacts | undefined;
  /** Words, neither codes nor numbers nor dates. */
  readonly words: boolean;
  /** Most values look like the first and last name of a person. */
  readonly person: boolean;
  /** Ids by their look: UUIDs, or codes of letters and digits. */
  readonly code: boolean;
  /** Cells truncated by a spreadsheet: `3.93E+11`. */
  readonly damaged: number;
  /** The most frequent values with their counts. */
  few(): ReadonlyMap<string, number>;
}

/** The records of an export, or the elements of a list inside them. */
export interface Table {
  readonly samples: Samples;
  readonly from: Export;
  /** Path of the list; undefined for the records themselves. */
  readonly list: string | undefined;
  /** The table of the records that have the list. */
  readonly parent: Table | undefined;
  readonly lists: readonly Table[];
  readonly columns: readonly ExportColumn[];
  readonly rows: number;
  /** Whether all records were read. */
  readonly whole: boolean;
  /** Its name in SQL. */
  readonly sql: string;
}

/** What a column is: `values` are its first ones. */
type ColumnMaker = (
  table: Table,
  name: string,
  sql: string,
  values: readonly string[],
  dayFirst: boolean,
) => ExportColumn;

export class Samples {
  readonly #db = new DatabaseSync(':memory:');
  readonly #missing = new Map<string, number>();

  /** One row for each result. */
  select<T>(sql: string, ...values: (string | number)[]): T[] {
    return this.#db.prepare(sql).all(...values) as T[];
  }

  /** The first column of the only row. */
  count(sql: string, ...values: (string | number)[]): number {
    return Number(Object.values(this.select<Record<string, unknown>>(sql, ...values)[0] ?? {})[0] ?? 0);
  }

  /** A statement without a result. */
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

  /** Makes tables of the exports. `missing`: further texts that stand for no value. */
  load(exports: readonly Export[], missing: readonly string[], columnOf: ColumnMaker): Table[] {
    const all = exports.flatMap(({ sample }, number) =>
      sample.tables.map((table, index) => ({ table, sql: `t${number}_${index}` })),
    );
    for (const { table, sql } of all) {
      this.#create(sql, table);
      this.#countMissing(sql, table, [...NO_VALUE, ...missing, ...PERHAPS_NO_VALUE]);
    }
    const list = [...this.#missing.keys()].map(quoted).join(', ');
    for (const { table, sql } of list === '' ? [] : all) {
      for (const name of sqlNames(table)) this.run(`update ${sql} set ${name} = null where ${name} in (${list})`);
    }
    return exports.map((from, number) => this.#look(from, `t${number}`, columnOf));
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

  #look(from: Export, sql: string, columnOf: ColumnMaker): Table {
    const { tables, whole } = from.sample;
    const made = tables.map(({ list, names, rows }, index) => {
      const name = `${sql}_${index}`;
      const columns: ExportColumn[] = [];
      const parent = undefined as Table | undefined;
      const lists: Table[] = [];
      const known = { samples: this, from, list, parent, lists, columns, rows: rows.length, whole, sql: name };
      const values = [...names].map(([column, at]) => ({ column, at, sample: this.#sample(name, at) }));
      // With a comma between the cells, the dates may be American.
      const dayFirst = from.source.delimiter !== ',' || isDayFirst(values.map(({ sample }) => sample));
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
