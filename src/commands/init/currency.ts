import { currencyMarks, currencyMarksInName, likelyCurrency } from '../../kinds/currencies.ts';
import { ofText } from '../../terminal/numbers.ts';
import type { TransformSpec } from '../../mapping/spec.ts';
import { countEach, type Column } from './columns.ts';
import { withoutMultiple, withoutMultipleInName } from './multiples.ts';

/** In small letters, only the best known codes are no other word: `mrr_usd`. */
const AT_END = /_(usd|eur|gbp|chf|cad|aud|jpy|sek|nok|dkk|pln|brl|inr)$/;

/** The one currency whose sign or code the amounts or their header carry, with its figures, or why there is none. */
export function currencyOf(amounts: Column | undefined): {
  readonly code?: string;
  /** The transforms that take the currency of each amount, where they have several. */
  readonly byRow?: readonly TransformSpec[];
  readonly figures: string;
} {
  if (!amounts) return { figures: 'no column has the currency' };
  const [mark = AT_END.exec(amounts.name)?.[1]] = currencyMarksInName(withoutMultipleInName(amounts.name));
  const named = mark === undefined ? undefined : likelyCurrency(mark.toUpperCase());
  if (named !== undefined) return { code: named, figures: `the header \`${amounts.name}\` names it` };
  const counts = countEach(amounts.values.map((value) => currencyMarks(withoutMultiple(value))[0]));
  if (counts.size === 0) return { figures: 'no column has the currency' };
  const figures = [...counts]
    .map(([mark, count]) => `${ofText(count, amounts.values.length)} amounts have ${mark}`)
    .join(', ');
  const [code, ...others] = new Set([...counts.keys()].map((each) => each && likelyCurrency(each)));
  if (others.length > 0) {
    const marks = [...counts.keys()].flatMap((each) => (each !== undefined && likelyCurrency(each) ? [each] : []));
    const escaped = marks.sort((a, b) => b.length - a.length).map((each) => each.replace(/[$.\\]/g, '\\$&'));
    const byRow = [{ extract: `(${escaped.join('|')})` }, { map: { ...signsIn(marks), '*': '=' } }];
    return { byRow, figures: `several currencies: ${figures}` };
  }
  return code === undefined ? { figures } : { code, figures };
}

/** The signs among these texts, with their codes. */
export function signsIn(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.flatMap((text) => {
      const code = likelyCurrency(text);
      return code === undefined || code === text.toUpperCase() ? [] : [[text, code] as const];
    }),
  );
}
