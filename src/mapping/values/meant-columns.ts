/** Of columns that share a name, the one that a mapping means. */
import type { Source } from '../../input/source.ts';
import { testedTexts, transformOf, type EntrySpec } from '../spec.ts';
import { valuesOf } from '../spec-values.ts';

/** By name: the position of the column. */
export type MeantColumns = ReadonlyMap<string, number>;

/** As many rows show which column has the values. */
const ROWS = 1000;

/**
 * By source, of the columns that share a name: the only one in which the first rows have a value that a `map` or a condition of the
 * entries names. A custom field may have the name of a column of the CRM.
 */
export async function meantColumns(
  events: readonly (EntrySpec | undefined)[],
  sources: ReadonlyMap<string, Source>,
): Promise<ReadonlyMap<string, MeantColumns>> {
  const found = new Map<string, MeantColumns>();
  for (const source of sources.values()) {
    const texts = new Map([...source.duplicateColumns].map((name) => [name, new Set<string>()]));
    for (const entry of events) if (entry?.source === source.name) addNamed(entry, texts);
    const named = [...texts].filter(([, { size }]) => size > 0);
    if (named.length > 0) found.set(source.name, await meantIn(source, named));
  }
  return found;
}

/** Adds the texts that an entry names for a column. */
function addNamed(entry: EntrySpec, texts: ReadonlyMap<string, Set<string>>): void {
  for (const { path, spec } of valuesOf(entry, [])) {
    const isElsewhere = path.some((step, at) => step === 'lookup' && path[at + 1] !== 'with');
    const names = isElsewhere ? [] : [spec.from ?? []].flat();
    const columns = names.flatMap((name) => (typeof name === 'string' ? (texts.get(name) ?? []) : []));
    const maps = (spec.apply ?? [])
      .map(transformOf)
      .flatMap(([name, argument]) => (name === 'map' ? Object.keys(argument as object) : []));
    const known = [...(testedTexts(spec) ?? []), ...maps].map(fold);
    for (const texts of columns) for (const text of known) texts.add(text);
  }
}

async function meantIn(
  source: Source,
  named: readonly (readonly [string, ReadonlySet<string>])[],
): Promise<MeantColumns> {
  const seen = new Set<number>();
  let rows = 0;
  for await (const batch of source.batches()) {
    for (const item of batch) {
      if (item.kind !== 'row') continue;
      rows += 1;
      for (const [name, texts] of named)
        source.columns.forEach((column, at) => {
          if (column === name && texts.has(fold((item.raw as readonly string[])[at] ?? ''))) seen.add(at);
        });
    }
    if (rows >= ROWS) break;
  }
  const meant = named.flatMap(([name]) => {
    const columns = [...seen].filter((at) => source.columns[at] === name);
    return columns.length === 1 ? [[name, columns[0]!] as const] : [];
  });
  return new Map(meant);
}

function fold(text: string): string {
  return text.trim().toLowerCase();
}
