/** Rows that become no event, by source and reason. */
import type { SkippedRows } from '../report/skipped.ts';
import { skipText } from '../vocabulary/terms.ts';
import { LIMITS, sectionOf, type Section } from './figures.ts';

/** Undefined if every row became an event. */
export function skippedSection(rows: readonly SkippedRows[]): Section | undefined {
  if (rows.length === 0) return undefined;
  return sectionOf({
    id: 'skipped',
    title: 'Rows skipped',
    columns: [
      { head: 'source', kind: 'label' },
      { head: 'why', kind: 'text' },
      { head: 'rows', kind: 'number' },
      { head: 'of', kind: 'number' },
    ],
    rows: rows.map(({ source, reason, count, of }) => [source, skipText(reason), count, of]),
    limit: { ...LIMITS.skipped, noun: 'reason', rest: 'left_out.csv', isSummed: false },
  });
}
