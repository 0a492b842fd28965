import { hash } from 'node:crypto';
import { canonicalJson } from '../json.ts';
import type { RawRecord } from '../model.ts';

/** The columns or keys that a rejects file adds to a record. Only `row` is read back. */
const NAMES = ['file', 'line', 'error', 'row'] as const;
const ADDED = new RegExp(`^(_+)(?:${NAMES.join('|')})$`);

/** Their names in one file: `_file` … */
type RejectColumns = Readonly<Record<(typeof NAMES)[number], string>>;

/** What to add to a record with these columns or keys: `_file` …, with more underscores where it has such columns itself. */
export function rejectColumnsFor(names: readonly string[]): RejectColumns {
  return named(deepest(names) + 1);
}

/** The columns that were added to a record with these keys. */
export function rejectColumnsIn(names: readonly string[]): RejectColumns {
  return named(Math.max(1, deepest(names)));
}

/** The most underscores before one of the names. */
function deepest(names: readonly string[]): number {
  return Math.max(0, ...names.map((name) => ADDED.exec(name)?.[1]?.length ?? 0));
}

function named(underscores: number): RejectColumns {
  return Object.fromEntries(NAMES.map((name) => [name, `${'_'.repeat(underscores)}${name}`])) as RejectColumns;
}

/** A letter and 20 hexadecimal digits, so that no spreadsheet reads it as a number. */
const ROW_HASH = /^r[\da-f]{20}$/;

export function isRowHash(text: string): boolean {
  return ROW_HASH.test(text);
}

/**
 * Computes `_row`: a hash of the content of a record, wherever it is. `columns`: of the source, for a table. Their order and empty cells do
 * not matter, so the hash is the same in an export with another layout.
 */
export function rowHasher(columns: readonly string[]): (raw: RawRecord) => string {
  const keys = numbered(columns);
  const order = keys.map((_, index) => index).sort((one, other) => (keys[one]! < keys[other]! ? -1 : 1));
  const cellsOf = (cells: readonly string[]): string => {
    const filled = order.flatMap((index) => (cells[index] ? [keys[index], cells[index]] : []));
    return JSON.stringify([filled, cells.slice(keys.length)]);
  };
  return (raw) => {
    const text = isCells(raw) ? cellsOf(raw) : canonicalJson(raw);
    return `r${hash('sha256', text, 'hex').slice(0, 20)}`;
  };
}

/** Keys that distinguish columns with the same name: `1:Status`, `2:Status`. */
export function numbered(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    return `${nth}:${name}`;
  });
}

export function nameOf(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}

export function isCells(raw: RawRecord): raw is readonly string[] {
  return Array.isArray(raw);
}
