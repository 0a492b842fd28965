/** Opens unknown exports: finds the settings with which their beginnings can be read. */
import { existsSync } from 'node:fs';
import { basename, resolve, sep } from 'node:path';
import { UserError } from '../../errors.ts';
import { findFiles } from '../../input/files.ts';
import type { Format } from '../../input/format.ts';
import { formatByName, formatOfFile, openSource } from '../../input/open.ts';
import { SettingError, type Source, type SourceSpec } from '../../input/source.ts';
import { MIXED, WESTERN } from '../../input/text/encoding.ts';
import { openText, sampleOf } from '../../input/text/text.ts';
import { findOneEach, isOfRecord, PAGING } from './family/one-each.ts';
import { type RawTable, type RecordType } from './raw-table.ts';
import { readSample, type ExportSample } from './sample.ts';
import { isAttributes } from './named/pairs.ts';

/** The last line that is tried as the header. */
const MAX_HEADER_LINE = 20;

type ExportSettings = Pick<
  SourceSpec,
  'format' | 'encoding' | 'delimiter' | 'escape' | 'quote' | 'headerLine' | 'columns' | 'records' | 'sheet'
>;

/** An export with the settings that its entry in `sources` needs, and why. */
export interface Export {
  /** As given by the user. */
  readonly path: string;
  readonly settings: ExportSettings;
  readonly source: Source;
  readonly sample: ExportSample;
  /** The reason for each setting, as text. */
  readonly reasons: readonly string[];
  /** Of an export with records of several types, the one of these. */
  readonly type?: RecordType;
  /** Of a file with several parts, those without records, as messages name them. */
  readonly withoutRecords?: readonly string[];
  /** What its file calls this part of it. */
  readonly called?: string;
  /** It stands for several exports of one structure. */
  readonly family?: Family;
}

/** What exports of one structure have in common, and what tells them apart. */
export interface Family {
  readonly members: readonly Export[];
  /** What each is called: that is a value of its records, in a column of this name. */
  readonly named: { readonly column: string; readonly names: readonly string[] } | undefined;
  /** The same records come again, as in an export of each week: the last one has what is true now. In figures. */
  readonly again: string | undefined;
  /** A column that numbers the records of each anew. */
  readonly renumbered: string | undefined;
}

/** What the user knows about the exports; the delimiter is that of CSV files. */
export interface ExportOptions {
  readonly encoding?: string | undefined;
  readonly delimiter?: string | undefined;
}

/** The part of a file that an export is: an array of a JSON document, a sheet of a workbook. */
export function partOf({ records, sheet }: ExportSettings): string | undefined {
  return records ?? sheet;
}

/** The exports among the files, which files are none or cannot be read, and why the first of these cannot. Throws a `UserError` if nothing can be read. */
export async function openAll(
  paths: readonly string[],
  options: ExportOptions,
): Promise<{ exports: Export[]; own: string[]; failure: UserError | undefined }> {
  const exports: Export[] = [];
  const own: string[] = [];
  let failure: UserError | undefined;
  const oneEach = await findOneEach(paths);
  for (const path of paths) {
    const isMapping = /\.ya?ml$/i.test(path);
    const one = oneEach.find((each) => each.paths.includes(path));
    if (one?.path !== undefined && path !== one.paths[0]) continue;
    const open = () => (one ? openOne(one.path ?? path, one.records, options) : openExports(path, options));
    const found = isMapping ? [] : await open().catch((error: unknown) => error);
    if (!Array.isArray(found)) {
      if (!(found instanceof UserError) || !existsSync(path)) throw found;
      failure ??= found;
      own.push(`${path}: not used, because it cannot be read: ${found.message}`);
      continue;
    }
    const what = isMapping ? 'a mapping' : ownFile(path, (found as Export[])[0]!.source);
    if (what === undefined) exports.push(...(found as Export[]));
    else own.push(`${path}: not used, because it is not an export, but ${what}`);
  }
  const [first] = exports;
  if (!first && failure) throw failure;
  if (!first) throw new UserError(own.join('\n'), { hint: 'name the files that the old CRM exported' });
  if (exports.every(({ sample }) => sample.tables[0]!.columns.size === 0)) {
    const { path, sample } = exports.find((each) => each.sample.why !== undefined) ?? first;
    throw new UserError(`${path} has no record with a value${sample.why === undefined ? '' : `: ${sample.why}`}`, {
      hint: 'is this the right export?',
    });
  }
  return { exports, own, failure };
}

