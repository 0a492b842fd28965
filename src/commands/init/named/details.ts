/** Tables with more about each record of another one: their columns are columns of that. */
import type { ValueSpec } from '../../../mapping/spec.ts';
import { columnOf, countOf, isComplete, isKey, isUnique, type Column, type Table } from '../columns.ts';
import { isCode } from '../matrix/content.ts';
import { lookupIn, placeholder } from '../relations/lookups.ts';
import { namesTable } from '../relations/references.ts';
import { isStaff } from '../matrix/roles.ts';
import type { Samples } from '../tables.ts';
import { fold, meaningOf } from '../words.ts';

/** Of a table of texts, which has neither times nor authors of its own: the number, the text and little else. */
const MAX_COLUMNS = 4;
const MIN_ROWS = 5;

export function withDetails(samples: Samples): Samples {
  const { tables } = samples;
  for (const detail of tables) {
    const [key] = detail.columns.filter(isPlainColumn);
    const isPlain = detail.list === undefined && detail.attributes === undefined && !detail.members;
    if (!isPlain || detail.rows < MIN_ROWS || !key) continue;
    const able = tables
      .filter((each) => each !== detail && each.list === undefined)
      .flatMap(({ columns }) => columns.filter(isPlainColumn));
    const holder = isKey(key) && isCode(key) ? able.find((own) => holds(own, key)) : undefined;
    if (holder) carry(holder, key);
    else historyOf(detail, able);
  }
  return samples;
}

/**
 * The steps that records have been through, each until a time: of the step that a record is in, there is none. The columns of these rows
 * are those of the record.
 */
function historyOf(detail: Table, able: readonly Column[]): void {
  const { concepts } = meaningOf(detail.source);
  if (!concepts.has('stage') && !concepts.has('status')) return;
  for (const key of detail.columns.filter(
    (each) => isPlainColumn(each) && isComplete(each) && isCode(each) && !isUnique(each),
  )) {
    const own = able.find((each) => isKey(each) && isCode(each) && namesTable(key, each.table) && isAmong(key, each));
    const end = own && detail.columns.find((each) => isPlainColumn(each) && isOpenOnce(each, key, own));
    if (own && end) return carry(own, key, end);
  }
}

/** Neither of several columns, nor of another table. */
function isPlainColumn({ origin, list }: Column): boolean {
  return origin === undefined && list === undefined;
}

/** Whether a column is empty in one row of each record. */
function isOpenOnce(end: Column, key: Column, own: Column): boolean {
  const open = `from ${key.table.sql} where ${end.sql} is null`;
  const count = countOf(key.table, open);
  return count === own.filled && countOf(key.table, `from (select distinct ${key.sql} ${open})`) === count;
}

function isAmong(key: Column, own: Column): boolean {
  const known = `select ${own.sql} from ${own.table.sql} where ${own.sql} is not null`;
  return countOf(key.table, `from ${key.table.sql} where ${key.sql} not in (${known})`) === 0;
}

/**
 * Whether each record has at most one of the other table: both have the same key, and the name of one begins with that of the other
 * (`contacts_cstm`), or each has the number of a text of its own.
 */
function holds(own: Column, key: Column): boolean {
  const [table, detail] = [own.table, key.table];
  if (table.members || table.attributes) return false;
  if (!isUnique(own) || !isCode(own)) return false;
  const isText = own !== table.columns[0] && isOfTexts(detail);
  // Small numbers are ids of any table.
  const isSure = key.is.digits < 0.9 || namesTable(key, table);
  const isAlike = detail.nouns.every((noun) => table.nouns.includes(noun));
  const isMore = isKey(own) && isSure && isAlike && fold(detail.source).startsWith(`${fold(table.source)} `);
  if (!isText && !isMore) return false;
  return isAmong(key, own) && key.filled > own.filled / 2;
}

function isOfTexts({ nouns, columns }: Table): boolean {
  const isOther = nouns.some((noun) => noun !== 'comment') || columns.some((each) => each.date || isStaff(each));
  return !isOther && columns.length <= MAX_COLUMNS && columns.some(({ is }) => is.prose > 0.5);
}

/** `end`: of several rows with a key, that without one. */
function carry(own: Column, key: Column, end?: Column): void {
  const [{ table }, { table: detail }] = [own, key];
  const columns = detail.columns.filter(
    (each) => isPlainColumn(each) && each !== key && each !== end && each.filled > 0 && !(end && isKey(each)),
  );
  const match: ValueSpec = end
    ? { template: `${placeholder(key)} ${placeholder(end)}`, apply: ['collapse_whitespace'] }
    : key.name;
  addColumns(
    own,
    { table: detail.sql, key: key.sql, ...(end && { end: end.sql }) },
    columns.map(({ name, sql }) => {
      const isTaken = table.columns.some((each) => each.name === name);
      const origin = lookupIn(detail, { match, with: own.name, take: name }, false);
      return { name: isTaken ? `${detail.source}.${name}` : name, sql, header: name, origin };
    }),
  );
  detail.attributes = { by: key.name, names: columns.length };
}

/** The cells of another table as columns of that of `own`, by its key in SQL; of several rows, by that without an `end`. */
export function addColumns(
  own: Column,
  from: { readonly table: string; readonly key: string; readonly end?: string },
  columns: readonly (Pick<Column, 'name' | 'sql' | 'label' | 'origin'> & { readonly header: string })[],
): void {
  const { table } = own;
  const isOpen = from.end === undefined ? '' : ` and ${from.end} is null`;
  table.db.exec(`create index ${from.table}_by_key on ${from.table} (${from.key})`);
  for (const { name, sql: at, label, origin, header } of columns) {
    const sql = `${from.table}_${at}`;
    const row = `from ${from.table} where ${from.key} = ${table.sql}.${own.sql}${isOpen}`;
    table.db.exec(`alter table ${table.sql} add column ${sql} text`);
    table.db.exec(`update ${table.sql} set ${sql} = (select ${at} ${row})`);
    table.columns.push(columnOf(table, { name, sql, label, origin }, header));
  }
}
