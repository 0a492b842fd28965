/** What a record says and its event does not, although the mapping reads it. Said as warnings of the record. */
import { contradicts, currencyMarks, currencyMarksInName, isCurrency } from '../../kinds/currencies.ts';
import { isObject, type JsonObject, type JsonValue } from '../../json.ts';
import type { PathUse, ValueContext } from './compile-context.ts';
import { textOf, valueText, type Evaluate, type RowContext } from './result.ts';
import { isAlternatives, type EntrySpec, type ValueSpec } from '../spec.ts';
import { issueOf } from '../../report/words/words.ts';
import { Problem } from '../../problem.ts';

interface Alternative {
  /** Undefined if it is more than a column or path. */
  readonly path: string | undefined;
  readonly column: number | undefined;
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

/** Whether another field of the entry reads the column as well, or the list or object that has it, so that nothing is lost. */
function isCarried(path: string, { field, uses }: InEntry): boolean {
  return uses.some((use) => {
    const isIn = use.path === path || (use.column === undefined && path.startsWith(`${use.path}.`));
    return isIn && use.field !== field && use.decides === undefined;
  });
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
  for (const { path, column, evaluate } of behind) {
    if (path === undefined) continue;
    const value = evaluate(row);
    if (value === undefined || value instanceof Problem || plain(value) === plain(taken.value)) continue;
    if (isCarried(path, entry)) continue;
    row.report(issueOf('passed_over', path, taken.path).with({ column }));
  }
}

/** Warns if `at` carries only one element of a list: `list_cut`. `spec`: the value that has the transform. */
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

/** Warns of an amount whose sign or code, in the record or in the name of its column, means another currency: `other_currency`. */
export function reportOtherCurrency(data: JsonObject, uses: readonly PathUse[], row: RowContext): void {
  const { amount, currency } = data;
  if (amount === undefined || typeof currency !== 'string') return;
  for (const { field, path, decides, evaluate } of uses) {
    if (field !== 'amount' || decides !== undefined) continue;
    const value = evaluate(row);
    if (value === undefined || value instanceof Problem) continue;
    const text = textOf(value) ?? '';
    const own = currencyMarks(text);
    const mark = (own.length > 0 ? own : marksInName(path)).find((each) => contradicts(each, currency));
    if (mark === undefined) continue;
    row.field = 'amount';
    row.report(
      issueOf('other_currency', own.length > 0 ? valueText(text) : `the column ${valueText(path)}`, mark, currency),
    );
    return;
  }
}

/** Headers and keys of a currency, in the languages of most exports. */
const CURRENCY_NAME = /currenc|devise|valuta|w[äa]hrung|moneda|moeda|divisa|waluta|m[eě]na\b|валют|\bvaluutta\b/iu;

/**
 * Warns of an amount that is sent with a constant currency while the record has another one in a column or key of its own, which
 * the mapping does not read for it: `other_currency`. Undefined if `currency` reads something.
 */
export function otherCurrencyOfRecord(
  { data }: Pick<EntrySpec, 'data'>,
  columns: readonly string[],
  uses: readonly PathUse[],
): ((data: JsonObject, row: RowContext) => void) | undefined {
  if (data['currency'] === undefined || uses.some(({ field }) => field === 'currency')) return undefined;
  const cells = columns.flatMap((name, column) => (CURRENCY_NAME.test(name) ? [{ name, column }] : []));
  return ({ amount, currency }, row) => {
    if (amount === undefined || typeof currency !== 'string') return;
    const found: readonly (readonly [name: string, value: JsonValue | undefined])[] =
      columns.length > 0
        ? cells.map(({ name, column }) => [name, row.cells[column]])
        : [...membersOf(row.element), ...membersOf(row.element, 'properties')];
    for (const [name, value] of found) {
      const code = textOf(value)?.trim().toUpperCase();
      if (code === undefined || code === currency || !isCurrency(code)) continue;
      row.field = 'currency';
      row.report(issueOf('other_currency', `the column ${valueText(name)}`, code, currency));
      return;
    }
  };
}

/** The keys of an object that are named like a currency. */
function membersOf(value: JsonValue | undefined, within?: string): [name: string, value: JsonValue | undefined][] {
  const object = within !== undefined && isObject(value) ? value[within] : value;
  if (!isObject(object)) return [];
  return Object.keys(object).flatMap((key) => (CURRENCY_NAME.test(key) ? [[key, object[key]]] : []));
}

const marksByName = new Map<string, readonly string[]>();

function marksInName(name: string): readonly string[] {
  let marks = marksByName.get(name);
  if (marks === undefined) marksByName.set(name, (marks = currencyMarksInName(name)));
  return marks;
}
