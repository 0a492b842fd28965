/** What a value looks like: the patterns of `know/shapes`, numbers and currencies. */
import { currencyMarks, currencyNamed, isCurrency } from '../../kinds/currencies.ts';
import { isFirm, isJob } from './headers.ts';
import type { FactName } from '../know/roles.ts';
import { MULTIPLES } from '../know/roles.ts';
import { MONEY_MARK, NUMBER, PATTERNS } from '../know/shapes.ts';

/** As the `number` transform takes them. */
export interface Separators {
  readonly decimal: '.' | ',';
  readonly group?: '.' | ',' | ' ' | "'";
  /** The values do not decide: `1.250` may be 1250 or 1.25. */
  readonly ambiguous: boolean;
}

export function isAmount(value: string): boolean {
  if (!/\d/.test(value) || value.length > 30 || !NUMBER.test(value) || /^0\d/.test(value)) return false;
  return (value.match(/\p{L}{0,3}\p{Sc}|\p{L}+/gu) ?? []).every((each) => currencyMarks(each).length > 0);
}

/** A number of a column; NaN if it is none. */
export function numberIn(text: string | undefined, { decimal, group = ' ' }: Separators): number {
  const plain = (text ?? '')
    .replaceAll(group, '')
    .replace(decimal, '.')
    .replace(/[^\d.-]/g, '');
  return plain === '' ? Number.NaN : Number(plain);
}

/** The separators that fit every value; those of plain decimals if no value has any. */
export function separatorsOf(values: readonly string[]): Separators {
  // From the first digit to the last, or to the dash that stands for cents.
  const numbers = values.map((value) => /\d(?:.*\d)?(?:[.,](?=[-–—]))?/.exec(value)?.[0] ?? '');
  const facts = (decimal: '.' | ',', group?: Separators['group'], ambiguous = false): Separators => ({
    decimal,
    ...(group && { group }),
    ambiguous,
  });
  const both = numbers.find((value) => value.includes('.') && value.includes(','));
  if (both !== undefined) return both.lastIndexOf(',') > both.lastIndexOf('.') ? facts(',', '.') : facts('.', ',');
  const [quote, space] = [/\d'\d{3}/, /\d[\s\u00a0\u202f]\d{3}/].map((like) =>
    numbers.some((value) => like.test(value)),
  );
  const apart = quote ? "'" : space ? ' ' : undefined;
  const mark = ([',', '.'] as const).find((each) => numbers.some((value) => value.includes(each)));
  if (mark === undefined) return facts('.', apart);
  const other = mark === ',' ? '.' : ',';
  const marked = numbers.filter((value) => value.includes(mark));
  if (marked.some((value) => value.split(mark).length > 2)) return facts(other, mark);
  if (!marked.every((value) => /^\d{1,3}[.,]\d{3}$/.test(value))) return facts(mark, apart ?? other);
  return facts(other, mark, !numbers.some((value) => value.includes(other)));
}

/** What the header of amounts says that they are multiples of: `Umsatz TEUR`, `Value (k€)`, `in Mio.`. */
export function multipleIn(header: string): { readonly mark: string; readonly factor: number } | undefined {
  for (const [factor, marks] of MULTIPLES) {
    const [mark, , code] = new RegExp(`(?<!\\p{L})(${marks})(\\p{Sc}|[A-Z]{3})?(?!\\p{L})`, 'u').exec(header) ?? [];
    const isSigned = code !== undefined && (!/^[A-Z]/.test(code) || isCurrency(code));
    if (mark !== undefined && (isSigned || (code === undefined && mark.length > 1))) return { mark, factor };
  }
  return undefined;
}

/** A code, a sign or a name of a currency: `EUR`, `R$`, `kr`, `Pound Sterling`. */
function namesCurrency(value: string): boolean {
  if (MONEY_MARK.test(value)) return isCurrency(value.toUpperCase()) || currencyMarks(value)[0] === value;
  return currencyNamed(value) !== undefined;
}

export const SHAPES: readonly (readonly [FactName, (value: string) => boolean])[] = [
  ...Object.entries(PATTERNS).map(([fact, like]) => [fact as FactName, (value: string) => like.test(value)] as const),
  ['number', isAmount],
  ['money', (value) => isAmount(value) && currencyMarks(value).length > 0],
  ['currency', namesCurrency],
  ['firm', isFirm],
  ['job', (value) => value.length < 40 && isJob(value)],
];