/** Columns that no CRM exports together, and what the file is. */
const OWN: readonly (readonly [what: string, columns: readonly string[]])[] = [
  ['the worksheet of names', ['kind', 'pipeline', 'old_name', 'new_name']],
  ['errors of a run', ['event_type', 'external_id', 'event_id', 'kind', 'code']],
  ['values left out by a run', ['external_id', 'field', 'original', 'reason']],
  ['a result of a run', ['external_id', 'service_id']],
  ['rejected records of a run', ['_file', '_line', '_error', '_row']],
  ['a plan', ['new: external_id', 'new: occurred_at']],
];

/** What this program wrote itself; undefined for an export. */
function ownFile(path: string, { columns }: Source): string | undefined {
  if (resolve(path).split(sep).includes('.backfill')) return 'state of a migration';
  return OWN.find(([, own]) => own.every((name) => columns.includes(name)))?.[0];
}

/** A file, or those that a glob matches, of one record each. */
async function openOne(path: string, records: string, { encoding }: ExportOptions): Promise<Export[]> {
  const base = { name: basename(path), path: resolve(path), isArgument: true };
  const known = { ...(encoding && { encoding }), records };
  const found = await findSettings(base, known, ['each file has one record']);
  return [{ path, ...found }];
}

/** The exports in a file: several, if it has several parts with records. Throws a `UserError` if it cannot be read with any settings. */
export async function openExports(path: string, { encoding, delimiter }: ExportOptions): Promise<Export[]> {
  const absolute = resolve(path);
  const { name, settings: has } = await formatOf(absolute, encoding);
  const format = formatByName({ path })?.name === name ? {} : { format: name };
  const base = { name: basename(path), path: absolute, isArgument: true, ...format };
  const known = {
    ...(encoding && 'encoding' in has && { encoding }),
    ...(delimiter && 'delimiter' in has && { delimiter }),
  };
  const open = async (settings: ExportSettings, ...reasons: string[]): Promise<Export> => {
    const found = await findSettings(base, settings, reasons);
    return { path, ...found, settings: { ...found.settings, ...format } };
  };
  try {
    return await unwrapped(await open(known), open);
  } catch (error) {
    const found: Export[] = [];
    const without: string[] = [];
    const parts = error instanceof SettingError ? error.choices : [];
    for (const part of parts) {
      const settings = has.sheet ? { sheet: part } : { records: part };
      const reason = has.sheet ? `the sheet \`${part}\`` : `the records are at \`${part}\``;
      const each = await open({ ...known, ...settings }, reason).catch(() => undefined);
      if (each?.sample.tables[0]?.rows.length) found.push(...(await unwrapped(each, open)));
      else without.push(`${basename(path)}#${part}`);
    }
    if (found.length === 0) throw error;
    return found.map((each, at) => (at === 0 ? { ...each, withoutRecords: without } : each));
  }
}

