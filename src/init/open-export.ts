/** Opens an unknown export: finds the settings with which it can be read. */
import { basename, resolve } from 'node:path';
import { UserError } from '../errors.ts';
import { findFiles } from '../source/files.ts';
import { openSource } from '../source/index.ts';
import { formatByName } from '../source/open.ts';
import type { Source, SourceSpec } from '../source/source.ts';
import { sampleOf, withEncoding } from '../source/text.ts';

/** The last line that is tried as the header. */
const MAX_HEADER_LINE = 20;

/** An export with the settings that its entry in `sources` needs, and why. */
export interface Export {
  /** As given by the user. */
  readonly path: string;
  readonly settings: Pick<SourceSpec, 'format' | 'encoding' | 'delimiter' | 'headerLine' | 'records'>;
  readonly source: Source;
  /** The reason for each setting, as text. */
  readonly reasons: readonly string[];
}

/** What the user knows about the exports; the delimiter is that of CSV files. */
export interface ExportOptions {
  readonly encoding?: string | undefined;
  readonly delimiter?: string | undefined;
}

/** Throws a `UserError` if the file cannot be read with any settings. */
export async function openExport(path: string, { encoding, delimiter }: ExportOptions = {}): Promise<Export> {
  const absolute = resolve(path);
  const format = await formatOf(absolute, encoding);
  const base = { name: basename(path), path: absolute, isArgument: true, ...format };
  const isTable = (format.format ?? formatByName(path)) === 'csv';
  const known = { ...(encoding && { encoding }), ...(delimiter && isTable && { delimiter }) };
  const { source, settings, reasons } = await findSettings(base, known);
  return {
    path,
    settings: { ...settings, ...format },
    source,
    reasons: source.columns.some(isValue) ? [...reasons, NO_HEADER] : reasons,
  };
}

const NO_HEADER = 'its first line looks like a record: add a line with the names of the columns above it';

/** An e-mail address, a phone number or a time in place of the name of a column. */
function isValue(name: string): boolean {
  return /^\S+@\S+\.\w+$|^\+?\d{7,}$|^\d{4}-\d\d-\d\d/.test(name);
}

/** The format, if the file name does not show it. */
async function formatOf(path: string, encoding: string | undefined): Promise<Pick<SourceSpec, 'format'>> {
  if (/\.(?:csv|tsv|tab|txt|json|ndjson|jsonl)(?:\.gz)?$/i.test(path)) return {};
  const text = await beginning(path, encoding);
  if (!/^\s*[[{]/.test(text)) return { format: 'csv' };
  return { format: /^\s*\{.*\}\s*\n\s*\{/.test(text) ? 'ndjson' : 'json' };
}

async function beginning(path: string, encoding: string | undefined): Promise<string> {
  const [file] = await findFiles({ name: 'export', path, isArgument: true }, (shown) => shown);
  const { text } = await sampleOf(await withEncoding(file!, encoding));
  return text.toString('utf8').replace(/^\ufeff/, '');
}

interface OpenedSource {
  readonly source: Source;
  readonly settings: Export['settings'];
  readonly reasons: readonly string[];
}

/** Additional settings for an export, and the reason. */
interface SettingsCorrection {
  readonly settings: Export['settings'];
  readonly reason: string;
}

/** Tries the defaults, then another encoding, a header further down, or a list inside a JSON document. */
async function findSettings(base: SourceSpec, known: Export['settings']): Promise<OpenedSource> {
  let settings = known;
  const reasons: string[] = [];
  let failure: unknown;
  for (let trial = 0; trial < 3; trial += 1) {
    try {
      const source = await openSource({ ...base, ...settings });
      await canRead(source);
      const below = source.kind === 'table' && source.columns.length === 1 && (await headerBelow(base, settings));
      if (!below) return { source, settings, reasons };
      settings = { ...settings, ...below.settings };
      reasons.push(below.reason);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      failure ??= error;
      const next = await correctSettings(base, settings, error);
      if (!next) throw failure;
      settings = { ...settings, ...next.settings };
      reasons.push(next.reason);
    }
  }
  throw failure;
}

async function correctSettings(
  base: SourceSpec,
  settings: Export['settings'],
  error: UserError,
): Promise<SettingsCorrection | undefined> {
  if (settings.encoding === undefined && error.message.includes('is not UTF-8 text')) {
    return { settings: { encoding: 'windows-1252' }, reason: 'not valid UTF-8, so Windows-1252 is assumed' };
  }
  if (error.message.includes('the header has')) {
    const below = await headerBelow(base, settings);
    if (below) return below;
  }
  if (settings.records === undefined && isJson(base)) {
    const records = arrayIn(await beginning(base.path, settings.encoding));
    if (records !== undefined) return { settings: { records }, reason: `the records are the list at \`${records}\`` };
  }
  return undefined;
}

/** Looks for a header with several columns further down, below the title of a report. */
async function headerBelow(base: SourceSpec, settings: Export['settings']): Promise<SettingsCorrection | undefined> {
  if (settings.headerLine !== undefined) return undefined;
  for (let line = 2; line <= MAX_HEADER_LINE; line += 1) {
    const source = await openSource({ ...base, ...settings, headerLine: line }).catch(() => undefined);
    if (source && source.columns.length > 1) {
      return { settings: { headerLine: line }, reason: `the header is in line ${line}, below a title` };
    }
  }
  return undefined;
}

function isJson({ path, format }: SourceSpec): boolean {
  return format === 'json' || (format === undefined && /\.json(?:\.gz)?$/i.test(path));
}

/** The path of the first, least nested list of objects in the beginning of a JSON text. */
export function arrayIn(text: string): string | undefined {
  const stack: { key: string; list: boolean }[] = [];
  const found: string[][] = [];
  let key = '';
  const tokens = /"((?:[^"\\]|\\.)*)"(\s*:)?|[[\]{}]/g;
  for (const match of text.matchAll(tokens)) {
    if (match[2] !== undefined) key = match[1]!;
    else if (match[0] === '{' || match[0] === '[') {
      const inList = stack.some(({ list }) => list);
      if (match[0] === '[' && !inList && /^\s*\{/.test(text.slice(match.index + 1, match.index + 200))) {
        found.push([...stack.slice(1).map((step) => step.key), key]);
      }
      stack.push({ key, list: match[0] === '[' });
      key = '';
    } else if (match[0] === '}' || match[0] === ']') stack.pop();
  }
  return found.sort((a, b) => a.length - b.length)[0]?.join('.');
}

/** Throws the `UserError` of a source whose first records cannot be read with its settings. */
async function canRead(source: Source): Promise<void> {
  for await (const batch of source.batches()) if (batch.length > 0) return;
}
