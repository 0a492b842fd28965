/** Values of the mapping that another table has: lookups of its records, and columns joined to one text. */
import type { TransformSpec, ValueSpec } from '../../../mapping/spec.ts';
import { addressIn, isUnique, literal, valueIn, type Column, type Table } from '../columns.ts';
import type { RecordType } from '../raw-table.ts';
import type { Reference } from './references.ts';

/** The value that names the record, on its own side. */
export function partOf({ from, by }: Reference): ValueSpec {
  if (from.pair) return joined(from.pair, ' ', by.apply);
  return valueIn(from, ...by.apply);
}

/** In a template: braces of the name are doubled; of a list, the first element. */
export function placeholder({ name, list }: Column): string {
  const path = list === undefined ? name : `${list}[0]${name.slice(list.length)}`;
  return `{${path.replace(/[{}]/g, '$&$&')}}`;
}

/** The value of `take` of the record that a column refers to. */
export function lookupOf(reference: Reference, take: ValueSpec, optional = true): ValueSpec {
  const { to, by } = reference;
  const match = by.fold && !to.pair ? addressIn(to, ...(by.key ?? by.apply)) : joined(to.pair ?? [to], ' ', by.key);
  return lookupIn(to.table, { match, with: partOf(reference), take }, !isUnique(to), optional);
}

/**
 * `several`: the one that a flag calls the main one is taken, or else the first one. `optional`: without a match, there is no value.
 */
export function lookupIn(
  table: Table,
  { match: key, with: own, take }: Readonly<Record<'match' | 'with' | 'take', ValueSpec>>,
  several: boolean,
  optional = true,
): ValueSpec {
  const { source, only } = table;
  const match = only && !only.isNot ? keyAmong(only, key) : key;
  const missing = optional && { if_missing: 'skip' as const };
  const many = several && { if_many: 'first' as const };
  const first = { lookup: { source, match, with: own, take, ...missing, ...many } };
  const flag = several ? flagOf(table) : undefined;
  if (!flag) return first;
  const { column, value } = flag;
  // Without a key of its own, a record has no main one.
  const apply = [{ join: ' ' }, { extract: `^.+ ${value}$` }];
  const main = { match: { list: [match, column.name], apply }, with: { list: [own, { value }], apply } };
  return { from: [{ lookup: { source, ...main, take, if_missing: 'skip', if_many: 'first' } }, first] };
}

/** The key of those records of an export that are of a type. */
function keyAmong({ from, is }: RecordType, key: ValueSpec): ValueSpec {
  if (is === 'present') return key;
  const isAbsent = is === 'absent';
  const types = isAbsent ? NO_TYPE : `(?:${is.map(literal).join('|')})`;
  const type = isAbsent ? { from, default: NO_TYPE } : from;
  return { list: [type, key], apply: [{ join: ' ' }, { extract: `^${types} (.+)$` }] };
}

/** An id, of records of these types only. */
export function idOfType(type: Column, values: readonly string[], id: Column): ValueSpec {
  const escaped = values.map(literal);
  const extract = `^${escaped.length > 1 ? `(?:${escaped.join('|')})` : escaped[0]} (.+)$`;
  return { template: `${placeholder(type)} ${placeholder(id)}`, apply: [{ extract }] };
}

/** Stands for the type of a record that has none. */
const NO_TYPE = '-';

/** The column that calls some records of a table the main ones: `is_primary`. */
export function flagOf({ columns, nouns }: Table): { column: Column; value: string } | undefined {
  for (const column of nouns.includes('stage') ? [] : columns) {
    const isFlag = column.meaning.concepts.has('primary') && (column.is.flag > 0.9 || column.distinct === 1);
    // `role`: `primary`, `secondary`.
    const isType = column.distinct <= 12 && column.is.words > 0.8;
    const value = column.values.find((each) =>
      isFlag ? /^(?:true|t|1|yes|y|x)$/i.test(each) : isType && /^(?:primary|main|haupt\w*|principale?)$/i.test(each),
    );
    if (value !== undefined && column.list === undefined) return { column, value };
  }
  return undefined;
}

/** The columns as one text. */
export function joined(columns: readonly Column[], separator: string, apply: readonly TransformSpec[] = []): ValueSpec {
  if (columns.length > 1) return { list: columns.map((each) => valueIn(each)), apply: [{ join: separator }, ...apply] };
  return valueIn(columns[0]!, ...apply);
}

/** The first of these that a record has. */
export function firstOf(values: readonly ValueSpec[]): ValueSpec {
  return values.length === 1 ? values[0]! : { from: values };
}
