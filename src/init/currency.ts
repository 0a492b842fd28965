import type { ExportColumn } from './head.ts';
import { numberText } from '../numbers.ts';

/** Signs that several currencies share stand for the one that is by far the most common. */
const SIGNS: Readonly<Record<string, string>> = { $: 'USD', '€': 'EUR', '£': 'GBP', '¥': 'JPY' };

/** The one currency whose sign or code the amounts carry, with its figures; `why` if there is none or several. */
export function currencyOf(
  amounts: ExportColumn | undefined,
): { readonly code: string; readonly figures: string } | { readonly why: string } {
  const counts = new Map<string, number>();
  for (const value of amounts?.values ?? []) {
    const mark = /[$€£¥]|\b[A-Z]{3}\b/.exec(value)?.[0];
    if (mark !== undefined) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  }
  if (!amounts || counts.size === 0) return { why: 'no column contains the currency' };
  const figures = [...counts].map(
    ([mark, count]) => `${numberText(count)} of ${numberText(amounts.values.length)} amounts have ${mark}`,
  );
  const found = new Set([...counts.keys()].map((mark) => SIGNS[mark] ?? mark));
  const [code] = found;
  if (found.size > 1 || code === undefined) return { why: `several currencies: ${figures.join(', ')}` };
  return { code, figures: figures.join(', ') };
}
