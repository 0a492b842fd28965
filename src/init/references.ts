/** Whose values are found in which other export, and to what share. */
import { numberText } from '../numbers.ts';
import { pathOf, type ExportColumn } from './columns.ts';
import type { Samples, Table } from './tables.ts';

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
export function findReferences(samples: Samples, tables: readonly Table[]): Reference[] {
  const keys = tables.flatMap(({ columns }) => columns.filter(isKey));
  samples.run('create table keys (value text, key integer, folded integer)');
  keys.forEach(({ sql, table, email }, key) => {
    const all = `from ${table.sql} where ${sql} is not null`;
    samples.run(`insert into keys select distinct ${sql}, ${key}, 0 ${all}`);
    if (email) samples.run(`insert into keys select distinct lower(${sql}), ${key}, 1 ${all}`);
  });
  samples.run('create index keys_by_value on keys (value)');
  const columns = tables.flatMap((table) => [table, ...table.lists]).flatMap((table) => table.columns);
  return columns.filter(mayRefer).flatMap((from) => referencesOf(samples, from, keys));
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

function referencesOf(samples: Samples, from: ExportColumn, keys: readonly ExportColumn[]): Reference[] {
  const { sql, table, filled } = from;
  const found = new Map<ExportColumn, Reference>();
  const add = (reference: Reference): void => {
    const known = found.get(reference.to);
    if (reference.to.table.from !== table.from && (!known || reference.found > known.found))
      found.set(reference.to, reference);
  };
  const query = (value: string, folded: number): { key: number; n: number }[] =>
    samples.select(
      `select key, count(*) n from ${table.sql} join keys on keys.value = ${value} and folded = ${folded} where ${sql} is not null group by 1`,
    );
  for (const { key, n } of query(sql, 0)) add({ from, to: keys[key]!, lowercase: false, found: n, of: filled });
  if (from.values.some((value) => value.includes('@'))) {
    for (const { key, n } of query(`lower(${sql})`, 1))
      add({ from, to: keys[key]!, lowercase: true, found: n, of: filled });
  }
  if (from.values.every((value) => value.startsWith('@'))) {
    for (const { key, n } of query(`substr(${sql}, 2)`, 0))
      add({ from, to: keys[key]!, lowercase: false, isMarked: true, found: n, of: filled });
  }
  if ([...found.values()].every((each) => shareOf(each) < 1)) splitReferences(samples, from, keys).forEach(add);
  return [...found.values()].filter((each) => shareOf(each) >= MIN_SHARE);
}

/** Several values in one cell: `101;102`. */
function splitReferences(samples: Samples, from: ExportColumn, keys: readonly ExportColumn[]): Reference[] {
  const values = from.values.slice(0, MAX_SPLIT);
  const separator = SEPARATORS.find((mark) => values.some((value) => value.includes(mark)));
  if (separator === undefined) return [];
  const pieces = values.flatMap((value) => value.split(separator).map((piece) => piece.trim()));
  samples.run('create temp table pieces (value text)');
  samples.insert(
    'insert into pieces values (?)',
    pieces.map((piece) => [piece]),
  );
  const found = samples.select<{ key: number; n: number }>(
    'select key, count(*) n from pieces join keys using (value) where folded = 0 group by 1',
  );
  samples.run('drop table pieces');
  return found.map(({ key, n }) => ({
    from,
    to: keys[key]!,
    separator,
    lowercase: false,
    found: n,
    of: pieces.length,
  }));
}

/** The transforms that take the key, or the first key of a cell or a list. */
export function firstOf({ from, separator, isMarked }: Reference): unknown[] {
  if (isMarked) return [{ replace: { pattern: '^@', with: '' } }];
  if (from.table.list !== undefined) return [{ at: 0 }];
  return separator === undefined ? [] : [{ split: separator }, { at: 0 }];
}

/** A lookup of the record that a column refers to. `optional`: without a match, there is no value. */
export function lookupOf(
  reference: Reference,
  source: string,
  take: unknown,
  options: { readonly optional?: boolean | undefined } = {},
): unknown {
  const fold = reference.lowercase ? ['lowercase'] : [];
  const value = (name: string, apply: readonly unknown[]): unknown => (apply.length > 0 ? { from: name, apply } : name);
  return {
    lookup: {
      source,
      match: value(reference.to.name, fold),
      with: value(pathOf(reference.from), [...firstOf(reference), ...fold]),
      take,
      ...(options.optional === true ? { if_missing: 'skip' } : {}),
    },
  };
}
