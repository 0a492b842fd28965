import { numberText } from '../terminal/numbers.ts';
import { countEach, type Column } from './columns.ts';

/** Signs that several currencies share stand for the one that is by far the most common. */
const SIGNS: Readonly<Record<string, string>> = {
  $: 'USD',
  '€': 'EUR',
  '£': 'GBP',
  '¥': 'JPY',
  '₽': 'RUB',
  zł: 'PLN',
  руб: 'RUB',
};

/** The one currency whose sign or code the amounts carry, with its figures, or why there is none. */
export function currencyOf(amounts: Column | undefined): { readonly code?: string; readonly figures: string } {
  const counts = countEach(amounts?.values.map((value) => /[$€£¥₽]|zł|руб|\b[A-Z]{3}\b/.exec(value)?.[0]) ?? []);
  if (!amounts || counts.size === 0) return { figures: 'no column has the currency' };
  const figures = [...counts]
    .map(([mark, count]) => `${numberText(count)} of ${numberText(amounts.values.length)} amounts have ${mark}`)
    .join(', ');
  const [code, ...others] = new Set([...counts.keys()].map((mark) => SIGNS[mark] ?? mark));
  return code === undefined || others.length > 0 ? { figures: `several currencies: ${figures}` } : { code, figures };
}
