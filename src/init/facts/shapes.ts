/** What a value can look like, the same for every language. */
import { currencyMarks, currencyNamed, isCurrency } from '../../kinds/currencies.ts';
import { isFirm, isJob } from './headers.ts';
import type { FactName } from '../know/roles.ts';
import { MULTIPLES } from '../know/roles.ts';

/** As the `number` transform takes them. */
export interface Separators {
  readonly decimal: '.' | ',';
  readonly group?: '.' | ',' | ' ' | "'";
  /** The values do not decide: `1.250` may be 1250 or 1.25. */
  readonly ambiguous: boolean;
}

/** Letters beside the digits must be a currency: `POT7` and `OPP00012` are no amounts. */
const NUMBER =
  /^[-+(]?\s*(?:\p{L}{0,4}[\p{Sc}\\]?\.?)\s*-?\d[\d.,'\u00a0\u202f ]*(?:(?<=[.,])[-–—]{1,2})?\s*(?:\p{L}{0,4}\p{Sc}?\.?)\)?$/u;

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

/** In a text with a label or a name: `Ada Bell <ada@x.example>`. */
export const ADDRESS = '[^\\s<>()",;:|]+@[^\\s<>()",;:|]+';

const PATTERNS = {
  email: /^[^\s@]{1,200}@[^\s@,;<>|]+\.[^\s@<>]+$|^.{0,100}[\s<(:;,][^\s<>()",;:|]+@[^\s<>()",;:|]+\.[^\s]+$/s,
  /** With 6 to 16 digits, perhaps several numbers. */
  phone:
    /^(?=(?:\D*\d){6,16}\D*$)(?:\+|00)?[\d\s().\-/\u00a0]{6,22}(?:\s*(?:x|ext\.?)\s*\d{1,6})?$|^(?:[+(]?(?:\d[ ().-]*){9,15}(?:[,;/|\n] *|$)){2,}$/i,
  international: /^\(?(?:\+|00)[\d\s().\-/\u00a0]{7,22}(?:$|[,;|\n]|\s*(?:x|ext\.?)\s*\d)/i,
  grouped: /^\(?\+?\d+[)\s./-]+\d/,
  decimal: /[.,]\d{1,2}\D*$|[.,]\d{4,}$/,
  whole: /^-?\d+$/,
  digits: /^\d{1,7}$/,
  percent: /^\d{1,3}(?:[.,]\d+)?\s?%$/,
  hundred: /^(?:100|\d{1,2})(?:[.,]\d+)?\s?%?$/,
  padded: /^0\d/,
  zero: /^\D*0+(?:[.,]0+)?\D*$/,
  round: /^\D*\d*0(?:[.,]0+)?\D*$/,
  url: /^(?:https?:\/\/|www\.)\S+$|^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|co|example|de|eu|fr|it|es|ru|pl|nl|se|br)(?:\/\S*)?$/i,
  file: /^(?:image|video|audio|text|application)\/[\w.+-]+$|^[^@]*\.(?:jpe?g|png|gif|webp|svg|heic|pdf|docx?|xlsx?|pptx?|csv|txt|zip|eml|mp[34]|m4a|wav|mov)(?:\?\S*)?$/i,
  uuid: /^\{?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\}?$/i,
  /** `2-Develop` is a step; `customers/NtY1lLNKMKqrFtwJ` is the path of a record. */
  code: /^(?!\d{1,2}[-.)]\p{L}{3})(?=.*\d)(?=.*[a-z])[\w.:@-]{2,60}$|^[\w-]{15,60}$|^(?:[\w().-]+\/)+[\w-]{8,60}$/iu,
  hash: /^[\da-f]{32,64}$/i,
  flag: /^(?:0|1|true|false|yes|no|y|n|t|f|ja|nein|oui|non|si|sí|sim|não|да|нет|tak|nie|nee|nej|nei|igen|nem|ano|ne)$/i,
  html: /<(?:p|br|div|b|ul|strong|span|body)\b[^>]*>/i,
  words: /\p{L}{2}|^\p{L}\.?$|[\p{Script=Han}\p{Script=Hangul}]/u,
  /** The first and last name of a person, or one of them. */
  person:
    /^\p{Lu}[\p{L}'’.-]*,?(?: (?:\p{Lu}|d[aeiou]s?\b|v[ao]n|ten|ter|el|le|la)[\p{L}'’.-]*){1,4}$|^[\p{Script=Han}\p{Script=Hangul}]{2,4}$|^[\p{Script=Arabic}\p{Script=Hebrew}]{2,}(?: [\p{Script=Arabic}\p{Script=Hebrew}]{2,}){1,3}$|^[\p{Script=Katakana}\p{Script=Han}]{1,4}[ 　][\p{Script=Katakana}\p{Script=Han}]{1,4}$/u,
  oneName: /^\p{Lu}[\p{L}'’-]+(?:[ -]\p{Lu}[\p{L}'’-]+)?$|^[\p{Script=Han}\p{Script=Hangul}]{1,3}$/u,
  /** Several words, as in a sentence, perhaps behind its date, or fewer that end like one and not like the name of a firm. */
  prose:
    /^(?:\d[\d./: -]*[-–:] )?(?=.{25,})\S+(?:\s+\p{L}\S*){4,}|^(?:\S+\s+){2,}[\p{Ll}-]{4,}[.!?…]$|[\p{Script=Han}\p{Script=Katakana}\p{Script=Hiragana}]{9,}|\n/su,
  spaced: /\S\s+\S|[\p{Script=Han}\p{Script=Hangul}]{4,}/u,
  /** Truncated by a spreadsheet: `3.93E+11`. */
  damaged: /^[+-]?\d(?:[.,]\d+)?E[+-]\d\d$/,
} as const satisfies Partial<Record<FactName, RegExp>>;

const MONEY_MARK = /^(?:[A-Za-z]{3}|\p{Sc}|[A-Z]{1,2}\$|\p{L}{2,3}\.?)$/u;

/** A code, a sign or a name of a currency: `EUR`, `R$`, `kr`, `Pound Sterling`. */
export function isMoney(value: string): boolean {
  if (MONEY_MARK.test(value)) return isCurrency(value.toUpperCase()) || currencyMarks(value)[0] === value;
  return currencyNamed(value) !== undefined;
}

export const SHAPES: readonly (readonly [FactName, (value: string) => boolean])[] = [
  ...Object.entries(PATTERNS).map(([fact, like]) => [fact as FactName, (value: string) => like.test(value)] as const),
  ['number', isAmount],
  ['money', (value) => isAmount(value) && currencyMarks(value).length > 0],
  ['currency', isMoney],
  ['firm', isFirm],
  ['job', (value) => value.length < 40 && isJob(value)],
];
