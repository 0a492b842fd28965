import type { Hash } from 'node:crypto';
import { UserError } from '../../errors.ts';
import { didYouMean, quoted, type Problem } from '../../problem.ts';
import { counted } from '../../report/words/numbers.ts';
import { issueOf } from '../../report/words/words.ts';
import { readBytes, type InputFile } from '../files.ts';
import type { FileEnd, TableFile, TableRecord } from '../format.ts';
import { SettingError, type SourceSpec } from '../source.ts';
import { letterOf } from './cells.ts';
import { readStrings, readWorkbook, type SheetPart, type Workbook } from './parts.ts';
import { readSheet, SheetFindings, type SheetRow, type SheetToRead } from './sheet.ts';
import { ZipParts } from './zip.ts';

/** Rows that show where the header is. */
const SAMPLE = 100;

/** Opens a sheet of a workbook as a table. Throws a `UserError` if it is no workbook, has no such sheet, or the sheet no header. */
export async function openWorkbook(input: InputFile, spec: SourceSpec): Promise<TableFile> {
  const parts = await ZipParts.open(input);
  try {
    const workbook = await readWorkbook(input, parts);
    const strings = await readStrings(parts, workbook);
    const samples = new Map<SheetPart, Sample>();
    for (const sheet of workbook.sheets) {
      samples.set(sheet, await sampleOf({ file: input, parts, workbook, sheet, strings }));
    }
    const withRows = workbook.sheets.filter((each) => samples.get(each)!.rows.length > 0);
    const sheet = chosen(input, spec, workbook, withRows);
    const file = { ...input, label: `${input.label}#${sheet.name}` };
    const { rows, exact } = samples.get(sheet)!;
    const { header, headerLine } = headerOf(file, rows, spec);
    const columns = columnsOf(header);
    const first = spec.columns ? headerLine : headerLine + 1;
    const others = withRows.filter((each) => each !== sheet).map(({ name }) => name);
    return {
      ...{ kind: 'table', file, traits: ['workbook'], headerLine, letters: columns.map(letterOf) },
      header: columns.map((column) => header[column]!),
      read: (hash) =>
        readRows({ file: input, label: file.label, sheet: sheet.name, columns, first, exact, hash }, others),
    };
  } finally {
    parts.close();
  }
}

interface Sample {
  readonly rows: readonly SheetRow[];
  readonly exact: Set<number>;
}

async function sampleOf(sheet: SheetToRead): Promise<Sample> {
  const findings = new SheetFindings();
  const rows: SheetRow[] = [];
  for await (const batch of readSheet(sheet, findings)) {
    rows.push(...batch.slice(0, SAMPLE));
    if (rows.length >= SAMPLE) break;
  }
  return { rows: rows.slice(0, SAMPLE), exact: findings.exact };
}

/** More columns without a name are no part of the table: a text in the last column of a sheet makes 16,384 of them. */
const MOST_NAMELESS = 100;

function columnsOf(header: readonly string[]): number[] {
  const all = Array.from(header, (_, column) => column);
  const named = all.filter((column) => header[column] !== '');
  return all.length - named.length > MOST_NAMELESS ? named : all;
}

/** The sheet that the mapping names, or the only one with rows. */
function chosen(
  file: InputFile,
  { sheet: wanted }: SourceSpec,
  { sheets }: Workbook,
  withRows: readonly SheetPart[],
): SheetPart {
  const names = sheets.map(({ name }) => name);
  if (wanted !== undefined) {
    const found = sheets.find(({ name }) => name === wanted);
    if (found && withRows.includes(found)) return found;
    if (found)
      throw new UserError(`${file.label}#${found.name} is empty`, { hint: `sheets of the file: ${quoted(names)}` });
    throw new UserError(`${file.label} has no sheet \`${wanted}\``, {
      hint: didYouMean(wanted, names) ?? `sheets of the file: ${quoted(names)}`,
    });
  }
  const [only] = withRows;
  if (!only) throw new UserError(`${file.label} is empty: no sheet has rows`, { hint: 'export it again' });
  if (withRows.length === 1) return only;
  throw new SettingError('sheet', `${file.label} has ${withRows.length} sheets with rows`, {
    hint: `set one of them: ${withRows.map(({ name }) => `\`sheet: ${name}\``).join(', ')}`,
    choices: withRows.map(({ name }) => name),
  });
}

function headerOf(
  { label }: InputFile,
  rows: readonly SheetRow[],
  { headerLine, columns }: SourceSpec,
): { readonly header: readonly string[]; readonly headerLine: number } {
  const first = headerLine === undefined ? rows[0] : rows.find(({ number }) => number === headerLine);
  if (!first) {
    throw new UserError(`${label}!A${headerLine}: there is no header`, {
      hint: 'the row must name the columns; if the header is in another one, set it: `header_line: 3`',
    });
  }
  const below = rows.filter(({ number }) => (columns ? number >= first.number : number > first.number));
  const named = columns ?? cellsOf(first);
  const width = ({ columns: own }: SheetRow): number => own.at(-1)! + 1;
  const wider = below.filter((row) => width(row) > named.length + 1);
  if (below.length > (columns ? 0 : 1) && wider.length >= below.length * 0.8) {
    const [row] = wider as [SheetRow];
    throw new SettingError(
      'headerLine',
      `${label}!A${first.number}: the header has ${counted(named.length, 'column')}, but the rows below have more cells (row ${row.number} has ${width(row)})`,
      { hint: `if the header is further down, set its row: \`header_line: ${row.number}\`` },
    );
  }
  return { header: named, headerLine: first.number };
}

