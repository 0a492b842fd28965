/** Keys of two columns: the id of a group, such as a company, and the number of the record in it. */
import { countOf, firstValues, isComplete, isUnique, plainColumns, type Column, type Table } from '../columns.ts';
import { isId } from '../matrix/content.ts';
import { fold } from '../words.ts';

/** Of records in a group. */
const MOST_NUMBERS = 30;

/**
 * Columns that stand for both, where together they are unique in one table, alone they are not, and another table has columns of the same
 * names with the same pairs: the key itself in `to`, and what refers to it in `from`.
 */
export function numberedIn(tables: readonly Table[]): { readonly to: Column[]; readonly from: Column[] } {
  const isKey = (each: Column): boolean => isUnique(each) && isComplete(each) && isId(each) && each.is.email < 0.5;
  const found = tables.flatMap((table) =>
    table.list !== undefined || table.columns.some(isKey)
      ? []
      : pairsIn(table).flatMap((pair) => {
          const to = asOne(pair, pair[0], SHAPES);
          if (!isUnique(to) || !isComplete(to)) return [];
          const from = tables.flatMap((other) => (other === table ? [] : (referringTo(to, other) ?? [])));
          return from.length > 0 ? [{ to, from }] : [];
        }),
  );
  return { to: found.map(({ to }) => to), from: found.flatMap(({ from }) => from) };
}

/** A column of ids that repeat, and one of small numbers. */
function pairsIn(table: Table): [Column, Column][] {
  const able = plainColumns(table).filter((each) => isComplete(each) && !each.date && each.distinct > 1);
  const numbers = able.filter(({ is, distinct }) => is.digits > 0.9 && distinct <= MOST_NUMBERS);
  const groups = able.filter((each) => isId(each) && each.distinct >= table.rows / MOST_NUMBERS);
  return groups.flatMap((group) =>
    numbers.flatMap((each): [Column, Column][] => (each === group ? [] : [[group, each]])),
  );
}

/** Two columns as one, which has a value where both have one. `like`: that of them which it is like, but for these shapes. */
export function asOne(pair: readonly [Column, Column], like: Column, shapes: Partial<Column['is']>): Column {
  const [first, second] = pair;
  const { table } = first;
  const sql = `(${first.sql} || ' ' || ${second.sql})`;
  const both = `from ${table.sql} where ${sql} is not null`;
  return {
    ...like,
    name: `${first.name} ${second.name}`,
    sql,
    values: firstValues(table, sql),
    pair,
    filled: countOf(table, both),
    distinct: countOf(table, `from (select distinct ${sql} ${both})`),
    is: { ...like.is, ...shapes },
  };
}

/** Not those of a number. */
const SHAPES = { digits: 0, whole: 0 };

function referringTo(to: Column, other: Table): Column | undefined {
  const [first, second] = to.pair!.map(({ name }) =>
    plainColumns(other).find((each) => fold(each.name) === fold(name)),
  );
  if (!first || !second || other.list !== undefined) return undefined;
  const from = asOne([first, second], first, SHAPES);
  const known = countOf(other, `from ${other.sql} where ${from.sql} in (select ${to.sql} from ${to.table.sql})`);
  return known > 0 && known >= from.filled * 0.8 ? from : undefined;
}
