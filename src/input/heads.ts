/** Rows between the records of a table that are none: headers of exports that were joined to one, and totals. */

import { issueOf } from '../report/words/words.ts';
import type { Problem } from '../problem.ts';

/** Rows that show which columns have digits or addresses in all of their cells. */
const SHOWN = 200;
const VALUE = /[\d@]/;
/** `Phone 2` is the name of a column. */
const NO_NAME = /\d\d|@/;

/** A header with the columns of the first one: where each of its cells is among them. One with other columns is `other`. */
type RowKind = 'record' | 'other' | { readonly order: readonly number[] };

/** Tells headers from records. To be asked about each row of a table with several columns, in their order. */
export class Heads {
  readonly #written: ReadonlySet<string>;
  readonly #names: readonly string[];
  readonly #known: ReadonlySet<string>;
  /** Columns in which all cells so far have a digit or an `@`. */
  #valued: number[];
  #rows = 0;

  constructor(header: readonly string[]) {
    this.#written = new Set(header);
    this.#names = header.map(folded);
    this.#known = new Set(this.#names.filter((name) => name !== ''));
    this.#valued = header.map((_, column) => column);
  }

  take(cells: readonly string[]): RowKind {
    const kind = this.#mayBeHeader(cells) ? this.#kindOf(cells) : 'record';
    if (kind === 'record' && this.#rows < SHOWN) {
      this.#rows += 1;
      this.#valued = this.#valued.filter((column) => VALUE.test(cells[column] ?? ''));
    }
    return kind;
  }

  /** Nearly every record shows at once that it is none. */
  #mayBeHeader(cells: readonly string[]): boolean {
    const [column] = this.#valued;
    if (column !== undefined) return this.#written.has(cells[0]!) || !VALUE.test(cells[column] ?? '');
    return this.#known.has(folded(cells[0]!)) || this.#known.has(folded(cells[1] ?? ''));
  }

  #kindOf(cells: readonly string[]): RowKind {
    const names = cells.map(folded);
    const isSame = this.#names.every((name, at) => (names[at] ?? '') === name);
    if (isSame && names.slice(this.#names.length).every((name) => name === ''))
      return { order: this.#names.map((_, at) => at) };
    const filled = names.filter((name) => name !== '');
    if (filled.length < 2 || new Set(filled).size < filled.length) return 'record';
    const same = filled.filter((name) => this.#known.has(name)).length;
    if (same === this.#known.size && same === filled.length)
      return { order: names.map((name) => this.#names.indexOf(name)) };
    const isHalf = same >= 2 && same * 2 >= filled.length;
    return isHalf || (filled.length >= this.#known.size && this.#isInOtherWords(cells)) ? 'other' : 'record';
  }

  /** Texts alone, where all rows before have a number, a date or an address: a header in another language. */
  #isInOtherWords(cells: readonly string[]): boolean {
    const isUnlike = this.#valued.every((column) => !VALUE.test(cells[column] ?? ''));
    return this.#rows > 1 && this.#valued.length > 1 && isUnlike && !cells.some((cell) => NO_NAME.test(cell));
  }
}

/** Rows below the first one that show whether it is a second header: names for people below those for programs. */
const SHOWING = 3;

/** Holds back the first records of a file until it is known whether the first of them is a second header. */
export class FirstRecords<Item extends { readonly issue?: Problem }> {
  readonly #read: (record: Item) => void;
  readonly #textsOf: (record: Item) => readonly string[];
  #held: Item[] | undefined = [];

  constructor(read: (record: Item) => void, textsOf: (record: Item) => readonly string[]) {
    this.#read = read;
    this.#textsOf = textsOf;
  }

  take(record: Item): void {
    if (!this.#held) return this.#read(record);
    this.#held.push(record);
    if (this.#held.length > SHOWING) this.finish();
  }

  /** No further record is needed. */
  finish(): void {
    const [first, ...others] = this.#held ?? [];
    this.#held = undefined;
    if (!first) return;
    const isHeader = isSecondHeader(this.#textsOf(first), others.map(this.#textsOf));
    for (const record of [isHeader ? { ...first, issue: issueOf('repeated_header/second') } : first, ...others])
      this.#read(record);
  }
}

/** Whether the first row has texts alone where all of the others have a number, a date or an address. */
function isSecondHeader(first: readonly string[], others: readonly (readonly string[])[]): boolean {
  if (others.length < SHOWING || first.some((cell) => NO_NAME.test(cell))) return false;
  const valued = first.flatMap((_, column) =>
    others.every((cells) => VALUE.test(cells[column] ?? '')) ? [column] : [],
  );
  return valued.length > 1 && valued.every((column) => first[column]!.trim() !== '' && !VALUE.test(first[column]!));
}

/** Names that differ in letter case or separators are one: `E-Mail`, `EMAIL`; `First Name`, `first_name`. */
function folded(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_.-]+/g, '');
}

/** What totals are called in the languages of exports. */
const WORDS = [
  'total|totals|sum|grand total|subtotal|sub-total',
  'summe|gesamt|gesamtsumme|zwischensumme|totaal|totalt|i alt|summa|yhteensä',
  'total general|total général|totale|totale generale|suma|soma|somme',
  'razem|łącznie|celkem|součet|spolu|ukupno|skupaj|общо|итого|всего|сумма|разом|всього|kopā|iš viso|kokku|összesen',
  'toplam|genel toplam|σύνολο|סה"כ|المجموع|الإجمالي|jumlah|tổng|tổng cộng|รวม|合计|总计|合計|小計|総計|합계|총계',
].join('|');
const TOTAL = new RegExp(`^(?:${WORDS})(?: \\(?\\d+\\)?)?\\s*:?$`, 'iu');
/** `Total: 41 customers` */
const COUNTED = new RegExp(`^(?:${WORDS})[\\s:].*\\d`, 'iu');
/** An amount or a count, however it is written. */
const FIGURE = /^[\p{Sc}\p{Lu}]{0,4}\s?[-+(]?[\d.,'\s\u00a0]*\d[)%]?\s?[\p{Sc}\p{Lu}]{0,4}$/u;

/**
 * A row of totals: without an id, or with the word in its place, and with nothing but figures beside it, or a lone cell with a count.
 * Only the last rows of a file are; in the middle it is a record.
 */
export function isTotal(cells: readonly string[]): boolean {
  const filled: string[] = [];
  for (const cell of cells) {
    const text = cell.trim();
    if (text !== '') filled.push(text);
    if (filled.length * 2 > cells.length + 1) return false;
  }
  if (filled.length === 1) return COUNTED.test(filled[0]!);
  return (
    (cells[0]!.trim() === '' || TOTAL.test(filled[0]!)) &&
    filled.some((cell) => TOTAL.test(cell)) &&
    filled.every((cell) => TOTAL.test(cell) || FIGURE.test(cell))
  );
}
