/** Whose values are found in which other export, and to what share. */
import { numberText } from '../numbers.ts';
import { pathOf, type ExportColumn } from './columns.ts';
import type { Samples } from './tables.ts';

/** How many values of a column are found in a column of another export. */
export interface Reference {
  readonly from: ExportColumn;
  readonly to: ExportColumn;
  /** Separator of several values in one cell. */
  readonly separator?: string;
  /** E-mail addresses match only without regard to case. */
  readonly lowercase: boolean;
  /** An `@` precedes the ids, as in the trees of Salesforce: `@ContactRef1`. */
  readonly isMarked?: boolean;
  /** Values found in the other export, and all values, one per record or, with a separator, several. */
  readonly found: number;
  readonly of: number;
}

/** Below this share, an overlap is not worth showing. */
const MIN_SHARE = 0.1;
/** Longer values are texts: no ids, e-mail addresses or names. */
const MAX_KEY = 120;
const SEPARATORS = [';', ',', '|'];
/** Cells that are split at separators. */
const MAX_SPLIT = 2000;

export function shareOf({ found, of }: Reference): number {
  return of === 0 ? 0 : found / of;
}

/** `500 of 500 deals match contacts.Email`. */
export function referenceText({ found, of, to }: Reference, records: string, source: string): string {
  return `${numberText(found)} of ${numberText(of)} ${records} match ${source}.${to.name}`;
}

/** All pairs of columns of different exports with common values, as far as the second one could name its record. */
export function findReferences({ db, tables }: Samples): Reference[] {
  const keys = tables.flatMap(({ columns }) => columns.filter(isKey));
  keys.forEach(({ sql, table, email }, key) => {
    const all = `from ${table.sql} where ${sql} is not null`;
    db.exec(`insert into keys select distinct ${sql}, ${key}, 0 ${all}`);
    if (email) db.exec(`insert into keys select distinct lower(${sql}), ${key}, 1 ${all}`);
  });
  db.exec('create index samples.keys_by_value on keys (value)');
  const columns = tables.flatMap((table) => [table, ...table.lists]).flatMap((table) => table.columns);
  return columns.filter(mayRefer).flatMap((from) => referencesOf(from, keys));
}

/** Values that mostly tell records apart: ids, e-mail addresses, names. */
function isKey({ filled, distinct, length, date, number, email, values }: ExportColumn): boolean {
  if (filled === 0 || date || length > MAX_KEY) return false;
  return email || (distinct >= filled / 2 && !(number && values.some((value) => /[.,]\d/.test(value))));
}

function mayRefer({ filled, date, html, length, number, values }: ExportColumn): boolean {
  return (
    filled > 0 && !date && !html && length <= MAX_KEY && !(number && values.some((value) => /[.,]\d\d$/.test(value)))
  );
}

function referencesOf(from: ExportColumn, keys: readonly ExportColumn[]): Reference[] {
  const { sql, table, filled: of, values } = from;
  const found = new Map<ExportColumn, Reference>();
  /** `values`: the rows of a table with a column `value`. */
  const search = (
    rows: string,
    how: Pick<Reference, 'separator' | 'lowercase' | 'isMarked' | 'of'>,
    ...given: readonly string[]
  ): void => {
    const counts = table.db.all<{ key: number; n: number }>(
      `select key, count(*) n from (${rows}) cells join keys on keys.value = cells.value and folded = ${Number(how.lowercase)} group by 1`,
      ...given,
    );
    for (const { key, n } of counts) {
      const to = keys[key]!;
      if (to.table.from !== table.from && n > (found.get(to)?.found ?? 0))
        found.set(to, { from, to, ...how, found: n });
    }
  };
  const cells = (value: string): string => `select ${value} value from ${table.sql} where ${sql} is not null`;
  search(cells(sql), { lowercase: false, of });
  if (values.some((value) => value.includes('@'))) search(cells(`lower(${sql})`), { lowercase: true, of });
  if (values.every((value) => value.startsWith('@'))) {
    search(cells(`substr(${sql}, 2)`), { lowercase: false, isMarked: true, of });
  }
  const several = values.slice(0, MAX_SPLIT);
  const separator = SEPARATORS.find((mark) => several.some((value) => value.includes(mark)));
  if (separator !== undefined && [...found.values()].every((each) => shareOf(each) < 1)) {
    const pieces = several.flatMap((value) => value.split(separator).map((piece) => piece.trim()));
    const how = { separator, lowercase: false, of: pieces.length };
    search('select value from json_each(?)', how, JSON.stringify(pieces));
  }
  return [...found.values()].filter((each) => shareOf(each) >= MIN_SHARE);
}

/** The transforms that take the key, or the first key of a cell or a list. */
export function firstOf({ from, separator, isMarked }: Reference): unknown[] {
  if (isMarked) return [{ replace: { pattern: '^@', with: '' } }];
  if (from.table.list !== undefined) return [{ at: 0 }];
  return separator === undefined ? [] : [{ split: separator }, { at: 0 }];
}

/** A lookup of the record that a column refers to. `optional`: without a match, there is no value. */
export function lookupOf(reference: Reference, source: string, take: unknown, optional = false): unknown {
  const fold = reference.lowercase ? ['lowercase'] : [];
  const value = (name: string, apply: readonly unknown[]): unknown => (apply.length > 0 ? { from: name, apply } : name);
  const match = value(reference.to.name, fold);
  const own = value(pathOf(reference.from), [...firstOf(reference), ...fold]);
  return { lookup: { source, match, with: own, take, ...(optional ? { if_missing: 'skip' } : {}) } };
}
