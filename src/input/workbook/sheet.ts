import type { InputFile } from '../files.ts';
import { Tally } from '../source.ts';
import { cellOf, dateText, isCut, letterOf, numberText, NUMBER, unescaped } from './cells.ts';
import { isTrue, TextReader, type SheetPart, type Workbook } from './parts.ts';
import type { ZipParts } from './zip.ts';

const MOST_COLUMNS = 16_384;
const MOST_ROWS = 1_048_576;

/** The cells with a value: their columns, from 0, and their texts. */
export interface SheetRow {
  readonly number: number;
  readonly columns: readonly number[];
  readonly texts: readonly string[];
  /** Columns whose cell is a number with decimals. */
  readonly decimals?: readonly number[];
}

/** Contents of a sheet beside its values, counted while it is read, by their cells. */
export class SheetFindings {
  readonly isHidden: boolean;
  /** Columns whose long numbers have all of their digits, so that none of them was cut by a spreadsheet. */
  readonly exact: Set<number>;
  hiddenRows = 0;
  isFiltered = false;
  readonly merged = new Tally<string>();
  readonly withoutResult = new Tally<string>();
  readonly longNumbers = new Tally<string>();

  constructor(isHidden = false, exact = new Set<number>()) {
    this.isHidden = isHidden;
    this.exact = exact;
  }
}

export interface SheetToRead {
  readonly file: InputFile;
  readonly parts: ZipParts;
  readonly workbook: Workbook;
  readonly sheet: SheetPart;
  readonly strings: readonly string[];
}

/** Reads the rows that have a cell with a value, in batches. Throws a `UserError` for what is not as the format has it. */
export async function* readSheet(
  { parts, workbook, sheet, strings }: SheetToRead,
  findings: SheetFindings,
): AsyncGenerator<readonly SheetRow[], void, undefined> {
  const rows = new RowReader(workbook, strings, findings, (why) => {
    throw parts.mistake(`sheet \`${sheet.name}\`: ${why}`);
  });
  for await (const _ of parts.read(sheet.part, rows)) {
    const read = rows.take();
    if (read.length > 0) yield read;
  }
  const last = rows.take();
  if (last.length > 0) yield last;
}

/** Turns the elements of a sheet into rows. */
class RowReader {
  readonly root = 'worksheet';
  readonly #workbook: Workbook;
  readonly #strings: readonly string[];
  readonly #findings: SheetFindings;
  readonly #refuse: (why: string) => never;
  readonly #texts = new TextReader();
  #rows: SheetRow[] = [];
  #isData = false;
  #row = 0;
  #columns: number[] = [];
  #cells: string[] = [];
  #decimals: number[] = [];
  #column = -1;
  #type = '';
  #style: string | undefined;
  /** The part of a cell that is being read; empty directly in the cell, undefined outside of cells. */
  #part: string | undefined;
  #value: string | undefined;
  #inline: string | undefined;
  #hasFormula = false;

  constructor(workbook: Workbook, strings: readonly string[], findings: SheetFindings, refuse: (why: string) => never) {
    this.#workbook = workbook;
    this.#strings = strings;
    this.#findings = findings;
    this.#refuse = refuse;
  }

