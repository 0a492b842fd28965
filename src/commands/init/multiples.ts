/** Numbers as amounts write them, and thousands and millions, as headers do, too: `Value (k€)`, `1,2 Mio. €`, `120万円`. */
import { isCurrency } from '../../kinds/currencies.ts';

const MARKS: readonly (readonly [factor: number, marks: string])[] = [
  [
    1000,
    'k|tsd|tausend|thousands?|milliers?|miles|milhares|migliaia|duizend|tys|тыс|tis|tusen(?:tal)?|tusind|tkr|bin|nghìn|ngàn|ribu',
  ],
  [1_000_000, 'mio|mln|mn|mill|milj|millions?|millionen|millones|milhões|milioni|miljoen|mkr|млн|triệu|juta'],
  [1_000_000_000, 'mrd|mld|bn|billions?|milliarden|млрд|tỷ'],
  [100_000, 'lakhs?'],
  [10_000_000, 'crores?'],
];
/** Of scripts without spaces between words; the longest first. */
const INNER: readonly (readonly [factor: number, marks: string])[] = [
  [1_000_000, '百万|백만'],
  [100_000_000, '[億亿억]'],
  [10_000, '[万萬만]'],
  [1000, '[千천]'],
];
const LETTERS: Readonly<Record<string, number>> = { k: 1000, t: 1000, m: 1_000_000 };

/** A word that ends before other letters, but for a currency: `kEUR`. */
const END = '(?:(?!\\p{L})|(?=[A-Z]{3}(?!\\p{L})))';
const WORDS = MARKS.map(([, marks]) => marks).join('|');
const SIGNED = '[ktm](?=\\s?\\p{Sc}|[A-Za-z]{3}(?!\\p{L}))|(?<=\\p{Sc}\\s?)[km](?![\\p{L}])';
const IN_SCRIPT = INNER.map(([, marks]) => marks).join('|');
const IN_NAME = new RegExp(
  `(?<!\\p{L})(?:${WORDS})${END}|(?<!\\p{L})(?:${SIGNED})|${IN_SCRIPT}|(?<![\\d.,])(?:1[.,]?)?000s?(?!\\d)`,
  'iu',
);
/** Behind the digits. */
const IN_VALUE = new RegExp(`(?<=\\d[\\s\\u00a0]?)(?:(?:${WORDS}|[m])${END}|${SIGNED}|${IN_SCRIPT})\\.?`, 'iu');

export interface Multiple {
  readonly mark: string;
  readonly factor: number;
}

/** What the header of amounts says that they are multiples of. */
export function multipleInName(name: string): Multiple | undefined {
  const [mark] = IN_NAME.exec(name) ?? [];
  if (mark === undefined) return undefined;
  const [, , code] = new RegExp(`(?<!\\p{L})(${mark})([A-Za-z]{3})(?!\\p{L})`, 'u').exec(name) ?? [];
  if (code !== undefined && !isCurrency(code.toUpperCase())) return undefined;
  return { mark, factor: factorOf(mark) };
}

/** `Umsatz TEUR` as `Umsatz EUR`. */
export function withoutMultipleInName(name: string): string {
  return multipleInName(name) ? name.replace(IN_NAME, '') : name;
}

/** Of one amount. */
export function multipleIn(value: string): Multiple | undefined {
  const [mark] = IN_VALUE.exec(value) ?? [];
  return mark === undefined ? undefined : { mark, factor: factorOf(mark.replace(/\.$/, '')) };
}

export function withoutMultiple(value: string): string {
  return value.replace(IN_VALUE, '');
}

function factorOf(mark: string): number {
  const found = [...MARKS, ...INNER].find(([, marks]) => new RegExp(`^(?:${marks})$`, 'iu').test(mark));
  return found?.[0] ?? LETTERS[mark.toLowerCase()] ?? 1000;
}

/** As the `number` transform takes them. `ambiguous`: the values do not decide: `1.250` may be 1250 or 1.25. */
export interface Separators {
  readonly decimal: '.' | ',';
  readonly group?: '.' | ',' | ' ' | "'";
  readonly ambiguous: boolean;
}

/** A number of the column; NaN if it is none. */
export function numberIn(text: string | null, { separators }: { readonly separators: Separators | undefined }): number {
  if (text === null || !separators) return Number.NaN;
  const { decimal, group = ' ' } = separators;
  const plain = withoutMultiple(text)
    .replaceAll(group, '')
    .replace(decimal, '.')
    .replace(/[^\d.-]/g, '');
  return plain === '' ? Number.NaN : Number(plain) * (multipleIn(text)?.factor ?? 1);
}

/** The separators that fit every value; those of plain decimals if no value has any. */
export function separatorsOf(values: readonly string[]): Separators {
  // From the first digit to the last, or to the dash that stands for cents.
  const numbers = values.map((value) => /\d(?:.*\d)?(?:[.,](?=[-–—]))?/.exec(value)?.[0] ?? '');
  const some = (pattern: RegExp): boolean => numbers.some((value) => pattern.test(value));
  const facts = (decimal: '.' | ',', group?: Separators['group'], ambiguous = false): Separators => ({
    decimal,
    ...(group && { group }),
    ambiguous,
  });
  const both = numbers.find((value) => value.includes('.') && value.includes(','));
  if (both !== undefined) return both.lastIndexOf(',') > both.lastIndexOf('.') ? facts(',', '.') : facts('.', ',');
  const space = some(/\d'\d{3}/) ? "'" : some(/\d[\s\u00a0\u202f]\d{3}/) ? ' ' : undefined;
  const mark = ([',', '.'] as const).find((each) => numbers.some((value) => value.includes(each)));
  if (mark === undefined) return facts('.', space);
  const other = mark === ',' ? '.' : ',';
  const marked = numbers.filter((value) => value.includes(mark));
  if (marked.some((value) => value.split(mark).length > 2)) return facts(other, mark);
  const isGroup = marked.every((value) => /^\d{1,3}[.,]\d{3}$/.test(value));
  if (!isGroup) return facts(mark, space ?? other);
  return facts(other, mark, !numbers.some((value) => value.includes(other)));
}
