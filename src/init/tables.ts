/** The samples of all exports as tables of an SQLite database in memory. What `init` wants to know it asks by select. */
import { Database } from '../store/sqlite.ts';
import { columnOf, countEach, type ExportColumn, type Table } from './columns.ts';
import { isDayFirst } from './dates.ts';
import type { Export } from './open-export.ts';
import type { Cell, RawTable } from './sample.ts';

/** Texts that mean "no value" wherever they stand, and those that do so only in many cells. */
const NO_VALUE = ['\\N', 'NULL', 'null', '(null)', '<null>', 'N/A', 'n/a', '#N/A', '(none)', 'NaN', 'nan'];
const PERHAPS_NO_VALUE = ['-', '--', '—'];
const MIN_DASHES = 0.02;

/** The values of all columns that could name a record, by the number of their column; `folded`: e-mail addresses in lower case. */
const SAMPLES = {
  name: 'samples',
  applicationId: 0,
  version: 1,
  tables: 'create table keys (value text, key integer, folded integer);',
};

export interface Samples {
  readonly db: Database;
  /** The records of each export. */
  readonly tables: readonly Table[];
  /** Texts that stand for no value, and in how many cells. */
  readonly missing: ReadonlyMap<string, number>;
}

/** A table for each export, and for each list in its records. `noValue`: further texts that stand for no value. */
export function loadSamples(exports: readonly Export[], noValue: readonly string[]): Samples {
  const db = Database.inMemory(SAMPLES);
  const texts = new Set([...NO_VALUE, ...noValue, ...PERHAPS_NO_VALUE]);
  const missing = new Map<string, number>();
  for (const { sample } of exports) for (const table of sample.tables) countMissing(table, texts, missing);
  return { db, missing, tables: exports.map((from, number) => tableOf(db, from, `t${number}`, missing)) };
}

function countMissing({ names, rows }: RawTable, texts: ReadonlySet<unknown>, missing: Map<string, number>): void {
  for (const at of names.values()) {
    const counts = countEach(rows.map((row) => (texts.has(row[at]) ? (row[at] as string) : undefined)));
    for (const [value, n] of [...counts].sort()) {
      const isRare = n < 3 || n < rows.length * MIN_DASHES;
      if (!isRare || !PERHAPS_NO_VALUE.includes(value)) missing.set(value, (missing.get(value) ?? 0) + n);
    }
  }
}

/** The table of the records, with those of the lists in them. */
function tableOf(db: Database, from: Export, prefix: string, missing: ReadonlyMap<unknown, number>): Table {
  const { tables, whole } = from.sample;
  const [main, ...lists] = tables.map((raw, index) => {
    const sql = `${prefix}_${index}`;
    fill(db, sql, raw, missing);
    const columns: ExportColumn[] = [];
    const parent = undefined as Table | undefined;
    const table = {
      db,
      from,
      list: raw.list,
      parent,
      lists: [] as Table[],
      columns,
      rows: raw.rows.length,
      whole,
      sql,
    };
    const samples = [...raw.names].map(([name, at]) => ({
      name,
      sql: `c${at}`,
      values: firstValues(db, sql, `c${at}`),
    }));
    // With a comma between the cells, the dates may be American.
    const dayFirst = from.source.delimiter !== ',' || isDayFirst(samples.flatMap(({ values }) => values.slice(0, 200)));
    columns.push(...samples.map((sample) => columnOf(table, sample, dayFirst)));
    return table;
  });
  for (const each of lists) each.parent = main!;
  main!.lists.push(...lists);
  return main!;
}

function fill(db: Database, sql: string, { names, rows }: RawTable, missing: ReadonlyMap<unknown, number>): void {
  const columns = [...names.values()];
  db.exec(`create table ${sql} (${['record integer', ...columns.map((at) => `c${at} text`)].join(', ')})`);
  const insert = `insert into ${sql} values (?${', ?'.repeat(columns.length)})`;
  const cell = (value: Cell | undefined): Cell => (value === undefined || missing.has(value) ? null : value);
  db.transaction(() => {
    for (const row of rows) db.run(insert, row[0]!, ...columns.map((at) => cell(row[at])));
  });
}

function firstValues(db: Database, sql: string, column: string): string[] {
  const query = `select ${column} value from ${sql} where ${column} is not null order by rowid limit 2000`;
  return db.all<{ value: string }>(query).map(({ value }) => value);
}
