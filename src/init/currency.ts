import type { ValueSpec } from '../mapping/spec.ts';
import { numberText } from '../numbers.ts';
import { countEach, type ExportColumn, type Table } from './columns.ts';

/** Signs that several currencies share stand for the one that is by far the most common. */
const SIGNS: Readonly<Record<string, string>> = { $: 'USD', '€': 'EUR', '£': 'GBP', '¥': 'JPY' };

/** The one currency whose sign or code the amounts carry, with its figures; `why` if there is none or several. */
export function currencyOf(
  amounts: ExportColumn | undefined,
): { readonly code: string; readonly figures: string } | { readonly why: string } {
  const counts = countEach(amounts?.values.map((value) => /[$€£¥]|\b[A-Z]{3}\b/.exec(value)?.[0]) ?? []);
  if (!amounts || counts.size === 0) return { why: 'no column contains the currency' };
  const figures = [...counts].map(
    ([mark, count]) => `${numberText(count)} of ${numberText(amounts.values.length)} amounts have ${mark}`,
  );
  const found = new Set([...counts.keys()].map((mark) => SIGNS[mark] ?? mark));
  const [code] = found;
  if (found.size > 1 || code === undefined) return { why: `several currencies: ${figures.join(', ')}` };
  return { code, figures: figures.join(', ') };
}

/** The currency of a preset where it is constant, for all deals or for those without one: that of the amounts if they show it. */
export function checkedCurrency(
  currency: unknown,
  amount: unknown,
  { columns, rows }: Table,
): { readonly value: ValueSpec; readonly remark: string } | undefined {
  const [column, constant] = alternativesOf(currency);
  if (constant === undefined) return undefined;
  const named = (name: unknown): ExportColumn | undefined => columns.find((each) => each.name === name);
  const found = currencyOf(named(alternativesOf(amount)[0]));
  const code = 'why' in found ? constant : found.code;
  const evidence = 'why' in found ? [] : [found.figures];
  if (column === undefined) {
    const why = 'why' in found ? found.why : `no column contains the currency, but ${found.figures}`;
    return { value: { value: code }, remark: `set this: ${why}` };
  }
  const without = rows - (named(column)?.filled ?? 0);
  const share = `${numberText(without)} of ${numberText(rows)} deals have none`;
  return {
    value: { from: [column, { value: code }] },
    remark: `check: ${code} where there is none: ${[share, ...evidence].join('; ')}`,
  };
}

/** The column that a value is read from, and the constant that it has otherwise. */
function alternativesOf(value: unknown): [column: string | undefined, constant: string | undefined] {
  if (typeof value === 'string') return [value, undefined];
  const { from, value: constant } = (value ?? {}) as { from?: unknown; value?: unknown };
  if (typeof constant === 'string') return [undefined, constant];
  const [first, last] = Array.isArray(from) ? (from as unknown[]) : [from];
  return [typeof first === 'string' ? first : undefined, last === undefined ? undefined : alternativesOf(last)[1]];
}
