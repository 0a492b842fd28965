/** Ids and phone numbers that a data frame wrote as decimals: `51000301.0`, since a column of whole numbers with gaps has no other form. */
import type { CompiledMapping } from '../mapping/mapping.ts';
import { findColumn } from '../mapping/path.ts';
import type { ReadItem } from '../model.ts';
import type { Source } from '../source/source.ts';
import { numberText } from '../terminal/numbers.ts';

const DECIMAL = /^\s*\d+\.0\s*$/;
const READ = /(?:^|_)external_id$|^phone_number$/;

/**
 * The sources with such columns read without `.0`: columns whose every value is written so, and that are read as an id or a phone
 * number, or by a lookup. Undefined if there are none. The first rows show nearly always that there are none.
 */
export async function withoutDecimals(
  sources: ReadonlyMap<string, Source>,
  { entries, lookedUp }: CompiledMapping,
): Promise<ReadonlyMap<string, Source> | undefined> {
  const found = new Map<string, Source>();
  for (const [name, source] of sources) {
    if (source.kind !== 'table') continue;
    const columns = new Set<number | undefined>();
    for (const column of lookedUp.get(name) ?? []) columns.add(findColumn(source.columns, column));
    for (const entry of entries) {
      if (entry.source !== name) continue;
      for (const { field, column, isRest } of entry.uses) if (!isRest && READ.test(field)) columns.add(column);
    }
    const decimals = await decimalsOf(
      source,
      [...columns].filter((column): column is number => column !== undefined),
    );
    if (decimals.length > 0) found.set(name, asWhole(source, decimals));
  }
  return found.size === 0 ? undefined : new Map([...sources, ...found]);
}

interface Decimals {
  readonly column: number;
  count: number;
  example: string;
  file: string;
  line: number;
}

/** Of these columns, those that have values, all of them decimals. */
async function decimalsOf(source: Source, columns: readonly number[]): Promise<Decimals[]> {
  let left = columns.map((column): Decimals => ({ column, count: 0, example: '', file: '', line: 0 }));
  for await (const batch of source.batches()) {
    for (const item of batch) if (item.kind === 'row') left = left.filter((each) => isDecimal(each, item));
    if (left.length === 0) return [];
  }
  return left.filter(({ count }) => count > 0);
}

/** Whether the row leaves it possible that all values of the column are decimals. */
function isDecimal(found: Decimals, { raw, place }: Extract<ReadItem, { kind: 'row' }>): boolean {
  const cell = (raw as readonly string[])[found.column] ?? '';
  if (cell.trim() === '') return true;
  if (!DECIMAL.test(cell)) return false;
  if (found.count === 0) Object.assign(found, { example: cell.trim(), file: place.file, line: place.line });
  found.count += 1;
  return true;
}

function asWhole(source: Source, decimals: readonly Decimals[]): Source {
  return {
    ...source,
    async *batches() {
      for await (const batch of source.batches()) yield batch.map((item) => withoutZero(item, decimals));
    },
    unusedFixes: () => source.unusedFixes(),
    digests: () => source.digests(),
    notices: () => [
      ...source.notices(),
      ...decimals.map(({ column, count, example, file, line }) => ({
        code: 'ids_as_decimals',
        message: `\`${source.columns[column]!}\`: all ${numberText(count)} values are decimals like \`${example}\`, and are read without \`.0\``,
        ...{ file, line },
      })),
    ],
  };
}

function withoutZero(item: ReadItem, decimals: readonly Decimals[]): ReadItem {
  if (item.kind !== 'row') return item;
  const raw = [...(item.raw as readonly string[])];
  for (const { column } of decimals) raw[column] = (raw[column] ?? '').replace(/\.0(\s*)$/, '$1');
  return { ...item, raw };
}
