import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, UserError } from '../errors.ts';
import { didYouMean } from '../problem.ts';
import { writeWhole, type StateDir } from '../state-dir.ts';
import { shortPath } from './files.ts';
import type { FixFile } from './fixes.ts';
import { SettingError } from './source.ts';
import { readText, withEncoding } from './text.ts';

/** In the state directory. */
const FIXES = 'fixes';

/** Files of corrected rejects by source name, in the order in which they apply: a later one wins. */
export type FixFiles = ReadonlyMap<string, readonly FixFile[]>;

/** Corrected rejects as they are given: files with their sources. */
export interface GivenFixes {
  readonly fix: readonly (readonly [name: string, path: string])[];
}

/**
 * The corrected rejects to apply: those of earlier runs, which the state directory keeps, then those given now; one that
 * equals the file before it is left out. `names`: of the sources that the mapping uses. Throws a `UserError` if a file cannot be read.
 */
export async function collectFixes(state: StateDir, names: readonly string[], { fix }: GivenFixes): Promise<FixFiles> {
  const fixes = new Map<string, FixFile[]>();
  const add = (name: string, file: FixFile) => fixes.set(name, [...(fixes.get(name) ?? []), file]);
  for (const { name, path } of await keptFiles(state)) add(name, { path, isKept: true });
  for (const [name, path] of fix) {
    if (!names.includes(name)) {
      throw new UserError(`--fix ${name}=…: the mapping uses no source \`${name}\``, {
        hint: didYouMean(name, names) ?? `it uses ${names.join(', ')}`,
      });
    }
    const given = await givenFile(path);
    const last = fixes.get(name)?.at(-1);
    if (!last || !(await textOf(last)).equals(await textOf(given))) add(name, given);
  }
  return fixes;
}

/** Copies the files given now to the state directory, for every later run. To be called when they have been accepted. */
export async function keepFixes(state: StateDir, fixes: FixFiles): Promise<void> {
  const kept = await keptFiles(state);
  for (const [name, files] of fixes) {
    let number = Math.max(0, ...kept.filter((file) => file.name === name).map((file) => file.number));
    for (const file of files.filter(({ isKept }) => !isKept)) {
      number += 1;
      const extension = /(\.[^./\\]+?)(?:\.gz)?$/.exec(file.path)?.[1] ?? '';
      const { path: directory } = await state.directory(FIXES);
      await writeWhole(join(directory, `${name}.${String(number).padStart(4, '0')}${extension}`), await textOf(file));
    }
  }
}

interface KeptFile {
  readonly name: string;
  readonly number: number;
  readonly path: string;
}

/** In the order in which they were kept. */
async function keptFiles(state: StateDir): Promise<KeptFile[]> {
  const directory = state.file(FIXES);
  const found = (await readdir(directory).catch(() => [])).flatMap((file) => {
    const [, name, number] = /^(.+)\.(\d{4,})\.[^.]+(?:\.gz)?$/.exec(file) ?? [];
    if (name === undefined) return [];
    return [{ name, number: Number(number), path: join(directory, file) }];
  });
  return found.sort((one, other) => one.number - other.number);
}

/** What spreadsheets use that do not save text in Unicode. */
const CODE_PAGE = 'windows-1252';

/** The encoding is set only where the file is not Unicode, which is detected again when it is read. */
async function givenFile(path: string): Promise<FixFile> {
  const file = { path, isKept: false };
  try {
    await textOf(file);
    return file;
  } catch (error) {
    if (error instanceof SettingError && error.setting === 'encoding') return { ...file, encoding: CODE_PAGE };
    throw error;
  }
}

/** The text of a file as it is compared and kept: unpacked, and in UTF-8. */
async function textOf({ path, encoding }: Pick<FixFile, 'path' | 'encoding'>): Promise<Buffer> {
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new Error('it is not a regular file');
    const file = { path, shown: shortPath(path), bytes: found.size, isArgument: true };
    const text: Buffer[] = [];
    for await (const piece of readText(await withEncoding(file, encoding))) text.push(piece);
    return Buffer.concat(text);
  } catch (error) {
    throw error instanceof UserError ? error : cannotRead(path, error);
  }
}

function cannotRead(path: string, error: unknown): UserError {
  return new UserError(`cannot read the corrected records in ${path}: ${messageOf(error)}`, {
    hint: 'nothing was sent; check the path that was given with --fix',
    cause: error,
  });
}
