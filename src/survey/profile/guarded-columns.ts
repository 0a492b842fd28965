/** Columns in which every value begins with an apostrophe, with which a program made spreadsheets read them as text. */
import type { ReadItem } from '../../model.ts';
import { notice, type Source } from '../../input/source.ts';
import { shortened } from '../../report/words/visible.ts';
import { issueOf } from '../../report/words/words.ts';

/** Dutch names begin so themselves: `'t Hooft`, `'s-Gravesande`. */
const NAME = /^'[stn][ -]/i;

interface Guarded {
  readonly column: number;
  count: number;
  example: string;
  file: string;
  line: number;
}

/** The sources with such columns read without the apostrophes. The first rows show nearly always that there are none. */
export async function withoutGuards(sources: ReadonlyMap<string, Source>): Promise<ReadonlyMap<string, Source>> {
  const found = new Map(sources);
  for (const [name, source] of sources) {
    if (source.kind !== 'table') continue;
    const guarded = await guardedColumns(source);
    if (guarded.length > 0) found.set(name, unguarded(source, guarded));
  }
  return found;
}

async function guardedColumns(source: Source): Promise<Guarded[]> {
  let left = source.columns.map((_, column): Guarded => ({ column, count: 0, example: '', file: '', line: 0 }));
  for await (const batch of source.batches()) {
    for (const item of batch) if (item.kind === 'row') left = left.filter((each) => mayBeGuarded(each, item));
    // Columns without any value so far show nothing.
    if (left.every(({ count }) => count === 0)) return [];
  }
  return left.filter(({ count }) => count > 0);
}

function mayBeGuarded(found: Guarded, { raw, place }: Extract<ReadItem, { kind: 'row' }>): boolean {
  const cell = (raw as readonly string[])[found.column] ?? '';
  if (cell.trim() === '') return true;
  if (!cell.startsWith("'") || NAME.test(cell)) return false;
  if (found.count === 0) Object.assign(found, { example: shortened(cell, 40), file: place.file, line: place.line });
  found.count += 1;
  return true;
}

function unguarded(source: Source, guarded: readonly Guarded[]): Source {
  const columns = new Set(guarded.map(({ column }) => column));
  const plain = (cell: string, column: number): string =>
    columns.has(column) && cell.startsWith("'") ? cell.slice(1) : cell;
  return {
    ...source,
    async *batches() {
      for await (const batch of source.batches()) {
        yield batch.map((item) =>
          item.kind === 'row' ? { ...item, raw: (item.raw as readonly string[]).map(plain) } : item,
        );
      }
    },
    unusedFixes: () => source.unusedFixes(),
    digests: () => source.digests(),
    notices: () => [
      ...source.notices(),
      ...guarded.map(({ count, example, file, line }) =>
        notice(issueOf('guard_apostrophe', count, example), file, line),
      ),
    ],
  };
}
