/** Tables with more about each record of another one: their columns are columns of that. */
import { columnOf, countOf, isKey, isUnique, type Column, type Table } from '../columns.ts';
import { isCode } from '../content.ts';
import { lookupIn } from '../relations/lookups.ts';
import { namesTable } from '../relations/references.ts';
import { isStaff } from '../roles.ts';
import type { Samples } from '../tables.ts';
import { fold } from '../words.ts';

/** Of a table of texts, which has neither times nor authors of its own: the number, the text and little else. */
const MAX_COLUMNS = 4;
const MIN_ROWS = 5;

export function withDetails(samples: Samples): Samples {
  const { tables } = samples;
  for (const detail of tables) {
    const [key] = detail.columns;
    const isPlain = detail.list === undefined && detail.attributes === undefined && !detail.members;
    if (!isPlain || detail.rows < MIN_ROWS || !key || !isKey(key) || !isCode(key)) continue;
    const holder = tables
      .filter((each) => each !== detail)
      .flatMap(({ columns }) => columns.filter((own) => holds(own, key)))[0];
    if (holder) carry(holder, key);
  }
  return samples;
}

/**
 * Whether each record has at most one of the other table: both have the same key, and the name of one begins with that of the other
 * (`contacts_cstm`), or each has the number of a text of its own.
 */
function holds(own: Column, key: Column): boolean {
  const [table, detail] = [own.table, key.table];
  if (own.list !== undefined || table.list !== undefined || table.members || table.attributes) return false;
  if (!isUnique(own) || !isCode(own)) return false;
  const isText = own !== table.columns[0] && isOfTexts(detail);
  // Small numbers are ids of any table.
  const isSure = key.is.digits < 0.9 || namesTable(key, table);
  const isAlike = detail.nouns.every((noun) => table.nouns.includes(noun));
  const isMore = isKey(own) && isSure && isAlike && fold(detail.source).startsWith(`${fold(table.source)} `);
  if (!isText && !isMore) return false;
  const lost = countOf(
    detail,
    `from ${detail.sql} where ${key.sql} not in (select ${own.sql} from ${table.sql} where ${own.sql} is not null)`,
  );
  return lost === 0 && key.filled > own.filled / 2;
}

function isOfTexts({ nouns, columns }: Table): boolean {
  const isOther = nouns.some((noun) => noun !== 'comment') || columns.some((each) => each.date || isStaff(each));
  return !isOther && columns.length <= MAX_COLUMNS && columns.some(({ is }) => is.prose > 0.5);
}

function carry(own: Column, key: Column): void {
  const [{ table }, { table: detail }] = [own, key];
  const columns = detail.columns.filter((each) => each !== key && each.filled > 0 && each.list === undefined);
  for (const each of columns) {
    const sql = `${detail.sql}_${each.sql}`;
    table.db.exec(`alter table ${table.sql} add column ${sql} text`);
    table.db.exec(
      `update ${table.sql} set ${sql} = (select ${each.sql} from ${detail.sql} where ${key.sql} = ${table.sql}.${own.sql})`,
    );
    const isTaken = table.columns.some(({ name }) => name === each.name);
    const name = isTaken ? `${detail.source}.${each.name}` : each.name;
    const origin = lookupIn(detail, { match: key.name, with: own.name, take: each.name }, false);
    const plain = { list: undefined, several: 0, isWrapper: false, isInPairs: false };
    table.columns.push(columnOf(table, { name, sql, ...plain, origin }, each.name, true));
  }
  detail.attributes = { by: key.name, names: columns.length };
}