/** An array of one object, such as a board, or of pages has in its lists what the file has. */
async function unwrapped(
  each: Export,
  open: (settings: ExportSettings, ...reasons: string[]) => Promise<Export>,
): Promise<Export[]> {
  const { source, settings, sample } = each;
  const [main, ...lists] = sample.tables;
  if (source.kind === 'table' || !main) return [each];
  const own = [...main.columns].flatMap(([name, { list }]) => (list === undefined ? [name] : []));
  const outer = lists.filter(({ list }) => !lists.some((other) => list!.startsWith(`${other.list!}.`)));
  // A list of one object may be around the list itself.
  const isFilled = ({ list }: RawTable): boolean =>
    lists.some((raw) => `${raw.list!}.`.startsWith(`${list!}.`) && raw.rows.length > 1 && raw.columns.size > 1);
  const able = outer.filter((raw) => isFilled(raw) && !isAttributes(raw));
  const [list, ...others] = able;
  const tables = list && others.length === 0 ? tablesIn(main, list) : [];
  if (tables.length > 0) {
    const opened = tables.map(async ({ record, called }): Promise<Export> => {
      const records = `${settings.records ?? ''}[${record}].${list!.list!}`;
      return {
        ...(await open({ ...settings, records }, `the records are at \`${records}\``)),
        ...(called && { called }),
      };
    });
    return Promise.all(opened);
  }
  const isPages = outer.length === 1 && own.every((name) => PAGING.test(name));
  if (own.some(isOfRecord) || able.some(({ list }) => list === '$') || !(main.rows.length === 1 || isPages))
    return [each];
  const found: Export[] = [];
  for (const { list } of able) {
    const records = [settings.records, list].filter(Boolean).join('.');
    const inner = await open({ ...settings, records }, `the records are at \`${records}\``).catch(() => undefined);
    if (inner) found.push(...(await unwrapped(inner, open)));
  }
  return found.length > 0 ? found : [each];
}

/** A record for each table of a database: what is in their lists has other keys in each. With the name of each, where one column has it. */
function tablesIn(main: RawTable, list: RawTable): { record: number; called: string | undefined }[] {
  const keys = new Map<number, Set<number>>();
  for (const [record, ...cells] of list.rows) {
    const own = keys.get(record as number) ?? new Set();
    keys.set(record as number, own);
    for (const [at, cell] of cells.entries()) if (cell !== null && cell !== undefined) own.add(at);
  }
  const sets = [...keys.values()];
  const isOther = (one: Set<number>, other: Set<number>): boolean =>
    one === other || [...one].filter((each) => other.has(each)).length * 2 < Math.max(one.size, other.size);
  if (
    sets.length < 2 ||
    list.rows.length < sets.length * 3 ||
    !sets.every((one) => sets.every((other) => isOther(one, other)))
  )
    return [];
  const names = [...main.columns.values()]
    .map(({ at }) => [...keys.keys()].map((record) => main.rows[record]?.[at]))
    .find((each) => each.every((name) => typeof name === 'string') && new Set(each).size === each.length);
  return [...keys.keys()].map((record, at) => ({ record, called: names?.[at] as string | undefined }));
}

