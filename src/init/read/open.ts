/** Opens unknown exports: finds the settings with which they can be read, one after the other. */
import { existsSync } from 'node:fs';
import { basename, resolve, sep } from 'node:path';
import { UserError } from '../../errors.ts';
import { findFiles } from '../../input/files.ts';
import type { Format } from '../../input/format.ts';
import { formatByName, formatOfFile, openSource } from '../../input/open.ts';
import { SettingError, type Source, type SourceSpec } from '../../input/source.ts';
import { MIXED, WESTERN } from '../../input/text/encoding.ts';
import { openText, sampleOf } from '../../input/text/text.ts';
import { NO_TABLES, OWN } from '../know/texts.ts';
import { readSample, type ExportSample } from './sample.ts';

type ExportSettings = Pick<
  SourceSpec,
  'format' | 'encoding' | 'delimiter' | 'escape' | 'quote' | 'headerLine' | 'columns' | 'records' | 'sheet'
>;

/** A file, array or sheet, with the settings that its entry in `sources` needs, and why. */
export interface Export {
  /** As given by the user. */
  readonly path: string;
  /** Those of one header that it stands for. */
  readonly files?: readonly string[];
  readonly settings: ExportSettings;
  readonly source: Source;
  readonly sample: ExportSample;
  /** The reason for each setting that was assumed. */
  readonly reasons: readonly string[];
}

/** What the user knows about the exports; the delimiter is that of CSV files. */
export interface ExportOptions {
  readonly encoding?: string | undefined;
  readonly delimiter?: string | undefined;
}

/** The exports among the files, and what is said of the others. */
export interface OpenedExports {
  readonly exports: readonly Export[];
  readonly others: readonly string[];
  readonly failure: UserError | undefined;
}

/** The part of a file that an export is: an array of a JSON document, a sheet of a workbook. */
export function partOf({ records, sheet }: ExportSettings): string | undefined {
  return records ?? sheet;
}

/** Throws a `UserError` if no file can be read. */
export async function openAll(paths: readonly string[], options: ExportOptions): Promise<OpenedExports> {
  const exports: Export[] = [];
  const others: string[] = [];
  let failure: UserError | undefined;
  for (const path of paths) {
    const found = await openOrSay(path, options);
    if (found instanceof UserError) {
      failure ??= found;
      others.push(`${path}: not used, because it cannot be read: ${found.message}`);
    } else if (typeof found === 'string') others.push(`${path}: not used, because it is not an export, but ${found}`);
    else exports.push(...found);
  }
  const isEmpty = ({ sample }: Export): boolean => sample.tables.every(({ columns }) => columns.length === 0);
  const [first] = exports;
  if (first && exports.every(isEmpty))
    throw new UserError(
      `${first.path} has no record with a value${first.sample.why === undefined ? '' : `: ${first.sample.why}`}`,
      {
        hint: 'is this the right export?',
      },
    );
  if (first) return { exports, others, failure };
  throw failure ?? new UserError(others.join('\n'), { hint: 'name the files that the old CRM exported' });
}

/** What a file is that is no export; or why it cannot be read. A file that is not there is thrown. */
async function openOrSay(path: string, options: ExportOptions): Promise<readonly Export[] | string | UserError> {
  const other = NO_TABLES.find(([end]) => end.test(path));
  if (other) return other[1];
  try {
    const found = await openParts(path, options);
    return ownFile(path, found[0]!.source) ?? found;
  } catch (error) {
    if (error instanceof UserError && existsSync(path)) return error;
    throw error;
  }
}

/** What this program wrote itself; undefined for an export. */
function ownFile(path: string, { columns }: Source): string | undefined {
  if (resolve(path).split(sep).includes('.backfill')) return 'state of a migration';
  return OWN.find(([, own]) => own.every((name) => columns.includes(name)))?.[0];
}

/** The exports in a file: several, if it has several arrays or sheets. */
async function openParts(path: string, { encoding, delimiter }: ExportOptions): Promise<Export[]> {
  const absolute = resolve(path);
  const { name, settings: has } = await formatOf(absolute, encoding);
  const format = formatByName({ path })?.name === name ? {} : { format: name };
  const base = { name: basename(path), path: absolute, isArgument: true, ...format };
  const known = {
    ...(encoding && 'encoding' in has && { encoding }),
    ...(delimiter && 'delimiter' in has && { delimiter }),
  };
  const open = async (settings: ExportSettings): Promise<Export> => {
    const found = await findSettings(base, settings, []);
    return { path, ...found, settings: { ...found.settings, ...format } };
  };
  try {
    return [await open(known)];
  } catch (error) {
    const parts = error instanceof SettingError ? error.choices : [];
    const found: Export[] = [];
    for (const part of parts) {
      const each = await open({ ...known, ...('sheet' in has ? { sheet: part } : { records: part }) }).catch(
        () => undefined,
      );
      if (each) found.push(each);
    }
    if (found.length === 0) throw error;
    return found;
  }
}

