import { isUtf8 } from 'node:buffer';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, UserError } from '../errors.ts';
import { didYouMean } from '../problem.ts';
import { writeWhole, type StateDir } from '../state-dir.ts';
import { chooseEncoding } from './encoding.ts';
import { findFiles } from './files.ts';
import type { FixFile } from './fix-file.ts';
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
  for (const { name, path } of await keptFiles(state)) fixes.set(name, [...of(fixes, name), { path, isKept: true }]);
  for (const [name, path] of fix) {
    if (!names.includes(name)) {
      throw new UserError(`--fix ${name}=…: the mapping uses no source \`${name}\``, {
        hint: didYouMean(name, names) ?? `it uses ${names.join(', ')}`,
      });
    }
    const encoding = await encodingOf(path);
    const given = { path, isKept: false, ...(encoding === undefined ? {} : { encoding }) };
    const content = await contentOf(given);
    const last = of(fixes, name).at(-1);
    if (last && (await contentOf(last)).equals(content)) continue;
    fixes.set(name, [...of(fixes, name), given]);
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
      const [, extension = '', packed = ''] = /(\.[^./\\]+?)(\.gz)?$/.exec(file.path) ?? [];
      const { path: directory } = await state.directory(FIXES);
      const kept = `${name}.${String(number).padStart(4, '0')}${extension}${file.encoding === undefined ? packed : ''}`;
      await writeWhole(join(directory, kept), await contentOf(file));
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

function of(fixes: ReadonlyMap<string, FixFile[]>, name: string): readonly FixFile[] {
  return fixes.get(name) ?? [];
}

/** What spreadsheets use that do not save text in Unicode. */
const CODE_PAGE = 'windows-1252';

/** Undefined where it is Unicode, which is detected again when the file is read. */
async function encodingOf(path: string): Promise<string | undefined> {
  const bytes = await contentOf({ path });
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (isPacked || isUtf8(bytes)) return undefined;
  const { name } = await chooseEncoding({ path, shown: path, bytes: bytes.length }, bytes, undefined);
  return name === 'UTF-8' ? CODE_PAGE : undefined;
}

/** The content of a file as it is kept: in UTF-8, if it is in a code page. */
async function contentOf({ path, encoding }: Pick<FixFile, 'path' | 'encoding'>): Promise<Buffer> {
  try {
    if (!(await stat(path)).isFile()) throw new Error('it is not a regular file');
    if (encoding === undefined) return await readFile(path);
    const [found] = await findFiles({ name: '--fix', path, isArgument: true }, (shown) => shown);
    const text: Buffer[] = [];
    for await (const piece of readText(await withEncoding(found!, encoding))) text.push(piece);
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