  take(): readonly SheetRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#part === 'is') this.#texts.open(name);
    else if (this.#part === '') this.#openPart(name);
    else if (this.#part !== undefined) return;
    else if (name === 'sheetData') this.#isData = true;
    else if (name === 'autoFilter') this.#findings.isFiltered = true;
    else if (name === 'mergeCell') this.#findings.merged.add(attributes.ref?.split(':')[0] ?? '');
    else if (!this.#isData) return;
    else if (name === 'row') this.#openRow(attributes);
    else if (name === 'c') this.#openCell(attributes);
    else if (name === 'v' || name === 'is') this.#refuse(`row ${this.#row} has a value outside of its cells`);
  }

  #openPart(name: string): void {
    this.#part = name;
    if (name === 'f') this.#hasFormula = true;
    if (name === 't') this.#refuseText();
    if (name !== 'v' && name !== 'is') return;
    if (this.#value !== undefined || this.#inline !== undefined) this.#refuse(`${this.#place()} has two values`);
    if (name === 'v') this.#value = '';
  }

  text(text: string): void {
    if (this.#part === 'v') this.#value! += text;
    else if (this.#part === 'is') this.#texts.text(text);
    else if (this.#part === '' && text.trim() !== '') this.#refuseText();
  }

  close(name: string): void {
    if (this.#part === 'is' && name !== 'is') this.#texts.close(name);
    else if (this.#part !== undefined && this.#part !== '') {
      if (name === 'is') this.#inline = this.#texts.take();
      if (name === this.#part) this.#part = '';
    } else if (name === 'c' && this.#part === '') this.#closeCell();
    else if (name === 'sheetData') this.#isData = false;
    else if (name === 'row' && this.#isData && this.#columns.length > 0) {
      const [number, columns, texts, decimals] = [this.#row, this.#columns, this.#cells, this.#decimals];
      this.#rows.push({ number, columns, texts, ...(decimals.length > 0 && { decimals }) });
    }
  }

  #openRow({ r, hidden }: Readonly<Record<string, string>>): void {
    const row = r === undefined ? this.#row + 1 : Number(r);
    if (!(row > this.#row && row <= MOST_ROWS))
      this.#refuse(`row ${r} is outside of any sheet, or not below row ${this.#row}`);
    this.#row = row;
    this.#column = -1;
    [this.#columns, this.#cells, this.#decimals] = [[], [], []];
    if (isTrue(hidden)) this.#findings.hiddenRows += 1;
  }

  #openCell({ r, t = 'n', s }: Readonly<Record<string, string>>): void {
    const at = r === undefined ? { column: this.#column + 1, row: this.#row } : cellOf(r);
    if (at?.row !== this.#row || at.column >= MOST_COLUMNS || at.column <= this.#column)
      this.#refuse(`cell ${r ?? ''} is outside of any sheet, or not in its place in row ${this.#row}`);
    this.#column = at.column;
    this.#type = t;
    this.#style = s;
    [this.#part, this.#value, this.#inline] = ['', undefined, undefined];
    this.#hasFormula = false;
  }

  #closeCell(): void {
    const text = this.#text();
    this.#part = undefined;
    if (this.#hasFormula && !this.#value && this.#inline === undefined) this.#findings.withoutResult.add(this.#place());
    if (text === '') return;
    this.#columns.push(this.#column);
    this.#cells.push(text);
  }

  #place(): string {
    return `${letterOf(this.#column)}${this.#row}`;
  }

  #text(): string {
    const [type, value] = [this.#type, this.#value ?? ''];
    if ((type === 'inlineStr' ? this.#value : this.#inline) !== undefined) this.#refuseText();
    if (type === 'inlineStr') return this.#inline ?? '';
    if (type === 'str' || type === 'e' || value === '') return unescaped(value);
    if (type === 's') return this.#shared(value);
    if (type === 'b')
      return isTrue(value) ? 'true' : /^(?:0|false)$/.test(value) ? 'false' : this.#wrong('a truth value');
    if (type === 'd') return /^\d{4}-|^\d\d:/.test(value) ? value : this.#wrong('a date');
    return type === 'n' ? this.#number(value.trim()) : this.#wrong('of a type of the format');
  }

  #refuseText(): never {
    return this.#refuse(`${this.#place()} has a text that does not fit its type`);
  }

  #wrong(what: string): never {
    return this.#refuse(
      `${this.#place()} is \`${this.#value?.slice(0, 40)}\` of the type \`${this.#type}\`, which is not ${what}`,
    );
  }

  #shared(index: string): string {
    const text = /^\s*\d+\s*$/.test(index) ? this.#strings[Number(index)] : undefined;
    return text ?? this.#wrong('one of the shared texts');
  }

  #number(value: string): string {
    if (!NUMBER.test(value)) this.#wrong('a number');
    const { formats, is1904 } = this.#workbook;
    const style = Number(this.#style ?? 0);
    if (this.#style !== undefined && !(style < formats.length))
      this.#refuse(`${this.#place()} has a style ${style} that is not there`);
    const format = formats[style];
    const date = typeof format === 'string' ? dateText(Number(value), format, is1904) : undefined;
    if (date !== undefined) return date;
    const text = numberText(value, this.#findings.exact.has(this.#column));
    if (text.includes('.') && !isCut(text)) this.#decimals.push(this.#column);
    if (isCut(text)) this.#findings.longNumbers.add(this.#place());
    else if (text.length > 15 && /^-?\d{16,}$/.test(text)) this.#findings.exact.add(this.#column);
    return typeof format === 'object' && /^\d+$/.test(text)
      ? `${format.prefix}${text.padStart(format.digits, '0')}`
      : text;
  }
}
