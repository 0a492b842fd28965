import type { Damage, AmbiguousDateNote, ValuesNote } from '../report/profile.ts';

/** Values of a column with more distinct values than this are not kept. */
const MOST_VALUES = 20;
/** `01/06/2026`, `1.6.26 10:00`: day and month, or month and day. */
const SLASH_DATE = /^(\d{1,2})[/.-](\d{1,2})[/.-]\d{2,4}(?!\d)/;
const SCIENTIFIC = /^[+-]?\d(?:[.,]\d+)?E[+-]\d\d$/;
const SPREADSHEET_ERROR = /^#(?:N\/A|REF!|VALUE!|NAME\?|DIV\/0!|NUM!|NULL!)$/;
const LOST = '\ufffd';

/** Damaged cells of one kind, and the place of the first. */
interface DamageCount {
  count: number;
  readonly example: string;
  readonly file: string;
  readonly line: number;
}

/**
 * Statistics of one column or path that the mapping reads. `take` runs for every cell of the input: it compares single
 * characters, and applies a pattern only to suspicious cells.
 */
export class ColumnWatch {
  readonly column: string;
  readonly fields: readonly string[];
  filled = false;
  readonly damage = new Map<Damage, DamageCount>();
  /** Undefined once there are too many, and for columns whose values are not counted. */
  #values: Map<string, number> | undefined;
  /** Undefined until the first value shows whether this is a column of dates. */
  #hasDates: boolean | undefined;
  readonly #dates = { count: 0, dayFirst: 0, monthFirst: 0, example: '' };

  constructor(column: string, fields: readonly string[], keepValues: boolean) {
    this.column = column;
    this.fields = fields;
    this.#values = keepValues ? new Map() : undefined;
  }

  /** Whether more values are needed. A JSON path that has had a value is no longer read, unless its values are counted. */
  get wantsMore(): boolean {
    return !this.filled || this.#values !== undefined;
  }

  take(cell: string, file: string, line: number): void {
    if (cell === '') return;
    this.filled = true;
    // The exponent that a spreadsheet writes has four characters: E+11.
    if (
      (cell.length > 4 && cell.charCodeAt(cell.length - 4) === 69) ||
      cell.charCodeAt(0) === 35 ||
      cell.includes(LOST)
    ) {
      this.#takeSuspect(cell.trim(), file, line);
    }
    if (this.#hasDates !== false) this.#takeDate(cell);
    const values = this.#values;
    if (values === undefined) return;
    const known = values.get(cell);
    if (known !== undefined) values.set(cell, known + 1);
    else if (values.size < MOST_VALUES) values.set(cell, 1);
    else this.#values = undefined;
  }

  addDamage(kind: Damage, example: string, file: string, line: number): void {
    const found = this.damage.get(kind);
    if (found) found.count += 1;
    else this.damage.set(kind, { count: 1, example: example.slice(0, 40), file, line });
  }

  values(): ValuesNote | undefined {
    const values = this.#values;
    if (values === undefined || values.size === 0) return undefined;
    const counts = new Map<string, number>();
    for (const [value, count] of values) {
      const text = value.trim();
      if (text !== '') counts.set(text, (counts.get(text) ?? 0) + count);
    }
    return { column: this.column, fields: this.fields, values: Object.fromEntries(counts) };
  }

  dates(): AmbiguousDateNote | undefined {
    const { count, dayFirst, monthFirst, example } = this.#dates;
    const note = { column: this.column, fields: this.fields, count, example };
    if (dayFirst > 0 && monthFirst > 0) return { ...note, kind: 'mixed' };
    return count > 0 && dayFirst === 0 && monthFirst === 0 && example !== '' ? { ...note, kind: 'either' } : undefined;
  }

  #takeSuspect(cell: string, file: string, line: number): void {
    if (cell.includes(LOST)) this.addDamage('replacement_character', cell, file, line);
    else if (SCIENTIFIC.test(cell)) this.addDamage('scientific', cell, file, line);
    else if (SPREADSHEET_ERROR.test(cell)) this.addDamage('spreadsheet_error', cell, file, line);
  }

  /** `example` is a date that means a different day depending on the order of day and month. */
  #takeDate(cell: string): void {
    const match = SLASH_DATE.exec(cell);
    if (this.#hasDates === undefined) this.#hasDates = match !== null;
    if (!match) return;
    const dates = this.#dates;
    const first = Number(match[1]);
    const second = Number(match[2]);
    dates.count += 1;
    if (first > 12) dates.dayFirst += 1;
    else if (second > 12) dates.monthFirst += 1;
    else if (dates.example === '' && first !== second) dates.example = cell.trim().slice(0, 40);
  }
}
