/** What a cell holds, as text: never what a spreadsheet would show. Pure. */

import { plainDecimal } from '../../decimal.ts';

/** Digits that a spreadsheet keeps of a number. */
export const DIGITS = 15;

/** As XML Schema has them, without infinity. */
export const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:E[+-]?\d+)?$/i;

/** A long number of which a spreadsheet has cut the last digits: `1.23456789012345E+16`, as it writes it into a CSV file. */
export function isCut(text: string): boolean {
  return text.includes('E');
}

/**
 * A number of a workbook as a plain decimal. Of fractions, digits beyond the 15th are artefacts of binary arithmetic
 * (`0.30000000000000004`). A whole number with zeros in place of its further digits was cut by a spreadsheet, unless other numbers of its
 * column have such digits (`isExact`): no id, and written so that it is seen to be none.
 */
export function numberText(written: string, isExact = false): string {
  const digits = written.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '');
  const isFraction = digits.length > DIGITS && /[.e]/i.test(written);
  const text = isFraction ? String(Number(Number(written).toPrecision(DIGITS))) : written;
  const plain = plainDecimal(text) ?? written;
  const isLong = /^-?\d{16,}$/.test(plain);
  const isCut = isLong && (/e/i.test(written) || (!isExact && /^-?\d{15}0+$/.test(plain)));
  return isCut ? Number(plain).toExponential().replace('e', 'E') : plain;
}

/** What a number format makes of a number: a date, a time of day, both, or a length of time; undefined: a number. */
export type DateKind = 'date' | 'time' | 'datetime' | 'duration';

/** How a cell shows its number: as a date, or as an id with at least so many digits (`00000`, `"D-"0000`). */
export type CellFormat = DateKind | { readonly prefix: string; readonly digits: number } | undefined;

/** Zeros alone, or behind a text with a letter. */
const ID_FORMAT = /^((?:"[^"]*\p{L}[^"]*"|\\\p{L})(?:"[^"]*"|\\.|-)?)?(0{2,})$/u;

/** `code`: of a format that the workbook defines itself. */
export function cellFormat(id: number, code: string | undefined): CellFormat {
  const [, written = '', zeros] = ID_FORMAT.exec(code ?? '') ?? [];
  return zeros === undefined ? dateKind(id, code) : { prefix: written.replace(/["\\]/g, ''), digits: zeros.length };
}

/** Formats with a number instead of a text (ECMA-376, 18.8.30), also for East Asian languages. */
const BUILT_IN: Readonly<Record<DateKind, readonly number[]>> = {
  date: [14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58],
  time: [18, 19, 20, 21, 32, 33, 34, 35, 45, 47, 55, 56],
  datetime: [22],
  duration: [46],
};

/** `code`: of a format that the workbook defines itself. */
export function dateKind(id: number, code: string | undefined): DateKind | undefined {
  if (code === undefined)
    return (['date', 'time', 'datetime', 'duration'] as const).find((kind) => BUILT_IN[kind].includes(id));
  // Texts, characters, colours, languages and conditions are no parts of a date; `[h]` is a length of time.
  const [positive = ''] = code.replace(/"[^"]*"|\\.|[_*]./g, '').split(';');
  const letters = positive.replace(/\[(?![hms]+\])[^\]]*\]/gi, '').replace(/general|e[+-]0+/gi, '');
  if (/\[[hms]+\]/i.test(letters)) return 'duration';
  const isTime = /[hs]|am\/pm/i.test(letters);
  const isDate = /[ydge]/i.test(letters) || (/m/i.test(letters) && !isTime);
  if (!isDate && !isTime) return undefined;
  return isDate && isTime ? 'datetime' : isDate ? 'date' : 'time';
}

const DAY = 86_400_000;

/**
 * A serial number as a local date or time in ISO 8601, `2024-05-01`, `2024-05-01T09:30:00`, `09:30:00`; undefined if it is
 * none. `is1904`: the epoch of the workbook is 1904; otherwise 1900, whose 29 February never was (serial 60).
 */
export function dateText(serial: number, kind: DateKind, is1904: boolean): string | undefined {
  if (!Number.isFinite(serial) || (serial < 0 && !is1904) || Math.abs(serial) > 2_958_466) return undefined;
  const ms = Math.round(serial * DAY);
  const days = Math.floor(ms / DAY);
  const rest = ms - days * DAY;
  if (kind === 'duration') return clock(ms);
  if (kind === 'time' && days === 0) return clock(rest);
  const day = dayText(days, is1904);
  return kind === 'date' && rest === 0 ? day : `${day}T${clock(rest)}`;
}

function dayText(days: number, is1904: boolean): string {
  if (!is1904 && days === 60) return '1900-02-29';
  if (!is1904 && days === 0) return '1900-01-00';
  const epoch = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  return new Date(epoch + days * DAY).toISOString().slice(0, 10);
}

/** `36:00:00`, with milliseconds where there are any. */
function clock(ms: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const text = `${two(Math.floor(ms / 3_600_000))}:${two(Math.floor(ms / 60_000) % 60)}:${two(Math.floor(ms / 1000) % 60)}`;
  return ms % 1000 === 0 ? text : `${text}.${String(ms % 1000).padStart(3, '0')}`;
}

/** Characters that XML cannot have are written `_x000D_`. */
export function unescaped(text: string): string {
  return text.includes('_x')
    ? text.replace(/_x([\dA-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    : text;
}

/** Of a column, from 0: `A`, `AA`. */
export function letterOf(column: number): string {
  return (column >= 26 ? letterOf(Math.floor(column / 26) - 1) : '') + String.fromCharCode(65 + (column % 26));
}

/** The column, from 0, and the row, from 1, of a reference such as `C17`; undefined if it is none. */
export function cellOf(reference: string): { readonly column: number; readonly row: number } | undefined {
  const [, letters, row] = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/.exec(reference) ?? [];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return { column: column - 1, row: Number(row) };
}
