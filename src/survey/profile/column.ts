import type { AmbiguousDateNote, AmbiguousNumberNote, Damage, ValuesNote } from './notes.ts';
import { shortened } from '../../report/words/visible.ts';
import { EmptyTexts, NumberForms } from './readings.ts';
import { DateForms, IdDigits, type DamageCount } from './spreadsheet-damage.ts';
import { CUT_LENGTHS, SHORTEST_CUT } from './text-damage.ts';

/** Values of a column with more distinct values than this are not kept. */
const MOST_VALUES = 20;
const SCIENTIFIC = /^[+-]?\d(?:[.,]\d+)?E[+-]\d\d$/;
const SPREADSHEET_ERROR = /^#(?:N\/A|REF!|VALUE!|NAME\?|DIV\/0!|NUM!|NULL!)$/;
/** `=HYPERLINK(…)`, `=A1&B1`: what a cell was computed with, in place of its result. */
const FORMULA = /^=\s*(?:[A-Z][A-Z.]+\s*\(|\$?[A-Z]{1,3}\$?\d)/i;
const LOST = '\ufffd';

/**
 * Statistics of one column or path that the mapping reads. `take` runs for every cell of the input, so it compares single characters and
 * applies a pattern only to suspicious cells.
 */
export class ColumnWatch {
  readonly column: string;
  readonly fields: readonly string[];
  filled = false;
  /** The files in which it has a value. */
  readonly filledIn = new Set<string>();
  #lastFile = '';
  /** The number of the last record that has a value. */
  last = 0;
  /** Cells that have a value. */
  cells = 0;
  readonly #damage = new Map<Damage, DamageCount>();
  /** Undefined once there are too many, and for columns whose values are not counted. */
  #values: Map<string, number> | undefined;
  /** Undefined until the first value shows whether this is a column of dates. */
  #hasDates: boolean | undefined;
  readonly #dates = new DateForms();
  readonly #ids: IdDigits | undefined;
  readonly #numbers: NumberForms | undefined;
  readonly #empty: EmptyTexts | undefined;
  readonly #isComment: boolean;
  /** The longest texts as they are sent. */
  #longest: (DamageCount & { readonly length: number }) | undefined;

  /** `isNumber`: its texts are read as numbers. */
  constructor(column: string, fields: readonly string[], { keepValues = false, isNumber = false }) {
    this.column = column;
    this.fields = fields;
    this.#values = keepValues ? new Map() : undefined;
    if (fields.some((field) => field.endsWith('external_id'))) this.#ids = new IdDigits();
    if (isNumber) this.#numbers = new NumberForms();
    this.#empty = EmptyTexts.for(fields);
    this.#isComment = fields.includes('content');
  }

  /** It has a value, which may be an object. */
  fill(file: string): void {
    this.filled = true;
    if (file === this.#lastFile) return;
    this.#lastFile = file;
    this.filledIn.add(file);
  }

  /** `type`: of a value that is no text. */
  take(cell: string, file: string, line: number, type?: 'number' | 'boolean'): void {
    if (cell === '') return;
    this.fill(file);
    this.cells += 1;
    // The exponent that a spreadsheet writes has four characters: E+11.
    if (
      (cell.length > 4 && cell.charCodeAt(cell.length - 4) === 69) ||
      cell.charCodeAt(0) === 35 ||
      cell.charCodeAt(0) === 61 ||
      cell.includes(LOST)
    ) {
      this.#takeSuspect(cell.trim(), file, line);
    }
    if (this.#hasDates !== false) {
      const isDate = this.#dates.take(cell, file, line);
      this.#hasDates ??= isDate;
    }
    this.#ids?.take(cell, file, line);
    if (type !== 'number') this.#numbers?.take(cell);
    if (this.#empty) {
      this.#empty.take(cell, file, line);
      if (cell.length >= SHORTEST_CUT && !this.#isComment) this.sent(cell, file, line);
      if (type === 'boolean') this.#empty.isFalse = true;
    }
    const values = this.#values;
    if (values === undefined) return;
    const known = values.get(cell);
    if (known !== undefined) values.set(cell, known + 1);
    else if (values.size < MOST_VALUES) values.set(cell, 1);
    else this.#values = undefined;
  }

  /** A text of it; of a comment, as it is sent. */
  sent({ length }: string, file: string, line: number): void {
    if (this.#longest && length < this.#longest.length) return;
    if (this.#longest?.length === length) this.#longest.count += 1;
    else this.#longest = { length, count: 1, example: `${length} characters`, file, line };
  }

  addDamage(kind: Damage, example: string, file: string, line: number): void {
    const found = this.#damage.get(kind);
    if (found) found.count += 1;
    else this.#damage.set(kind, { count: 1, example: shortened(example, 40), file, line });
  }

  /** Of single cells, and of the column as a whole. */
  damage(): ReadonlyMap<Damage, DamageCount> {
    const found = new Map(this.#damage);
    const add = (kind: Damage, count: DamageCount | undefined): unknown => count && found.set(kind, count);
    add('rounded_id', this.#ids?.rounded());
    add('day_month_exchanged', this.#dates.exchanged());
    add('looks_empty', this.#empty?.found());
    if (this.#longest && CUT_LENGTHS.has(this.#longest.length)) add('text_form/cut', this.#longest);
    return found;
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

  numbers(): AmbiguousNumberNote | undefined {
    const found = this.#numbers?.eitherWay();
    return found && { column: this.column, fields: this.fields, ...found };
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
    else if (!this.#ids && FORMULA.test(cell)) this.addDamage('formula_cell', cell, file, line);
    else if (SPREADSHEET_ERROR.test(cell)) this.addDamage('spreadsheet_error', cell, file, line);
  }
}