/** The format of a file; where neither its name nor its first bytes show it, by how its text begins. Lines of JSON may be called `.json`. */
async function formatOf(path: string, encoding: string | undefined): Promise<Format> {
  const [file] = await findFiles({ name: 'export', path, isArgument: true });
  const known = await formatOfFile({ path: file!.path }, file!);
  if (known && known.name !== 'json') return known;
  const sample = await sampleOf((await openText(file!, { encoding })).file);
  const text = sample.text.toString('utf8').replace(/^\ufeff/, '');
  const isJson = /^\s*[[{]/.test(text);
  const isLines = /^\s*\{.*\}\s*\n\s*\{/.test(text);
  return formatByName({ path, format: isLines ? 'ndjson' : known || isJson ? 'json' : 'csv' })!;
}

type SettingsFound = Pick<Export, 'source' | 'sample' | 'settings' | 'reasons'>;
type SettingsCorrection = readonly [settings: ExportSettings, reason: string];

/** Tries the defaults, then another encoding, another escape, a header further down, or none: each setting once. */
async function findSettings(
  base: SourceSpec,
  settings: ExportSettings,
  reasons: readonly string[],
  failure?: UserError,
): Promise<SettingsFound> {
  let first = failure;
  let next: SettingsCorrection | undefined;
  try {
    const source = await openSource({ ...base, ...settings });
    const sample = await readSample(source);
    // With an odd number of quotes, the first one opens a cell of several lines, or one that is damaged.
    const isQuoted = (cell: unknown): boolean => /^".*"$|^"(?:[^"]*"[^"]*")*[^"]*$/s.test(String(cell));
    if (failure && settings.quote && sample.tables[0]!.rows.some((row) => row.some(isQuoted))) throw failure;
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
): Promise<SettingsCorrection | undefined> {
  if (setting === 'encoding' && settings.encoding === undefined) {
    const [encoding = WESTERN] = choices;
    if (encoding === MIXED) return [{ encoding }, 'lines that are not UTF-8 are read as Windows-1252'];
    return encoding === WESTERN
      ? [{ encoding }, 'not valid UTF-8, so Windows-1252 is assumed']
      : [{ encoding }, `not valid UTF-8, so ${encoding} is assumed, because of its letters`];
  }
  if (setting === 'escape' && settings.escape === undefined) {
    return [{ escape: '\\' }, 'a backslash precedes the quotes inside its cells'];
  }
  if (setting === 'quote' && settings.quote === undefined)
    return [{ quote: 'none' }, 'no cell is quoted, so quotes are ordinary characters'];
  return setting === 'headerLine' ? headerBelow(base, settings) : undefined;
}

/** What stands in a record, and is no name of a column: an address, a number, a date. */
function isValue(name: string): boolean {
  return /^\S+@\S+\.\w+$|^\+?[\d\s()-]{8,}$|^\d{4}-\d\d-\d\d|^\d\d?([./-])\d\d?\1\d{2,4}\b|^\\N$|^\d+[.,]\d{2,}$/.test(
    name,
  );
}

/** A header below a title, or none at all, where the first line has a value in place of the name of a column. */
async function otherHeader(
  base: SourceSpec,
  settings: ExportSettings,
  { kind, columns }: Source,
): Promise<SettingsCorrection | undefined> {
  if (kind === 'tree' || settings.columns) return undefined;
  if (columns.length === 1) return headerBelow(base, settings);
  if (columns.filter((name) => name === '').length > 1) return headerOfGroups(base, settings);
  if (settings.headerLine !== undefined || !columns.some(isValue)) return undefined;
  const numbered = columns.map((_, index) => `column_${index + 1}`);
  return [{ columns: numbered }, 'the first line is a record, so the columns have numbers: name them'];
}

/** Below a line that names groups of columns, `Deal;;Customer;;`, the line that names each of them. */
async function headerOfGroups(base: SourceSpec, settings: ExportSettings): Promise<SettingsCorrection | undefined> {
  const line = (settings.headerLine ?? 1) + 1;
  const source = await openSource({ ...base, ...settings, headerLine: line }).catch(() => undefined);
  if (!source || source.columns.length < 3 || new Set(source.columns).size < source.columns.length) return undefined;
  // A record has a number, a date or an id.
  if (source.columns.some((name) => name === '' || /\d/.test(name))) return undefined;
  return [{ headerLine: line }, `the header is in line ${line}, below a line that names groups of columns`];
}

/** Looks for a header with several columns further down, below the title of a report. */
async function headerBelow(base: SourceSpec, settings: ExportSettings): Promise<SettingsCorrection | undefined> {
  if (settings.headerLine !== undefined) return undefined;
  for (let line = 2; line <= MAX_HEADER_LINE; line += 1) {
    const source = await openSource({ ...base, ...settings, headerLine: line }).catch(() => undefined);
    if (source && source.columns.length > 1 && !source.columns.some(isValue))
      return [{ headerLine: line }, `the header is in line ${line}, below a title`];
  }
  return undefined;
}
