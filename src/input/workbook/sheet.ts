import { UserError } from '../../errors.ts';
import type { InputFile } from '../files.ts';
import { Tally } from '../source.ts';
import { cellOf, dateText, decimalText, DIGITS, letterOf, unescaped } from './cells.ts';
import { isTrue, TextReader, type SheetPart, type Workbook } from './parts.ts';
import type { ZipParts } from './zip.ts';

const MOST_COLUMNS = 16_384;
const MOST_ROWS = 1_048_576;

export interface SheetRow {
  readonly number: number;
  readonly cells: readonly string[];
  readonly decimals?: readonly number[];
}

/** Contents of a sheet beside its values, counted while it is read, by their cells. */
export class SheetFindings {
  readonly isHidden: boolean;
  hiddenRows = 0;
  isFiltered = false;
  readonly merged = new Tally<string>();
  readonly withoutResult = new Tally<string>();
  readonly longNumbers = new Tally<string>();

  constructor(isHidden: boolean) {
    this.isHidden = isHidden;
  }
}

interface SheetToRead {
  readonly file: InputFile;
  readonly parts: ZipParts;
  readonly workbook: Workbook;
  readonly sheet: SheetPart;
  readonly strings: readonly string[];
}

/** Reads the rows that have a cell with a value, in batches. */
export async function* readSheet(
  { file, parts, workbook, sheet, strings }: SheetToRead,
  findings = new SheetFindings(false),
): AsyncGenerator<readonly SheetRow[], void, undefined> {
  let rows: SheetRow[] = [];
  let cells: string[] = [];
  let decimals: number[] | undefined;
  let row = 0;
  let column = -1;
  let type = '';
  let style = 0;
  let value = '';
  let isValue = false;
  let isInline = false;
  let hasFormula = false;
  const texts = new TextReader();

  const endCell = (): void => {
    const text = type === 'inlineStr' ? texts.take() : textOf();
    if (hasFormula && value === '' && type !== 'inlineStr') findings.withoutResult.add(`${letterOf(column)}${row}`);
    if (text === '') return;
    while (cells.length < column) cells.push('');
    cells[column] = text;
  };
  const textOf = (): string => {
    if (value === '') return '';
    if (type === 's') return strings[Number(value)] ?? '';
    if (type === 'b') return isTrue(value) ? 'true' : 'false';
    if (type !== 'n' && type !== '') return unescaped(value);
    const format = workbook.formats[style];
    const date = typeof format === 'string' ? dateText(Number(value), format, workbook.is1904) : undefined;
    if (date !== undefined) return date;
    const text = decimalText(value);
    if (text.includes('.')) decimals = [...(decimals ?? []), column];
    if (text.replace(/\D.*$|^0+/g, '').length > DIGITS) findings.longNumbers.add(`${letterOf(column)}${row}`);
    return typeof format === 'number' && /^\d+$/.test(text) ? text.padStart(format, '0') : text;
  };
  const outside = (place: string): UserError =>
    new UserError(`${file.label} cannot be read: it has a cell at ${place}, outside of any sheet`, {
      hint: 'open it in a spreadsheet and save it again',
    });

  for await (const _ of parts.read(sheet.part, {
    open(name, attributes) {
      if (isInline) texts.open(name);
      else if (name === 'row') {
        row = attributes.r === undefined ? row + 1 : Number(attributes.r);
        if (!(row > 0 && row <= MOST_ROWS)) throw outside(`row ${attributes.r}`);
        column = -1;
        cells = [];
        decimals = undefined;
        if (isTrue(attributes.hidden)) findings.hiddenRows += 1;
      } else if (name === 'c') {
        const at = attributes.r === undefined ? undefined : cellOf(attributes.r);
        column = at ? at.column : column + 1;
        if (column >= MOST_COLUMNS) throw outside(attributes.r ?? `column ${column + 1}`);
        type = attributes.t ?? '';
        style = Number(attributes.s ?? 0);
        value = '';
        hasFormula = false;
      } else if (name === 'v') isValue = true;
      else if (name === 'f') hasFormula = true;
      else if (name === 'is') isInline = true;
      else if (name === 'autoFilter') findings.isFiltered = true;
      else if (name === 'mergeCell') findings.merged.add(attributes.ref?.split(':')[0] ?? '');
    },
    text(text) {
      if (isValue) value += text;
      else if (isInline) texts.text(text);
    },
    close(name) {
      if (name === 'is') isInline = false;
      else if (isInline) texts.close(name);
      else if (name === 'v') isValue = false;
      else if (name === 'c') endCell();
      else if (name === 'row' && cells.length > 0) rows.push({ number: row, cells, ...(decimals && { decimals }) });
    },
  })) {
    if (rows.length > 0) yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}
