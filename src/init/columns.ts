import { isCurrency } from '../service/currencies.ts';
import type { Database } from '../store/sqlite.ts';
import { dateFacts } from './dates.ts';
import type { Export } from './open-export.ts';
import { foldHeader } from './value-text.ts';

/** How the numbers of a column are written. */
export interface NumberFacts {
  /** As the `number` transform takes them. */
  readonly separators: { readonly decimal: '.' | ','; readonly group?: '.' | ',' | ' ' | "'" };
  /** The values do not decide the separators: `1.250` may be 1250 or 1.25. */
  readonly ambiguous: boolean;
}

/** A column of a table, or the path of a value in JSON, and what its values look like. Shares are of the cells with a value. */
export type ExportColumn = ReturnType<typeof columnOf>;

/** The records of an export, or the elements of a list inside them. */
export interface Table {
  readonly db: Database;
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

const EMAIL = /^[^\s@,;]+@[^\s@,;]+\.[^\s@]+$/;
/** With 6 to 16 digits. */
const PHONE = /^(?=(?:\D*\d){6,16}\D*$)(?:\+|00)?[\d\s().\-/]{6,22}(?:\s*(?:x|ext\.?)\s*\d{1,6})?$/i;
const AMOUNT = /^[-+(]?\s*(?:[A-Z]{3}|[$€£¥])?\s*-?\d[\d.,'\u00a0\u202f ]*\s*(?:[A-Z]{3}|[$€£¥])?\)?$/;
const CODE = /^\{?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\}?$|^(?=.*\d)(?=.*[a-z])[\w.:-]{2,40}$/i;
const HTML = /<(?:p|br|div|b|ul|strong|span)\b[^>]*>/i;
const PERSON = /^\p{Lu}[\p{L}'’.-]*(?: (?:\p{Lu}|d[aeiu]|v[ao]n|el|le|la)[\p{L}'’.-]*){1,3}$/u;
const SCIENTIFIC = /^[+-]?\d(?:[.,]\d+)?E[+-]\d\d$/;
/** The most frequent values that are shown or translated. */
const MAX_FEW = 200;

/** `values`: the first ones, which decide what the column is. The other figures are of the whole sample. */
export function columnOf(
  table: Table,
  { name, sql, values }: { readonly name: string; readonly sql: string; readonly values: readonly string[] },
  dayFirst: boolean,
) {
  const { db } = table;
  const { filled, distinct, length } = db.get<{ filled: number; distinct: number; length: number | null }>(
    `select count(${sql}) filled, count(distinct ${sql}) "distinct", avg(length(${sql})) length from ${table.sql}`,
  )!;
  const matching = (pattern: RegExp): number => values.filter((value) => pattern.test(value)).length;
  const share = (pattern: RegExp): number => (values.length === 0 ? 0 : matching(pattern) / values.length);
  const date = dateFacts(foldHeader(name), values, dayFirst);
  const number = date === undefined && share(AMOUNT) > 0.8 ? numberFacts(values) : undefined;
  const email = share(EMAIL) > 0.6;
  const code = share(CODE) > 0.9;
  let few: ReadonlyMap<string, number> | undefined;
  return {
    table,
    name,
    /** Its name in SQL. */
    sql,
    filled,
    distinct,
    /** No value occurs twice. */
    unique: filled > 0 && distinct === filled,
    /** Every record has a value. */
    whole: filled > 0 && filled === table.rows,
    /** Average number of characters. */
    length: length ?? 0,
    /** The first values, in order. */
    values,
    email,
    phone: date === undefined && share(PHONE) > 0.6,
    html: share(HTML) > 0.1,
    currency: values.length > 0 && values.filter(isCurrency).length > values.length * 0.8,
    number,
    date,
    /** Words, neither codes nor numbers nor dates. */
    words: date === undefined && number === undefined && !email && !code && share(/\p{L}{2}/u) > 0.8,
    /** Most values look like the first and last name of a person. */
    person: share(PERSON) > 0.7,
    /** Ids by their look: UUIDs, or codes of letters and digits. */
    code,
    /** Cells truncated by a spreadsheet: `3.93E+11`. */
    damaged: matching(SCIENTIFIC),
    /** The most frequent values with their counts. */
    few: (): ReadonlyMap<string, number> =>
      (few ??= new Map(
        db
          .all<{ value: string; n: number }>(
            `select ${sql} value, count(*) n from ${table.sql} where ${sql} is not null group by 1 order by 2 desc, min(rowid) limit ${MAX_FEW}`,
          )
          .map(({ value, n }) => [value, n]),
      )),
  };
}

/** How many rows a select without its `select` has: `from t0_0 where …`. */
export function countOf(db: Database, from: string): number {
  return db.get<{ n: number }>(`select count(*) n ${from}`)!.n;
}

/** How often each value occurs, in the order of their first occurrence. */
export function countEach<T>(values: Iterable<T | undefined>): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** The path by which a record of the export reads it: `emails.value` for the values of a list. */
export function pathOf({ name, table: { list } }: ExportColumn): string {
  return list === undefined ? name : name === '.' ? list : `${list}.${name}`;
}

/** Few values that repeat: a status or a type, no texts and no names of records. */
export function isFew({ distinct, filled }: ExportColumn): boolean {
  return distinct <= 30 && distinct <= filled / 3;
}

/** How a value is read whose separator may be either; undefined if the values decide it. */
export function numberDoubt({ number, values }: ExportColumn): string | undefined {
  if (!number?.ambiguous) return undefined;
  const example = values.find((each) => /\d[.,]\d{3}$/.test(each)) ?? values[0];
  return `set this: in \`${example}\`, \`${number.separators.group}\` is read as the thousands separator`;
}

/** The separators that fit every value; those of plain decimals if no value has any. */
function numberFacts(values: readonly string[]): NumberFacts {
  const numbers = values.map((value) => value.replace(/[^\d.,'\s\u00a0\u202f]/g, '').trim());
  const some = (pattern: RegExp): boolean => numbers.some((value) => pattern.test(value));
  const facts = (decimal: '.' | ',', group?: '.' | ',' | ' ' | "'", ambiguous = false): NumberFacts => ({
    separators: { decimal, ...(group && { group }) },
    ambiguous,
  });
  const both = numbers.find((value) => value.includes('.') && value.includes(','));
  if (both !== undefined) return both.lastIndexOf(',') > both.lastIndexOf('.') ? facts(',', '.') : facts('.', ',');
  const space = some(/\d'\d{3}/) ? "'" : some(/\d[\s\u00a0\u202f]\d{3}/) ? ' ' : undefined;
  const marks = [',', '.'] as const;
  const mark = marks.find((each) => numbers.some((value) => value.includes(each)));
  if (mark === undefined) return facts('.', space);
  const other = mark === ',' ? '.' : ',';
  const marked = numbers.filter((value) => value.includes(mark));
  if (marked.some((value) => value.split(mark).length > 2)) return facts(other, mark);
  const isGroup = marked.every((value) => /^\d{1,3}[.,]\d{3}$/.test(value));
  if (!isGroup) return facts(mark, space ?? other);
  return facts(other, mark, !numbers.some((value) => value.includes(other)));
}
