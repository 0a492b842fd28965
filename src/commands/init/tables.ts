/** The beginnings of all exports as tables of an SQLite database in memory: what `init` wants to know of them it asks by select. */
import { Database } from '../../store/sqlite.ts';
import { columnOf, countEach, firstValues, type ColumnData, type Table } from './columns.ts';
import { isDayFirst } from './dates.ts';
import type { Export } from './open-export.ts';
import type { RawTable } from './sample.ts';
import { nounsOf, type Noun } from './words.ts';

/** Texts that mean "no value" wherever they stand, and those that do so only in many cells. */
const NO_VALUE = ['\\N', 'NULL', 'null', '(null)', '<null>', 'N/A', 'n/a', '#N/A', '(none)', '-None-', 'NaN', 'nan'];
const PERHAPS_NO_VALUE = ['-', '--', '—'];
const MIN_DASHES = 0.02;

export interface Samples {
  readonly db: Database;
  /** The records of each export, each followed by the lists in them. */
  readonly tables: readonly Table[];
  /** Texts that stand for no value, and in how many cells. */
  readonly missing: ReadonlyMap<string, number>;
}

/** The values of all columns that could name a record, by the number of their column. */
const SAMPLES = {
  name: 'samples',
  applicationId: 0,
  version: 1,
  tables: 'create table keys (value text, key integer, folded integer);',
};

/** A table for each export, and for each list in its records. `sources`: their names. `noValue`: further texts that stand for no value. */
export function loadSamples(
  exports: readonly Export[],
  sources: readonly string[],
  noValue: readonly string[],
): Samples {
  const db = Database.inMemory(SAMPLES);
  const texts = new Set([...NO_VALUE, ...noValue, ...PERHAPS_NO_VALUE]);
  const missing = new Map<string, number>();
  for (const { sample } of exports) for (const table of sample.tables) countMissing(table, texts, missing);
  const tables = exports.flatMap((from, at) => tablesOf(db, from, sources[at]!, `t${at}`, missing));
  return { db, missing, tables };
}

function countMissing({ columns, rows }: RawTable, texts: ReadonlySet<unknown>, missing: Map<string, number>): void {
  for (const { at } of columns.values()) {
    const counts = countEach(rows.map((row) => (texts.has(row[at]) ? (row[at] as string) : undefined)));
    for (const [value, n] of [...counts].sort()) {
      const isRare = n < 3 || n < rows.length * MIN_DASHES;
      if (!isRare || !PERHAPS_NO_VALUE.includes(value)) missing.set(value, (missing.get(value) ?? 0) + n);
    }
  }
}

function tablesOf(
  db: Database,
  from: Export,
  source: string,
  name: string,
  missing: ReadonlyMap<unknown, number>,
): Table[] {
  const tables: Table[] = [];
  from.sample.tables.forEach((raw, index) => {
    const sql = `${name}_${index}`;
    fill(db, sql, raw, missing);
    const { list, rows } = raw;
    const parent = list === undefined ? undefined : tables[0];
    const table: Table = {
      db,
      from,
      source,
      list,
      parent,
      columns: [],
      rows: rows.length,
      whole: from.sample.whole,
      nouns: nounsIn(list ?? from.settings.records, source),
      sql,
    };
    const data = [...raw.columns].map(([header, { at, ...rest }]): ColumnData => ({
      name: header,
      sql: `c${at}`,
      ...rest,
    }));
    // With a comma between the cells, the dates may be American.
    const values = data.flatMap((each) => firstValues(table, each.sql).slice(0, 200));
    const dayFirst = from.source.delimiter !== ',' || isDayFirst(values);
    const hasHeader = from.settings.columns === undefined;
    for (const each of data) {
      const header = !hasHeader ? '' : each.name === '.' ? (list ?? '') : each.name;
      table.columns.push(columnOf(table, each, header, dayFirst));
    }
    tables.push(table);
  });
  return tables;
}

function fill(db: Database, sql: string, { columns, rows }: RawTable, missing: ReadonlyMap<unknown, number>): void {
  const places = [...columns.values()].map(({ at }) => at);
  db.exec(`create table ${sql} (${['record integer', ...places.map((at) => `c${at} text`)].join(', ')})`);
  const insert = `insert into ${sql} values (?${', ?'.repeat(places.length)})`;
  const cell = (value: string | number | null | undefined) =>
    value === undefined || missing.has(value) ? null : value;
  db.transaction(() => {
    for (const row of rows) db.run(insert, row[0]!, ...places.map((at) => cell(row[at])));
  });
}

/** What arrays are called that hold the records of any API. */
const WRAPPERS = /^(?:data|results?|items|records|list|rows|values?|content|hits|elements)$/i;

/** The nouns of an array, if it is called after its records, or else of its file. */
export function nounsIn(path: string | undefined, source: string): readonly Noun[] {
  const last = path?.split('.').at(-1) ?? '';
  const own = WRAPPERS.test(last) ? [] : nounsOf(last);
  return own.length > 0 ? own : nounsOf(source);
}
