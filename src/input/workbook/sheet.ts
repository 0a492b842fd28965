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
  #value: string | undefined;
  #isValue = false;
  /** Whether an inline text has begun, or has ended. */
  #inline: 'none' | 'open' | 'closed' = 'none';
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
    if (this.#inline === 'open') this.#texts.open(name);
    else if (name === 'sheetData') this.#isData = true;
    else if (name === 'autoFilter') this.#findings.isFiltered = true;
    else if (name === 'mergeCell') this.#findings.merged.add(attributes.ref?.split(':')[0] ?? '');
    else if (!this.#isData) return;
    else if (name === 'row') this.#openRow(attributes);
    else if (name === 'c') this.#openCell(attributes);
    else if (name === 'f') this.#hasFormula = true;
    else if (name === 'is') this.#inline = 'open';
    else if (name === 'v') {
      if (this.#value !== undefined) this.#refuse(`${this.#place()} has two values`);
      this.#value = '';
      this.#isValue = true;
    }
  }

  text(text: string): void {
    if (this.#isValue) this.#value! += text;
    else if (this.#inline === 'open') this.#texts.text(text);
  }

  close(name: string): void {
    if (this.#inline === 'open' && name !== 'is') this.#texts.close(name);
    else if (name === 'is') this.#inline = 'closed';
    else if (name === 'v') this.#isValue = false;
    else if (name === 'sheetData') this.#isData = false;
    else if (name === 'c' && this.#isData) this.#closeCell();
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
    this.#value = undefined;
    this.#inline = 'none';
    this.#hasFormula = false;
  }

  #closeCell(): void {
    const text = this.#text();
    if (this.#hasFormula && !this.#value && this.#inline === 'none') this.#findings.withoutResult.add(this.#place());
    if (text === '') return;
    this.#columns.push(this.#column);
    this.#cells.push(text);
  }

  #place(): string {
    return `${letterOf(this.#column)}${this.#row}`;
  }

  #text(): string {
    const [type, value] = [this.#type, this.#value ?? ''];
    const isInline = type === 'inlineStr';
    const inline = this.#texts.take();
    if (isInline ? this.#value !== undefined : this.#inline !== 'none')
      this.#refuse(`${this.#place()} has a text that does not fit its type`);
    if (isInline) return inline;
    if (type === 'str' || type === 'e' || value === '') return unescaped(value);
    if (type === 's') return this.#shared(value);
    if (type === 'b')
      return isTrue(value) ? 'true' : /^(?:0|false)$/.test(value) ? 'false' : this.#wrong('a truth value');
    if (type === 'd') return /^\d{4}-|^\d\d:/.test(value) ? value : this.#wrong('a date');
    return type === 'n' ? this.#number(value.trim()) : this.#wrong('of a type of the format');
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
