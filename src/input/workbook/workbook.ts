import type { Hash } from 'node:crypto';
import { UserError } from '../../errors.ts';
import { didYouMean, quoted } from '../../problem.ts';
import { counted } from '../../report/words/numbers.ts';
import { issueOf } from '../../report/words/words.ts';
import { readBytes } from '../bytes.ts';
import type { InputFile } from '../files.ts';
import type { FileEnd, TableFile, TableRecord } from '../format.ts';
import { notice, SettingError, type SourceNotice, type SourceSpec } from '../source.ts';
import { letterOf } from './cells.ts';
import { readStrings, readWorkbook, type SheetPart, type Workbook } from './parts.ts';
import { readSheet, SheetFindings, type SheetRow } from './sheet.ts';
import { ZipParts } from './zip.ts';

/** Rows that show where the header is. */
const SAMPLE = 100;

/** Opens a sheet of a workbook as a table. Throws a `UserError` if it is no workbook, has no such sheet, or the sheet no header. */
export async function openWorkbook(input: InputFile, spec: SourceSpec): Promise<TableFile> {
  return withParts(input, async (parts) => {
    const workbook = await readWorkbook(input, parts);
    const strings = await readStrings(parts, workbook);
    const samples = new Map<SheetPart, readonly SheetRow[]>();
    for (const sheet of workbook.sheets) {
      const rows: SheetRow[] = [];
      for await (const batch of readSheet({ file: input, parts, workbook, sheet, strings })) {
        rows.push(...batch);
        if (rows.length >= SAMPLE) break;
      }
      samples.set(sheet, rows.slice(0, SAMPLE));
    }
    const sheet = chosen(
      input,
      spec,
      workbook,
      [...samples].filter(([, each]) => each.length > 0).map(([each]) => each),
    );
    const file = { ...input, label: `${input.label}#${sheet.name}` };
    const rows = samples.get(sheet)!;
    const { header, headerLine } = headerOf(file, rows, spec);
    const others = workbook.sheets.filter((each) => each !== sheet && samples.get(each)!.length > 0);
    return {
      kind: 'table',
      file,
      traits: ['workbook'],
      header,
      headerLine,
      letters: header.map((_, column) => letterOf(column)),
      read: (hash) =>
        readRows(
          { file: input, label: file.label, sheet: sheet.name, width: header.length, hash },
          (number) => (spec.columns ? number >= headerLine : number > headerLine),
          others.map(({ name }) => name),
        ),
    };
  });
}

async function withParts<Result>(file: InputFile, use: (parts: ZipParts) => Promise<Result>): Promise<Result> {
  const parts = await ZipParts.open(file);
  return use(parts).finally(() => parts.close());
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
  const [only, ...others] = withRows;
  if (!only) throw new UserError(`${file.label} is empty: no sheet has rows`, { hint: 'export it again' });
  if (others.length === 0) return only;
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
  const named = columns ?? first.cells.map((cell) => cell.trim());
  const wider = below.filter(({ cells }) => cells.length > named.length + 1);
  if (below.length > (columns ? 0 : 1) && wider.length >= below.length * 0.8) {
    const [{ number, cells }] = wider as [SheetRow];
    throw new SettingError(
      'headerLine',
      `${label}!A${first.number}: the header has ${counted(named.length, 'column')}, but the rows below have more cells (row ${number} has ${cells.length})`,
      { hint: `if the header is further down, set its row: \`header_line: ${number}\`` },
    );
  }
  return { header: named, headerLine: first.number };
}

interface SheetReading {
  readonly file: InputFile;
  /** With its sheet. */
  readonly label: string;
  readonly sheet: string;
  /** Of the header. */
  readonly width: number;
  readonly hash: Hash;
}

async function* readRows(
  { file, label, sheet: name, width, hash }: SheetReading,
  isRecord: (number: number) => boolean,
  others: readonly string[],
): AsyncGenerator<readonly TableRecord[], FileEnd, undefined> {
  for await (const _ of readBytes(file, hash));
  const parts = await ZipParts.open(file);
  try {
    const workbook = await readWorkbook(file, parts);
    const sheet = workbook.sheets.find((each) => each.name === name);
    if (!sheet) throw new UserError(`${label} no longer exists`, {});
    const strings = await readStrings(parts, workbook);
    const findings = new SheetFindings(sheet.isHidden);
    let last = 0;
    for await (const rows of readSheet({ file, parts, workbook, sheet, strings }, findings)) {
      yield rows
        .filter(({ number }) => isRecord(number))
        .map(({ number, cells, decimals }): TableRecord => {
          const afterBlank = number > last + 1;
          last = number;
          const missing = width - cells.length;
          return {
            line: number,
            afterBlank,
            ...(decimals && { decimals }),
            cells: missing > 0 ? [...cells, ...new Array<string>(missing).fill('')] : cells,
          };
        });
    }
    return { notices: noticesOf(findings, label), others };
  } finally {
    parts.close();
  }
}

function noticesOf(
  { isHidden, hiddenRows, merged, isFiltered, withoutResult, longNumbers }: SheetFindings,
  label: string,
): SourceNotice[] {
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
      (count, cell) => `${counted(count, 'number')} with more digits than the 15 that a spreadsheet keeps (${cell})`,
    ),
  ];
  return found.length === 0
    ? []
    : [notice(issueOf('sheet_contents', found), first === undefined ? label : `${label}!${first}`)];
}
