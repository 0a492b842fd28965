import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, UserError } from '../errors.ts';
import { didYouMean } from '../problem.ts';
import { writeWhole, type StateDir } from '../state-dir.ts';
import type { FixFile } from './fix-file.ts';

/** In the state directory. */
const FIXES = 'fixes';

/** Files of corrected rejects by source name, in the order in which they apply: a later one wins. */
export type FixFiles = ReadonlyMap<string, readonly FixFile[]>;

/** A source, and a file of corrected rejects for it, as given with `--fix`. */
export type GivenFix = readonly [name: string, path: string];

/**
 * The corrected rejects to apply: those of earlier runs, which the state directory keeps, then those given now; one that
 * equals the file before it is left out. `names`: of the sources that the mapping uses. Throws a `UserError` if a file cannot be read.
 */
export async function collectFixes(
  state: StateDir,
  names: readonly string[],
  given: readonly GivenFix[],
): Promise<FixFiles> {
  const fixes = new Map<string, FixFile[]>();
  for (const { name, path } of await keptFiles(state)) fixes.set(name, [...of(fixes, name), { path, isKept: true }]);
  for (const [name, path] of given) {
    if (!names.includes(name)) {
      throw new UserError(`--fix ${name}=…: the mapping uses no source \`${name}\``, {
        hint: didYouMean(name, names) ?? `it uses ${names.join(', ')}`,
      });
    }
    const sha256 = await sha256Of(path);
    const last = of(fixes, name).at(-1);
    if (last && (await sha256Of(last.path)) === sha256) continue;
    fixes.set(name, [...of(fixes, name), { path, isKept: false }]);
  }
  return fixes;
}

/** Copies the files given now to the state directory, for every later run. To be called when they have been accepted. */
export async function keepFixes(state: StateDir, fixes: FixFiles): Promise<void> {
  const kept = await keptFiles(state);
  for (const [name, files] of fixes) {
    let number = Math.max(0, ...kept.filter((file) => file.name === name).map((file) => file.number));
    for (const { path } of files.filter(({ isKept }) => !isKept)) {
      number += 1;
      const extension = /\.[^./\\]+(?:\.gz)?$/.exec(path)?.[0] ?? '';
      const { path: directory } = await state.directory(FIXES);
      const bytes = await readFile(path).catch((error: unknown) => {
        throw cannotRead(path, error);
      });
      await writeWhole(join(directory, `${name}.${String(number).padStart(4, '0')}${extension}`), bytes);
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

async function sha256Of(path: string): Promise<string> {
  try {
    if (!(await stat(path)).isFile()) throw new Error('it is not a regular file');
    const digest = createHash('sha256');
    for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer);
    return digest.digest('hex');
  } catch (error) {
    throw cannotRead(path, error);
  }
}

function cannotRead(path: string, error: unknown): UserError {
  return new UserError(`cannot read the corrected records in ${path}: ${messageOf(error)}`, {
    hint: 'nothing was sent; check the path that was given with --fix',
    cause: error,
  });
}
