/** Rows of the exports that become no event, by source and reason. */
import type { Database } from '../store/sqlite.ts';

export interface SkippedRows {
  readonly source: string;
  /** `when`, `each`, `orphan`: see `skipText`. */
  readonly reason: string;
  readonly count: number;
  /** All rows of the source. */
  readonly of: number;
}

/** The most frequent first. */
export function readSkipped(db: Database): readonly SkippedRows[] {
  return db.all<SkippedRows>(`
    select s.name as source, k.code as reason, count(distinct k.record) as count, s.records as "of"
    from unused_row k
      join record r on r.id = k.record join file f on f.id = r.file join source s on s.id = f.source
    where k.code <> 'unread' and k.record not in (select record from event) and k.record not in (select record from row_of)
    group by 1, 2 order by 3 desc, 1, 2`);
}

/** As `--json` has them. */
export function skippedCounts(
  rows: readonly SkippedRows[],
): Readonly<Record<string, Readonly<Record<string, number>>>> {
  const counts: Record<string, Record<string, number>> = {};
  for (const { source, reason, count } of rows) (counts[source] ??= {})[reason] = count;
  return counts;
}

/** A source of which more rows than this part are skipped is worth a warning. */
const SHARE = 1 / 10;

/** The sources of which more than a tenth is skipped, with the reason of most. */
export function muchSkipped(rows: readonly SkippedRows[]): readonly (SkippedRows & { readonly total: number })[] {
  const sources = [...new Set(rows.map(({ source }) => source))];
  return sources.flatMap((source) => {
    const own = rows.filter((each) => each.source === source);
    const total = own.reduce((sum, { count }) => sum + count, 0);
    return total > own[0]!.of * SHARE ? [{ ...own[0]!, total }] : [];
  });
}
