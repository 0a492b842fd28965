import { CURRENCY_SIGNS, isCurrency } from '../../currencies.ts';
import { numberText } from '../../terminal/numbers.ts';
import { countEach, type Column } from './columns.ts';

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
  const [code, ...others] = new Set([...counts.keys()].map(codeOf));
  if (others.length > 0) return { figures: `several currencies: ${figures}` };
  return code === undefined ? { figures } : { code, figures };
}

/** `Value, ₽`, `Amount (USD)`; in a header of capitals, three letters are a word. */
function inHeader(name: string): string | undefined {
  const sign = SIGN.exec(name)?.[0];
  if (sign !== undefined) return codeOf(sign);
  const code = /\p{Ll}/u.test(name) ? /[\s(]([A-Z]{3})\)?$/.exec(name)?.[1] : undefined;
  return code && codeOf(code);
}

/** Undefined for a sign of which the currency is not sure. */
function codeOf(mark: string): string | undefined {
  return CURRENCY_SIGNS[mark] ?? (isCurrency(mark) ? mark : undefined);
}
