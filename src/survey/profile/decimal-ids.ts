/** Ids and phone numbers that a data frame wrote as decimals: `51000301.0`, since a column of whole numbers with gaps has no other form. */
import { isObject, NumberText, type JsonObject, type JsonValue } from '../../json.ts';
import type { CompiledMapping } from '../../mapping/mapping.ts';
import { findColumn } from '../../mapping/values/path.ts';
import { textOf } from '../../mapping/values/result.ts';
import { cellPlace, type RawRecord, type ReadItem } from '../../model.ts';
import { notice, type Source } from '../../input/source.ts';
import { issueOf } from '../../report/words/words.ts';

const DECIMAL = /^\s*\d+\.0\s*$/;
const READ = /(?:^|_)external_id$|^phone_number$/;

/**
 * The sources with such columns read without `.0`: columns (of JSON, paths that lead through no list) whose every value is written so,
 * and that are read as an id or a phone number, or by a lookup. Undefined if there are none. The first rows show nearly always that
 * there are none.
 */
export async function withoutDecimals(
  sources: ReadonlyMap<string, Source>,
  { entries, lookedUp }: CompiledMapping,
): Promise<ReadonlyMap<string, Source> | undefined> {
  const found = new Map<string, Source>();
  for (const [name, source] of sources) {
    const paths = new Set(lookedUp.get(name));
    for (const entry of entries) {
      if (entry.source !== name) continue;
      for (const { field, path, isRest } of entry.uses) if (!isRest && READ.test(field)) paths.add(path);
    }
    const decimals = await decimalsOf(
      source,
      [...paths].flatMap((path) => columnOf(source, path) ?? []),
    );
    if (decimals.length > 0) found.set(name, asWhole(source, decimals));
  }
  return found.size === 0 ? undefined : new Map([...sources, ...found]);
}

/** Where the values of a column or path are. */
interface WholeColumn {
  readonly name: string;
  readonly steps: readonly string[] | number;
}

function columnOf({ kind, columns }: Source, path: string): WholeColumn | undefined {
  if (kind === 'tree')
    return /^[^$.[\]"]+(?:\.[^$.[\]"]+)*$/.test(path) ? { name: path, steps: path.split('.') } : undefined;
  const column = findColumn(columns, path);
  return column < 0 ? undefined : { name: path, steps: column };
}

interface Decimals extends WholeColumn {
  count: number;
  example: string;
  file: string;
  line: number;
}

/** Of these columns, those that have values, all of them decimals. */
async function decimalsOf(source: Source, places: readonly WholeColumn[]): Promise<Decimals[]> {
  let left = places.map((place): Decimals => ({ ...place, count: 0, example: '', file: '', line: 0 }));
  if (left.length === 0) return [];
  for await (const batch of source.batches()) {
    for (const item of batch) if (item.kind === 'row') left = left.filter((each) => isDecimal(each, item));
    if (left.length === 0) return [];
  }
  return left.filter(({ count }) => count > 0);
}

/** Whether the row leaves it possible that all values of the column are decimals. */
function isDecimal(found: Decimals, { raw, place }: Extract<ReadItem, { kind: 'row' }>): boolean {
  const text = textOf(valueAt(raw, found.steps)) ?? '';
  if (text.trim() === '') return true;
  if (!DECIMAL.test(text)) return false;
  if (found.count === 0) {
    const { file, line } = cellPlace(place, typeof found.steps === 'number' ? found.steps : 0);
    Object.assign(found, { example: text.trim(), file, line });
  }
  found.count += 1;
  return true;
}

function valueAt(raw: RawRecord, steps: WholeColumn['steps']): JsonValue | undefined {
  if (typeof steps === 'number') return (raw as readonly string[])[steps];
  return steps.reduce<JsonValue | undefined>(
    (value, step) => (isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined),
    raw as JsonObject,
  );
}

function asWhole(source: Source, decimals: readonly Decimals[]): Source {
  return {
    ...source,
    async *batches() {
      for await (const batch of source.batches()) yield batch.map((item) => withoutZeros(item, decimals));
    },
    unusedFixes: () => source.unusedFixes(),
    digests: () => source.digests(),
    notices: () => [
      ...source.notices(),
      ...decimals.map(({ name, count, example, file, line }) =>
        notice(issueOf('ids_as_decimals', name, count, example), file, line),
      ),
    ],
  };
}

function withoutZeros(item: ReadItem, decimals: readonly Decimals[]): ReadItem {
  if (item.kind !== 'row') return item;
  return { ...item, raw: decimals.reduce((raw, { steps }) => withoutZero(raw, steps), item.raw) };
}

function withoutZero(raw: RawRecord, steps: WholeColumn['steps']): RawRecord {
  if (typeof steps !== 'number') return replaced(raw as JsonObject, steps);
  return (raw as readonly string[]).map((cell, column) => (column === steps ? whole(cell) : cell));
}

function replaced(object: JsonObject, [step = '', ...steps]: readonly string[]): JsonObject {
  const value = Object.hasOwn(object, step) ? object[step] : undefined;
  if (value === undefined) return object;
  if (steps.length > 0) return isObject(value) ? { ...object, [step]: replaced(value, steps) } : object;
  if (value instanceof NumberText) return { ...object, [step]: new NumberText(whole(value.text)) };
  return typeof value === 'string' ? { ...object, [step]: whole(value) } : object;
}

function whole(text: string): string {
  return text.replace(/\.0(\s*)$/, '$1');
}
