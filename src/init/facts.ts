import { isCurrency } from '../service/currencies.ts';
import { dateFacts, type DateFacts } from './dates.ts';

export interface NumberFacts {
  readonly decimal: '.' | ',';
  readonly group: '' | '.' | ',' | ' ' | "'";
  /** The values do not decide the separators: `1.250` may be 1250 or 1.25. */
  readonly ambiguous: boolean;
}

/** What the values of a column look like, from a sample of the export. Shares are of the non-empty cells. */
export interface ColumnFacts {
  readonly filled: number;
  readonly rows: number;
  readonly distinct: number;
  readonly unique: boolean;
  readonly email: boolean;
  readonly phone: boolean;
  readonly html: boolean;
  readonly currency: boolean;
  readonly number: NumberFacts | undefined;
  readonly date: DateFacts | undefined;
  /** Cells truncated by a spreadsheet: `3.93E+11`. */
  readonly damaged: number;
  /** Average length of a value. */
  readonly length: number;
}

const EMAIL = /^[^\s@,;]+@[^\s@,;]+\.[^\s@]+$/;
const PHONE = /^(?:\+|00)?[\d\s().\-/]{6,22}(?:\s*(?:x|ext\.?)\s*\d{1,6})?$/i;
const AMOUNT = /^[-+(]?\s*(?:[A-Z]{3}|[$€£¥])?\s*-?\d[\d.,'\u00a0\u202f ]*\s*(?:[A-Z]{3}|[$€£¥])?\)?$/;
export const SCIENTIFIC = /^[+-]?\d(?:[.,]\d+)?E[+-]\d\d$/;

export function factsOf(values: readonly string[], rows: number, dayFirst: boolean): ColumnFacts {
  const distinct = new Set(values);
  const share = (test: (value: string) => boolean): number =>
    values.length === 0 ? 0 : values.filter(test).length / values.length;
  const date = dateFacts(values, dayFirst);
  const phone =
    date === undefined && share((value) => PHONE.test(value) && digits(value) >= 6 && digits(value) <= 16) > 0.6;
  return {
    filled: values.length,
    rows,
    distinct: distinct.size,
    unique: values.length > 0 && distinct.size === values.length,
    email: share((value) => EMAIL.test(value)) > 0.6,
    phone,
    html: share((value) => /<(?:p|br|div|b|ul|strong|span)\b[^>]*>/i.test(value)) > 0.1,
    currency: share((value) => isCurrency(value)) > 0.8,
    number: date === undefined && share((value) => AMOUNT.test(value)) > 0.8 ? numberFacts(values) : undefined,
    date,
    damaged: values.filter((value) => SCIENTIFIC.test(value)).length,
    length: values.length === 0 ? 0 : values.reduce((sum, value) => sum + value.length, 0) / values.length,
  };
}

/** The separators that fit every value; those of plain decimals if no value has any. */
export function numberFacts(values: readonly string[]): NumberFacts {
  const numbers = values.map((value) => value.replace(/[^\d.,'\s\u00a0\u202f]/g, '').trim());
  const both = numbers.find((value) => value.includes('.') && value.includes(','));
  if (both !== undefined) {
    const decimal = both.lastIndexOf(',') > both.lastIndexOf('.') ? ',' : '.';
    return { decimal, group: decimal === ',' ? '.' : ',', ambiguous: false };
  }
  for (const mark of [',', '.'] as const) {
    const withMark = numbers.filter((value) => value.includes(mark));
    if (withMark.length === 0) continue;
    const other = mark === ',' ? '.' : ',';
    const grouped = withMark.filter((value) => new RegExp(`^\\d{1,3}(?:\\${mark}\\d{3})+$`).test(value));
    const repeated = withMark.some((value) => value.split(mark).length > 2);
    if (repeated) return { decimal: other, group: mark, ambiguous: false };
    if (grouped.length < withMark.length)
      return { decimal: mark, group: spaceGroup(numbers) ?? other, ambiguous: false };
    const decided = numbers.some((value) => value.includes(other));
    return { decimal: other, group: mark, ambiguous: !decided };
  }
  return { decimal: '.', group: spaceGroup(numbers) ?? '', ambiguous: false };
}

function spaceGroup(numbers: readonly string[]): ' ' | "'" | undefined {
  if (numbers.some((value) => /\d'\d{3}/.test(value))) return "'";
  return numbers.some((value) => /\d[\s\u00a0\u202f]\d{3}/.test(value)) ? ' ' : undefined;
}

function digits(value: string): number {
  return value.replace(/\D/g, '').length;
}
