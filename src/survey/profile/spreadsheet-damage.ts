/**
 * What a spreadsheet has done to a column of dates, ids or phone numbers: seen only in all its cells together, since each
 * could be right. Called for every cell of such a column, so it looks at single characters first.
 */
import { DIGITS } from '../../input/workbook/cells.ts';
import { shortened } from '../../report/words/visible.ts';

/** Damaged cells of one kind, and the first of them. */
export interface DamageCount {
  count: number;
  readonly example: string;
  readonly file: string;
  readonly line: number;
}

/** Fewer cells of a kind may have it by chance. */
const LEAST = 5;

const ZERO = 48;
const NINE = 57;

function another(found: DamageCount | undefined, cell: string, file: string, line: number): DamageCount {
  if (!found) return { count: 1, example: shortened(cell.trim(), 40), file, line };
  found.count += 1;
  return found;
}

/** `01/06/2026`, `1.6.26 10:00`: day and month, or month and day. */
const DAY_AND_MONTH = /^\s*(\d{1,2})[/.-](\d{1,2})[/.-]\d{2,4}(?!\d)/;

/** Whether day and month are written with two digits: `uneven` if one is, undefined if both need them. */
function paddingOf(first: string, second: string): 'padded' | 'plain' | 'uneven' | undefined {
  const isPadded = first.startsWith('0') || second.startsWith('0');
  const isPlain = first.length === 1 || second.length === 1;
  return isPadded ? (isPlain ? 'uneven' : 'padded') : isPlain ? 'plain' : undefined;
}

/**
 * Dates that only one order of day and month allows stay as text in a spreadsheet that expects the other order. It converts
 * the rest, with day and month exchanged, and may write them in another form.
 */
export class DateForms {
  /** Dates with day and month first: all, and those that are valid only in one order. */
  count = 0;
  dayFirst = 0;
  monthFirst = 0;
  /** Valid in both orders, as different days. */
  example = '';
  #iso: DamageCount | undefined;
  /** A format of its own, which no spreadsheet writes: `04/3/2024`, `04/11/2024`. */
  #isUneven = false;
  /** Valid in one order only, and in both. */
  readonly #certain = { padded: 0, plain: 0 };
  readonly #either: { padded?: DamageCount | undefined; plain?: DamageCount | undefined } = {};

  /** Returns whether the cell is a date. */
  take(cell: string, file: string, line: number): boolean {
    if (cell.charCodeAt(4) === 45 && cell.charCodeAt(7) === 45) {
      this.#iso = another(this.#iso, cell, file, line);
      return true;
    }
    const [, first = '', second = ''] = DAY_AND_MONTH.exec(cell) ?? [];
    if (first === '') return false;
    this.count += 1;
    const padding = paddingOf(first, second);
    const [a, b] = [Number(first), Number(second)];
    if (a > 12) this.dayFirst += 1;
    else if (b > 12) this.monthFirst += 1;
    else if (a !== b && this.example === '') this.example = shortened(cell.trim(), 40);
    if (padding === undefined) return true;
    if (padding === 'uneven') this.#isUneven = true;
    else if (a > 12 || b > 12) this.#certain[padding] += 1;
    else this.#either[padding] = another(this.#either[padding], cell, file, line);
    return true;
  }

  /** Dates that were probably converted: no other date is written in their form. */
  exchanged(): DamageCount | undefined {
    const certain = this.dayFirst + this.monthFirst;
    if (certain < LEAST || this.#isUneven || (this.dayFirst > 0 && this.monthFirst > 0)) return undefined;
    const { padded, plain } = this.#either;
    if (this.#iso) return this.#iso.count >= LEAST && this.count === certain ? this.#iso : undefined;
    if (padded && plain) return undefined;
    const other = padded ? this.#certain.plain : this.#certain.padded;
    const same = padded ? this.#certain.padded : this.#certain.plain;
    const found = padded ?? plain;
    return found && found.count >= LEAST && other >= LEAST && same === 0 ? found : undefined;
  }
}

/** Fewer zeros at the ends of all long ids may be there by chance. */
const LEAST_ZEROS = 6;

/** Ids that a spreadsheet took for numbers. */
export class IdDigits {
  #rounded: DamageCount | undefined;
  #zeros = 0;
  /** A long id has other characters at its end, so the column was not rounded. */
  #isExact = false;

  take(cell: string, file: string, line: number): void {
    const { length } = cell;
    const first = cell.charCodeAt(0);
    const last = cell.charCodeAt(length - 1);
    if (first < ZERO || first > NINE || last < ZERO || last > NINE) return;
    if (length > DIGITS && !this.#isExact) this.#takeLong(cell, file, line);
  }

  #takeLong(cell: string, file: string, line: number): void {
    const end = cell.slice(DIGITS);
    if (/^0+$/.test(end) && /^\d+$/.test(cell)) {
      this.#zeros += end.length;
      this.#rounded = another(this.#rounded, cell, file, line);
    } else this.#isExact = true;
  }

  /** Where each long id has zeros beyond the digits that a spreadsheet keeps. */
  rounded(): DamageCount | undefined {
    return this.#isExact || this.#zeros < LEAST_ZEROS ? undefined : this.#rounded;
  }
}