/** Where neither the name nor the first bytes show it, by how the text begins. Lines of JSON may be called `.json`. */
async function formatOf(path: string, encoding: string | undefined): Promise<Format> {
  const [file] = await findFiles({ name: 'export', path, isArgument: true });
  const known = await formatOfFile({ path: file!.path }, file!);
  if (known && known.name !== 'json') return known;
  const sample = await sampleOf((await openText(file!, { encoding })).file);
  const text = sample.text.toString('utf8').replace(/^\ufeff/, '');
  const isLines = /^\s*\{.*\}\s*\n\s*\{/.test(text);
  return formatByName({ path, format: isLines ? 'ndjson' : known || /^\s*[[{]/.test(text) ? 'json' : 'csv' })!;
}

type FoundSettings = Pick<Export, 'source' | 'sample' | 'settings' | 'reasons'>;
type SettingCorrection = readonly [settings: ExportSettings, reason: string];

/** Tries the defaults, then another encoding, another escape, a header further down, or none: each setting once. */
async function findSettings(
  base: SourceSpec,
  settings: ExportSettings,
  reasons: readonly string[],
  failure?: UserError,
): Promise<FoundSettings> {
  let first = failure;
  let next: SettingCorrection | undefined;
  try {
    const source = await openSource({ ...base, ...settings });
    const sample = await readSample(source);
    next = await otherHeader(base, settings, source);
    if (!next) return { source, sample, settings, reasons };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    first ??= error;
    next = error instanceof SettingError ? await correctionOf(base, settings, error) : undefined;
    if (!next) throw first;
  }
  return findSettings(base, { ...settings, ...next[0] }, [...reasons, next[1]], first);
}

async function correctionOf(
  base: SourceSpec,
  settings: ExportSettings,
  { setting, choices }: SettingError,
): Promise<SettingCorrection | undefined> {
  if (setting === 'encoding' && settings.encoding === undefined) {
    const [encoding = WESTERN] = choices;
    const letters = encoding === WESTERN ? '' : ', because of its letters';
    return encoding === MIXED
      ? [{ encoding }, 'lines that are not UTF-8 are read as Windows-1252']
      : [{ encoding }, `not valid UTF-8, so ${encoding} is assumed${letters}`];
  }
  if (setting === 'escape' && settings.escape === undefined)
    return [{ escape: '\\' }, 'a backslash precedes the quotes inside its cells'];
  if (setting === 'quote' && settings.quote === undefined)
    return [{ quote: 'none' }, 'no cell is quoted, so quotes are ordinary characters'];
  return setting === 'headerLine' ? headerBelow(base, settings) : undefined;
}

/** What is in a record, and is no name of a column: an address, a number, a date. */
const VALUE = /^\S+@\S+\.\w+$|^\+?[\d\s()-]{8,}$|^\d{4}-\d\d-\d\d|^\d\d?([./-])\d\d?\1\d{2,4}\b|^\\N$|^\d+[.,]\d{2,}$/;
/** The last line that is tried as the header. */
const MAX_HEADER_LINE = 20;

/** A header below a title, or none at all, where the first line has a value in place of the name of a column. */
async function otherHeader(
  base: SourceSpec,
  settings: ExportSettings,
  { kind, columns }: Source,
): Promise<SettingCorrection | undefined> {
  if (kind === 'tree' || settings.columns || settings.headerLine !== undefined) return undefined;
  const isGroups = columns.filter((name) => name === '').length > 1;
  if (columns.length === 1 || isGroups) return headerBelow(base, settings, isGroups);
  if (!columns.some((name) => VALUE.test(name))) return undefined;
  const numbered = columns.map((_, index) => `column_${index + 1}`);
  return [{ columns: numbered }, 'the first line is a record, so the columns have numbers: name them'];
}

/** Looks for a header further down, below the title of a report or, `isGroups`, a line that names groups of columns. */
async function headerBelow(
  base: SourceSpec,
  settings: ExportSettings,
  isGroups = false,
): Promise<SettingCorrection | undefined> {
  if (settings.headerLine !== undefined) return undefined;
  for (let line = 2; line <= (isGroups ? 2 : MAX_HEADER_LINE); line += 1) {
    const source = await openSource({ ...base, ...settings, headerLine: line }).catch(() => undefined);
    const columns = source?.columns ?? [];
    const isNamed =
      columns.every((name) => name !== '' && !/\d/.test(name)) && new Set(columns).size === columns.length;
    if (columns.length > 1 && !columns.some((name) => VALUE.test(name)) && (!isGroups || isNamed))
      return [
        { headerLine: line },
        `the header is in line ${line}, below ${isGroups ? 'names of groups of columns' : 'a title'}`,
      ];
  }
  return undefined;
}
