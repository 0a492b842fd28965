/** Where the worksheet is written: where the mapping says, or else into the state directory. */
import { readFile, realpath, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { csvHead, csvLine } from '../files/csv.ts';
import { cannotWrite, messageOf, UserError } from '../errors.ts';
import { shortPath } from '../files/paths.ts';
import type { OpenNames } from '../report/files/documents.ts';
import { publishFiles, type OwnDirectory } from '../report/files/own-files.ts';
import { temporaryName } from '../files/private-file.ts';
import type { StateDir } from '../files/state-dir.ts';
import { writeWhole } from '../files/write-lines.ts';
import { findFiles } from '../input/files.ts';
import { openText } from '../input/text/text.ts';
import type { Database } from '../store/sqlite.ts';
import { isAbout, keyOf, type OldName } from './targets.ts';
import type { NameRow } from './worksheet-rows.ts';
import { WORKSHEET_COLUMNS, WORKSHEET_FILE, type ExistingWorksheet, type NamedRow } from './worksheet.ts';

/** A row that was written, and where: names may contain line breaks. */
interface WrittenRow extends NameRow {
  readonly line: number;
}

/** The worksheet after a survey. */
export interface WrittenWorksheet {
  readonly path: string;
  /** Whether the mapping names it as `references.file`. */
  readonly isNamed: boolean;
  readonly rows: readonly WrittenRow[];
  /** Of a worksheet that the mapping names: the file is new, or the lines of the rows that were added to it. */
  readonly added: 'file' | readonly number[];
  /** Why it is not where it should be; undefined if it is. */
  readonly elsewhere: string | undefined;
}

/** Undefined if all names have an answer. */
export function openNamesOf({ path, isNamed, rows }: WrittenWorksheet): OpenNames | undefined {
  const open = rows.filter(({ isOpen }) => isOpen);
  if (open.length === 0) return undefined;
  const named = open.map(({ line, kind, pipeline, oldName, suggestions }) => ({
    line,
    kind,
    pipeline,
    oldName,
    suggestions,
  }));
  return { file: shortPath(path), isNamed, rows: named };
}

/** What a survey found in the worksheet, and wrote into it. */
export interface SurveyedWorksheet extends WrittenWorksheet {
  /** Which answers are about names that no record has. */
  readonly unmatched: string | undefined;
}

/** Where a survey writes. */
interface WorksheetPlace {
  readonly db: Database;
  readonly output: StateDir;
  /** The `references.file` of the mapping. */
  readonly named: string | undefined;
  /** The content of that file; undefined if it does not exist. */
  readonly existing: ExistingWorksheet | undefined;
}

/**
 * Writes the file that the mapping names, or appends rows for new names. Existing rows are never changed. If the mapping names
 * none, or it cannot be written, writes `references.csv` into the state directory, or beside it if people have changed it. Throws a
 * `UserError` if that is not possible.
 */
export async function writeWorksheet(place: WorksheetPlace, rows: readonly NameRow[]): Promise<WrittenWorksheet> {
  const { output, named, existing } = place;
  if (named === undefined) return writeUnnamed(place, rows);
  try {
    const written = existing ? await addRows(named, existing, rows) : await writeNamed(named, rows);
    await publishFiles(ownDirectory(place), [], await keptIn(output, named));
    return { path: named, isNamed: true, elsewhere: undefined, ...written };
  } catch (error) {
    const unnamed = await writeUnnamed(place, rows);
    const what = existing ? 'new names cannot be added to' : 'cannot write';
    const elsewhere = `${what} ${shortPath(named)}: ${messageOf(error)}; the worksheet is ${shortPath(unnamed.path)}`;
    return { ...unnamed, elsewhere };
  }
}

type Written = Pick<WrittenWorksheet, 'rows' | 'added'>;

/** No file where no record has a name. Throws as `fs` does, also if the file exists meanwhile. */
async function writeNamed(path: string, rows: readonly NameRow[]): Promise<Written> {
  if (rows.length === 0) return { rows: [], added: [] };
  const { text, written } = wholeText(rows);
  await writeFile(path, text, { mode: 0o600, flag: 'wx' });
  return { rows: written, added: 'file' };
}

/** Adds rows as the file has them: its encoding, delimiter, line ends and columns. */
async function addRows(path: string, existing: ExistingWorksheet, rows: readonly NameRow[]): Promise<Written> {
  const lineOf = linesIn(existing.rows);
  const found = rows.map((row) => ({ ...row, line: lineOf(row) }));
  const known = found.filter((row): row is WrittenRow => row.line !== undefined);
  const missing = rows.filter((_, at) => found[at]!.line === undefined);
  if (missing.length === 0) return { rows: known, added: [] };
  const [input] = await findFiles({ name: 'references', path });
  const { encoding } = await openText(input!, {});
  const { default: iconv } = await import('iconv-lite');
  const text = iconv.decode(await readFile(path), encoding);
  const lineEnd = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  const style = { delimiter: existing.delimiter, lineEnd };
  const start = /[\r\n]$/.test(text) ? '' : lineEnd;
  const cells = missing.map((row) => {
    const named = cellsOf(row);
    const own = existing.columns.map((column) => named[column as keyof typeof named]);
    return csvLine(own, style);
  });
  await writeFile(path, iconv.encode(`${start}${cells.join('')}`, encoding), { flag: 'a' });
  const added = numbered(missing, cells, linesOf(`${text}${start}`));
  return { rows: [...known, ...added], added: added.map(({ line }) => line) };
}

/** Finds the line of the row about a name: one with exactly this name, or else one that is written otherwise. */
function linesIn(rows: readonly NamedRow[]): (name: OldName) => number | undefined {
  const exact = new Map([...rows].reverse().map((row) => [keyOf(row), row]));
  return (name) => (exact.get(keyOf(name)) ?? rows.find((row) => isAbout(row, name)))?.line;
}

async function writeUnnamed(place: WorksheetPlace, rows: readonly NameRow[]): Promise<WrittenWorksheet> {
  const { output, named } = place;
  const usual = output.file(WORKSHEET_FILE);
  const gathered = temporaryName(usual);
  const { text, written } = wholeText(rows);
  const nameOfFile = (number: number): string => (number === 1 ? WORKSHEET_FILE : `references.${number}.csv`);
  try {
    writeWhole(gathered, text);
    const kept = await keptIn(output, named);
    const [name = ''] = await publishFiles(ownDirectory(place), [{ path: gathered, nameOf: nameOfFile }], kept);
    const path = join(output.path, name);
    const elsewhere =
      name === WORKSHEET_FILE
        ? undefined
        : `${shortPath(usual)} was changed outside this program, so it was not overwritten; the new worksheet is ${shortPath(path)}`;
    return { path, isNamed: false, rows: written, added: 'file', elsewhere };
  } catch (error) {
    throw error instanceof UserError ? error : cannotWrite(usual, error);
  }
}

function ownDirectory({ db, output: { path } }: WorksheetPlace): OwnDirectory {
  return { db, root: path, path, owns: (name) => /^references(?:\.\d+)?\.csv$/.test(name) };
}

/** A worksheet of the mapping may be in the state directory. */
async function keptIn({ path: directory }: StateDir, named: string | undefined): Promise<ReadonlySet<string>> {
  const real = (name: string): Promise<string> => realpath(name).catch(() => name);
  const isIn = named !== undefined && (await real(dirname(named))) === (await real(directory));
  return new Set(isIn ? [basename(named)] : []);
}

function wholeText(rows: readonly NameRow[]): { readonly text: string; readonly written: readonly WrittenRow[] } {
  const lines = rows.map((row) => csvLine(Object.values(cellsOf(row))));
  return { text: `${csvHead(WORKSHEET_COLUMNS)}${lines.join('')}`, written: numbered(rows, lines, 1) };
}

/** In the order of the columns. */
function cellsOf(row: NameRow): Record<(typeof WORKSHEET_COLUMNS)[number], string | number | undefined> {
  return {
    kind: row.kind,
    pipeline: row.pipeline,
    old_name: row.oldName,
    records: row.records,
    // One that can be copied as it is: of several, somebody has to choose.
    suggestion: row.suggestions.length === 1 ? row.suggestions[0] : '',
    new_name: row.newName,
    choices: row.choices,
  };
}

/** `before`: how many lines precede them. */
function numbered(rows: readonly NameRow[], lines: readonly string[], before: number): WrittenRow[] {
  let line = before + 1;
  return rows.map((row, at) => {
    const own = line;
    line += linesOf(lines[at]!);
    return { ...row, line: own };
  });
}

function linesOf(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}
