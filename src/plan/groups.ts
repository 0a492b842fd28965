import type { Database } from '../store/sqlite.ts';

/** Rows that are read at once; a group may have more of them. */
const PAGE = 5_000;

interface GroupedRow {
  /** Its place in the order, in which the rows of a group follow each other. */
  readonly n: number;
  /** What the rows of a group have in common. */
  readonly together: string;
}

/** Groups of rows, whole, one after the other. `sql` ends with `where … n > ? order by n limit ?`; the caller may change what it does not read. */
export function* groupsOf<Row extends GroupedRow>(
  db: Database,
  sql: string,
): Generator<readonly Row[], void, undefined> {
  let group: Row[] = [];
  for (let last = 0; ;) {
    const rows = db.all<Row>(sql, last, PAGE);
    for (const row of rows) {
      if (group.length > 0 && group[0]!.together !== row.together) {
        yield group;
        group = [];
      }
      group.push(row);
    }
    if (rows.length === 0) break;
    last = rows.at(-1)!.n;
  }
  if (group.length > 0) yield group;
}

/** The greatest of some numbers, however many they are; null if there are none. */
export function greatest(numbers: Iterable<number | null>): number | null {
  let found: number | null = null;
  for (const number of numbers) if (number !== null && (found === null || number > found)) found = number;
  return found;
}
