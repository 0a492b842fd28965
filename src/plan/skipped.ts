/** Rows of the exports that become no event, by source and reason. */
import type { Database } from '../store/sqlite.ts';
import { numberText } from '../report/words/numbers.ts';
import type { UnusedCode } from '../report/words/unused.ts';

export interface SkippedRows {
  readonly source: string;
  readonly reason: UnusedCode;
  /** The conditions that do not hold, in words, with the number of their rows; null where there are none. */
  readonly why: string | null;
  readonly count: number;
  /** All rows of the source. */
  readonly of: number;
}

/** The most frequent first. */
export function readSkipped(db: Database): readonly SkippedRows[] {
  const rows = db.all<Omit<SkippedRows, 'why'> & { readonly unmet: string | null }>(`
    select r.source, k.code as reason, k.why as unmet, count(distinct k.record) as count, s.records as "of"
    from skipped k join row r on r.id = k.record join source s on s.name = r.source
    group by 1, 2, 3 order by 4 desc, 1, 2, 3`);
  const groups = new Map<string, typeof rows>();
  for (const row of rows) {
    const key = JSON.stringify([row.source, row.reason]);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()]
    .map((group): SkippedRows => {
      const { source, reason, of } = group[0]!;
      return { source, reason, of, count: sumOf(group), why: whyOf(group) };
    })
    .sort((one, other) => other.count - one.count);
}

type UnmetCount = Pick<SkippedRows, 'count'> & { readonly unmet: string | null };

const MOST_CONDITIONS = 3;

/** `` `Content` has no value (10), `Deal ID` has no value (5) ``; without the number where there is one condition. */
function whyOf(group: readonly UnmetCount[]): string | null {
  const told = group.filter(({ unmet }) => unmet !== null);
  if (told.length === 0) return null;
  if (group.length === 1) return told[0]!.unmet;
  const shown = told.slice(0, MOST_CONDITIONS);
  const rest = sumOf(group) - sumOf(shown);
  return [
    ...shown.map(({ count, unmet }) => `${unmet} (${numberText(count)})`),
    ...(rest > 0 ? [`other reasons (${numberText(rest)})`] : []),
  ].join(', ');
}

function sumOf(group: readonly UnmetCount[]): number {
  return group.reduce((sum, { count }) => sum + count, 0);
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
