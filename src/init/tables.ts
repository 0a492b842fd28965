/** The samples of all exports as tables of an SQLite database in memory. What `init` wants to know it asks by select. */
import { Database } from '../store/sqlite.ts';
import { columnOf, type ExportColumn, type Table } from './columns.ts';
import { isDayFirst } from './dates.ts';
import type { Export } from './open-export.ts';
import type { RawTable } from './sample.ts';

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
  const raw = exports.flatMap(({ sample }, number) =>
    sample.tables.map((table, index) => ({ ...table, sql: `t${number}_${index}` })),
  );
  const missing = new Map<string, number>();
  for (const table of raw) {
    fill(db, table);
    countMissing(db, table, [...NO_VALUE, ...noValue, ...PERHAPS_NO_VALUE], missing);
  }
  const texts = listOf([...missing.keys()]);
  for (const { names, sql } of raw) {
    for (const at of names.values()) db.exec(`update ${sql} set c${at} = null where c${at} in (${texts})`);
  }
  return { db, tables: exports.map((from, number) => tableOf(db, from, `t${number}`)), missing };
}

type NamedTable = RawTable & { readonly sql: string };

function fill(db: Database, { names, rows, sql }: NamedTable): void {
  const columns = [...names.values()];
  db.exec(`create table ${sql} (${['record integer', ...columns.map((at) => `c${at} text`)].join(', ')})`);
  const insert = `insert into ${sql} values (?${', ?'.repeat(columns.length)})`;
  db.transaction(() => {
    for (const row of rows) db.run(insert, row[0]!, ...columns.map((at) => row[at] ?? null));
  });
}

function countMissing(
  db: Database,
  { names, rows, sql }: NamedTable,
  texts: readonly string[],
  missing: Map<string, number>,
): void {
  for (const at of names.values()) {
    const found = db.all<{ value: string; n: number }>(
      `select c${at} value, count(*) n from ${sql} where c${at} in (${listOf(texts)}) group by 1`,
    );
    for (const { value, n } of found) {
      const isRare = n < 3 || n < rows.length * MIN_DASHES;
      if (!isRare || !PERHAPS_NO_VALUE.includes(value)) missing.set(value, (missing.get(value) ?? 0) + n);
    }
  }
}

/** The table of the records, with those of the lists in them. */
function tableOf(db: Database, from: Export, prefix: string): Table {
  const { tables, whole } = from.sample;
  const [main, ...lists] = tables.map(({ list, names, rows }, index) => {
    const sql = `${prefix}_${index}`;
    const columns: ExportColumn[] = [];
    const parent = undefined as Table | undefined;
    const table = { db, from, list, parent, lists: [] as Table[], columns, rows: rows.length, whole, sql };
    const samples = [...names].map(([name, at]) => ({ name, sql: `c${at}`, values: firstValues(db, sql, `c${at}`) }));
    // With a comma between the cells, the dates may be American.
    const dayFirst = from.source.delimiter !== ',' || isDayFirst(samples.map(({ values }) => values));
    for (const sample of samples) columns.push(columnOf(table, sample, dayFirst));
    return table;
  });
  for (const each of lists) each.parent = main!;
  main!.lists.push(...lists);
  return main!;
}

function firstValues(db: Database, sql: string, column: string): string[] {
  const query = `select ${column} value from ${sql} where ${column} is not null order by rowid limit 2000`;
  return db.all<{ value: string }>(query).map(({ value }) => value);
}

function listOf(texts: readonly string[]): string {
  return texts.map((text) => `'${text.replaceAll("'", "''")}'`).join(', ');
}