function cellsOf({ columns, texts }: SheetRow): string[] {
  const cells = new Array<string>(columns.at(-1)! + 1).fill('');
  columns.forEach((column, at) => (cells[column] = texts[at]!.trim()));
  return cells;
}

interface SheetReading {
  readonly file: InputFile;
  /** With its sheet. */
  readonly label: string;
  readonly sheet: string;
  /** Of the table, in the sheet. */
  readonly columns: readonly number[];
  /** The row of the first record. */
  readonly first: number;
  readonly exact: ReadonlySet<number>;
  readonly hash: Hash;
}

async function* readRows(
  { file, label, sheet: name, columns, first, exact, hash }: SheetReading,
  others: readonly string[],
): AsyncGenerator<readonly TableRecord[], FileEnd, undefined> {
  for await (const _ of readBytes(file, hash));
  const parts = await ZipParts.open(file);
  try {
    const workbook = await readWorkbook(file, parts);
    const sheet = workbook.sheets.find((each) => each.name === name);
    if (!sheet) throw new UserError(`${label} no longer exists`, {});
    const strings = await readStrings(parts, workbook);
    const findings = new SheetFindings(sheet.isHidden, new Set(exact));
    const indexes = new Map(columns.map((column, index) => [column, index]));
    let last = first - 1;
    for await (const rows of readSheet({ file, parts, workbook, sheet, strings }, findings)) {
      yield rows
        .filter(({ number }) => number >= first)
        .map((row): TableRecord => {
          const afterBlank = row.number > last + 1;
          last = row.number;
          return { line: row.number, afterBlank, ...recordOf(row, indexes) };
        });
    }
    return { notices: noticesOf(findings, label), others };
  } finally {
    parts.close();
  }
}

/** Cells of other columns than those of the table are surplus ones, behind the others. */
function recordOf(
  { columns, texts, decimals }: SheetRow,
  indexes: ReadonlyMap<number, number>,
): Pick<TableRecord, 'cells' | 'decimals'> {
  const cells = new Array<string>(indexes.size).fill('');
  columns.forEach((column, at) => {
    const index = indexes.get(column);
    if (index === undefined) cells.push(texts[at]!);
    else cells[index] = texts[at]!;
  });
  return { cells, ...(decimals && { decimals: decimals.flatMap((column) => indexes.get(column) ?? []) }) };
}

function noticesOf(
  { isHidden, hiddenRows, merged, isFiltered, withoutResult, longNumbers }: SheetFindings,
  label: string,
): Problem[] {
  const first = [merged, withoutResult, longNumbers].map(({ first: cell }) => cell).find((cell) => cell !== undefined);
  const found = [
    ...(isHidden ? ['the sheet is hidden'] : []),
    ...(hiddenRows > 0 ? [`${counted(hiddenRows, 'hidden row')} read too`] : []),
    ...(isFiltered ? ['rows that its filter hides are read too'] : []),
    ...merged.each(
      (count, cell) =>
        `${counted(count, 'range')} of merged cells (${cell}): the first cell has the value, the others are empty`,
    ),
    ...withoutResult.each(
      (count, cell) => `${counted(count, 'formula')} without a result in the file (${cell}), read as empty`,
    ),
    ...longNumbers.each(
      (count, cell) =>
        `${counted(count, 'number')} of which a spreadsheet has cut the last digits, as it keeps 15 (${cell})`,
    ),
  ];
  return found.length === 0
    ? []
    : [issueOf('sheet_contents', found).in(first === undefined ? label : `${label}!${first}`)];
}
