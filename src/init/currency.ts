import { isCurrency } from '../currencies.ts';
import { numberText } from '../terminal/numbers.ts';
import { countEach, type Column } from './columns.ts';

/** Signs that several currencies share stand for the one that is by far the most common. */
const SIGNS: Readonly<Record<string, string>> = {
  $: 'USD',
  US$: 'USD',
  R$: 'BRL',
  A$: 'AUD',
  AU$: 'AUD',
  C$: 'CAD',
  CA$: 'CAD',
  NZ$: 'NZD',
  HK$: 'HKD',
  S$: 'SGD',
  '₹': 'INR',
  '₺': 'TRY',
  '₴': 'UAH',
  '₩': 'KRW',
  Kč: 'CZK',
  Ft: 'HUF',
  лв: 'BGN',
  '€': 'EUR',
  '£': 'GBP',
  '¥': 'JPY',
  '₽': 'RUB',
  zł: 'PLN',
  руб: 'RUB',
};

const SIGN = /(?:US|AU?|CA?|NZ|HK|[RS])?\$|\p{Sc}|zł|Kč|(?<=\d\s?)Ft|лв|руб/u;

/** The one currency whose sign or code the amounts or their header carry, with its figures, or why there is none. */
export function currencyOf(amounts: Column | undefined): { readonly code?: string; readonly figures: string } {
  if (!amounts) return { figures: 'no column has the currency' };
  const named = inHeader(amounts.name);
  if (named !== undefined) return { code: named, figures: `the header \`${amounts.name}\` names it` };
  const counts = countEach(amounts.values.map((value) => (SIGN.exec(value) ?? /\b[A-Z]{3}\b/.exec(value))?.[0]));
  if (counts.size === 0) return { figures: 'no column has the currency' };
  const figures = [...counts]
    .map(([mark, count]) => `${numberText(count)} of ${numberText(amounts.values.length)} amounts have ${mark}`)
    .join(', ');
  const [code, ...others] = new Set([...counts.keys()].map((mark) => SIGNS[mark] ?? mark));
  return code === undefined || others.length > 0 ? { figures: `several currencies: ${figures}` } : { code, figures };
}

/** `Value, ₽`, `Amount (USD)`; in a header of capitals, three letters are a word. */
function inHeader(name: string): string | undefined {
  const sign = SIGN.exec(name)?.[0];
  if (sign !== undefined) return SIGNS[sign];
  const code = /\p{Ll}/u.test(name) ? /[\s(]([A-Z]{3})\)?$/.exec(name)?.[1] : undefined;
  return code !== undefined && isCurrency(code) ? code : undefined;
}
