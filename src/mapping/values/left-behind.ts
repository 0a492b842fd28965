/** What a record has and its event does not carry, although the mapping reads it. Said as warnings of the record. */
import type { JsonValue } from '../../json.ts';
import type { PathUse, ValueContext } from './compile-context.ts';
import type { Evaluate, RowContext } from './row-context.ts';
import { isAlternatives, type ValueSpec } from '../spec.ts';
import { ValueError, textOf } from './result.ts';
import { issueOf } from '../../vocabulary/words.ts';

/** One column of a `from` list. */
export interface Alternative {
  readonly path: string;
  readonly evaluate: Evaluate;
}

/** The field for which a value is read, and what all values of its entry read. */
interface InEntry {
  readonly field: string;
  readonly uses: readonly PathUse[];
}

/** Of the values of an event there may be several in a record; of its id, time and condition there is one. */
export function saysWhatIsLeft({ kind, path }: ValueContext): boolean {
  return path[2] === 'data' && kind !== 'id';
}

/** Whether another field of the entry reads the column as well, so that nothing is lost. */
function isCarried(path: string, { field, uses }: InEntry): boolean {
  return uses.some((use) => use.path === path && use.field !== field && use.decides === undefined);
}

/**
 * Warns of each column behind the one that a `from` list took whose value differs: `passed_over`. Values that differ only in
 * letter case or spaces are the same.
 */
export function reportPassedOver(
  taken: { readonly path: string; readonly value: JsonValue },
  behind: readonly Alternative[],
  entry: InEntry,
  row: RowContext,
): void {
  const plain = (value: JsonValue): string =>
    (textOf(value) ?? JSON.stringify(value)).toLowerCase().replace(/\s+/g, '');
  for (const { path, evaluate } of behind) {
    const value = evaluate(row);
    if (value === undefined || value instanceof ValueError || plain(value) === plain(taken.value)) continue;
    if (isCarried(path, entry)) continue;
    row.report(issueOf('passed_over', path, taken.path));
  }
}

/** Warns of a list of which `at` takes one element: `list_cut`. `spec`: the value that has the transform. */
export function reportListCut(value: JsonValue, spec: ValueSpec, entry: InEntry, row: RowContext): void {
  if (!Array.isArray(value)) return;
  const elements = new Set(
    (value as readonly JsonValue[]).flatMap((each) => (each === null ? [] : [JSON.stringify(each)])),
  );
  if (elements.size < 2) return;
  const from = typeof spec === 'string' || isAlternatives(spec.from) ? undefined : spec.from;
  const path = typeof from === 'string' ? from : undefined;
  if (path !== undefined && isCarried(path, entry)) return;
  const what = path === undefined ? 'the list' : `\`${path}\``;
  row.report(issueOf('list_cut', elements.size, what));
}
