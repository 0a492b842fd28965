import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { UserError } from '../errors.ts';
import { isOwnTable } from '../files/own-tables.ts';
import { shortPath } from '../files/paths.ts';
import { quoted, type Problem } from '../problem.ts';
import { CHECKPOINT_FILE } from '../store/checkpoint-schema.ts';
import { PLAN_FILE } from '../store/plan-schema.ts';
import { enumerated } from '../report/words/numbers.ts';
import { issueOf } from '../report/words/words.ts';
import { findFiles, findFixes, readBytes, type InputFile } from './files.ts';
import type { Format, TableFile, TreeFile } from './format.ts';
import { FORMATS } from './formats.ts';
import { asSource } from './joined.ts';
import { patternFor } from './glob.ts';
import { repaired } from './repair.ts';
import { absentSource, type Source, type SourceSpec } from './source.ts';
import { refuseOtherFormats } from './text/not-text.ts';

/**
 * Opens an export: finds its files, how each is to be read, and the columns. No file is kept open. An optional source without a file
 * is absent. Throws a `UserError` if a file is missing, empty, cannot be read as its format, or has no header or no array of records.
 */
export async function openSource(spec: SourceSpec): Promise<Source> {
  const { files, notices } = await exportsOf(spec);
  if (files.length === 0) return absentSource(spec.name);
  const format = await formatOf(spec, files);
  const opened: (TableFile | TreeFile)[] = [];
  for (const file of files) opened.push(await format.open(file, spec));
  return repaired(asSource(spec.name, opened, notices));
}

/** The files of a source. A glob may match its corrections, too, which lie beside the export, and what is no export at all. */
async function exportsOf(
  spec: SourceSpec,
): Promise<{ readonly files: readonly InputFile[]; readonly notices: readonly Problem[] }> {
  const found = await findFiles(spec);
  if (found.length === 0) return { files: [], notices: [] };
  const fixes = new Set((await findFixes(spec)).map(({ path }) => path));
  const files = found.filter(({ path }) => !fixes.has(path));
  if (files.length === 0) {
    throw new UserError(`source \`${spec.name}\`: \`fixes\` names every file of its path`, {
      hint: 'keep corrections in separate files, beside the export',
    });
  }
  if (files[0]!.path === spec.path) return { files, notices: [] };
  const over = await passedOver(spec.path, files);
  for (const path of fixes) over.delete(path);
  if (over.size === 0) return { files, notices: [] };
  const left = files.filter(({ path }) => !over.has(path));
  const texts = [...over].map(([path, why]) => `\`${basename(path)}\` (${why})`);
  if (left.length > 0) return { files: left, notices: [issueOf('not_an_export', texts).in(shortPath(spec.path))] };
  const message = `source \`${spec.name}\`: ${shortPath(spec.path)} matches no export, only ${enumerated(texts, 'and')}`;
  throw new UserError(message, { hint: 'correct the glob' });
}

/**
 * Files that a glob matches, or nearly matches, and that are no exports: an old reject must not be sent in place of its correction. By
 * their paths: why these are not read. `files`: those that the glob matches.
 */
async function passedOver(glob: string, files: readonly InputFile[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const file of files) {
    if (basename(file.path).startsWith('~$')) found.set(file.path, 'of a spreadsheet that has the file open');
    else if (await isOwn(file)) found.set(file.path, 'written by this program');
  }
  const nearly = patternFor(basename(glob), true);
  const matched = new Set(files.map(({ path }) => path));
  for (const folder of new Set(files.map(({ path }) => dirname(path)))) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isFile() && nearly.test(entry.name.normalize()) && !matched.has(path))
        found.set(path, 'the letter case is not that of the glob');
    }
  }
  return found;
}

async function isOwn(file: InputFile): Promise<boolean> {
  const folders = [dirname(file.path), dirname(dirname(file.path))];
  if (folders.some((folder) => [CHECKPOINT_FILE, PLAN_FILE].some((name) => existsSync(join(folder, name)))))
    return true;
  return isOwnTable((await headOf(file)).toString('utf8'));
}

/** The format that a mapping sets or that the name of a file shows; undefined if neither does. */
export function formatByName({ format, path }: Pick<SourceSpec, 'format' | 'path'>): Format | undefined {
  if (format !== undefined) return FORMATS.find(({ name }) => name === format);
  const extension = /\.([^./\\]+?)(?:\.gz)?$/i.exec(path)?.[1]?.toLowerCase();
  return FORMATS.find(({ extensions }) => extension !== undefined && extensions.includes(extension));
}

/** As `formatByName`; what the bytes show comes before the name, since programs give files any. */
export async function formatOfFile(
  spec: Pick<SourceSpec, 'format' | 'path'>,
  file: InputFile,
): Promise<Format | undefined> {
  if (spec.format !== undefined) return formatByName(spec);
  const head = await headOf(file);
  return FORMATS.find(({ isIn }) => isIn?.(head)) ?? formatByName(spec);
}

async function headOf(file: InputFile): Promise<Buffer> {
  for await (const head of readBytes(file)) return head;
  return Buffer.alloc(0);
}

async function formatOf(spec: SourceSpec, files: readonly InputFile[]): Promise<Format> {
  const formats = new Set<Format>();
  for (const file of files) {
    const format = await formatOfFile({ ...spec, path: file.path }, file);
    if (format) formats.add(format);
    else {
      refuseOtherFormats(file, await headOf(file));
      throw new UserError(`source \`${spec.name}\`: cannot tell the format of ${file.label} from its name`, {
        hint: `set \`format\` to one of ${quoted(FORMATS.map(({ name }) => name))}`,
      });
    }
  }
  const [first, ...others] = [...formats];
  if (first && others.length === 0) return first;
  const names = [...formats].map(({ name }) => name).join(', ');
  throw new UserError(`source \`${spec.name}\`: its files have different formats (${names})`, {
    hint: 'use a narrower glob, and a separate source for each format',
  });
}
