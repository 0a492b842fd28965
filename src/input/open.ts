import { UserError } from '../errors.ts';
import { findFiles, findFixes, type InputFile } from './files.ts';
import { filesSource, type SourceHead } from './reading.ts';
import { notice, type Source, type SourceSpec } from './source.ts';
import type { TextFile } from './encoding.ts';
import { withEncoding } from './text.ts';
import { issueOf } from '../vocabulary/words.ts';

const FORMATS = new Map<string, NonNullable<SourceSpec['format']>>([
  ['csv', 'csv'],
  ['tsv', 'csv'],
  ['tab', 'csv'],
  ['txt', 'csv'],
  ['json', 'json'],
  ['ndjson', 'ndjson'],
  ['jsonl', 'ndjson'],
]);

type Open = (spec: SourceSpec, files: readonly TextFile[]) => Promise<SourceHead>;

/** Loaded only when there is an export in that format. */
const READERS: Readonly<Record<NonNullable<SourceSpec['format']>, () => Promise<Open>>> = {
  csv: async () => (await import('./csv/csv.ts')).openTable,
  json: async () => (await import('./json/json.ts')).openTree,
  ndjson: async () => (await import('./json/ndjson.ts')).openLines,
};

/**
 * Opens an export: finds its files, their encodings and dialects, and the columns. No file is kept open. Throws a
 * `UserError` if a file is missing, empty, cannot be decoded, or has no header or no array of records.
 */
export async function openSource(spec: SourceSpec): Promise<Source> {
  const files = await exportsOf(spec);
  const texts: TextFile[] = [];
  for (const file of files) texts.push(await withEncoding(file, spec.encoding));
  const format = spec.format ?? formatOf(spec, files);
  const open = await READERS[format]();
  const head = await open(spec, texts);
  const doubts = texts.flatMap(({ doubt, shown }) =>
    doubt === undefined ? [] : [notice(issueOf('doubtful_encoding', doubt), shown)],
  );
  return filesSource({ ...head, notices: [...doubts, ...head.notices] });
}

/** The files of a source. A glob may match the corrections, too, which lie beside the export. */
async function exportsOf(spec: SourceSpec): Promise<InputFile[]> {
  const fixes = new Set((await findFixes(spec)).map(({ path }) => path));
  const files = (await findFiles(spec)).filter(({ path }) => !fixes.has(path));
  if (files.length > 0) return files;
  throw new UserError(`source \`${spec.name}\`: \`fixes\` names every file of its path`, {
    hint: 'corrections are files of their own, beside the export',
  });
}

/** The format that the name of a file shows. */
export function formatByName(path: string): SourceSpec['format'] {
  return FORMATS.get(/\.([^./\\]+)(?:\.gz)?$/i.exec(path)?.[1]?.toLowerCase() ?? '');
}

function formatOf(spec: SourceSpec, files: readonly InputFile[]): NonNullable<SourceSpec['format']> {
  const formats = files.map(({ path, shown }) => {
    const format = formatByName(path);
    if (format) return format;
    throw new UserError(`source \`${spec.name}\`: cannot tell the format of ${shown} from its name`, {
      hint: 'set `format` to `csv`, `json` or `ndjson`',
    });
  });
  const [first, ...others] = new Set(formats);
  if (first && others.length === 0) return first;
  throw new UserError(`source \`${spec.name}\`: its files have different formats (${[first, ...others].join(', ')})`, {
    hint: 'use a narrower glob, and a separate source for each format',
  });
}
