/** Files by a pattern: `exports/deals-*.csv`. */
import type { Stats } from 'node:fs';
import { lstat, readdir, readlink, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import picomatch from 'picomatch';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { shortPath } from '../files/paths.ts';

/** Whether a part of a path may have a meaning as a glob: `*`, `?`, `[a-z]`, `{a,b}`. */
export function isPattern(segment: string): boolean {
  return /[*?[{]/.test(segment);
}

/**
 * The deepest folder on the way to a path that exists under exactly this name, and the parts of the path below it. Only these are
 * a pattern: the folder of a mapping may be named `acme [1]`.
 */
export async function patternOf(
  path: string,
): Promise<{ readonly folder: string; readonly pattern: readonly string[] }> {
  const pattern: string[] = [];
  let folder = path;
  do {
    pattern.unshift(basename(folder));
    folder = dirname(folder);
  } while (folder !== dirname(folder) && !(await isFolder(folder)));
  return { folder, pattern };
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    (error: unknown) => !isMissing(error) && cannotReach(path, error),
  );
}

/** Nothing that matches is passed over because it cannot be reached: its records would be missing in silence. */
export async function walk(folder: string, [segment = '', ...rest]: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const go = async (into: string, below: readonly string[]): Promise<void> => {
    for (const path of await walk(into, below)) found.push(path);
  };
  if (segment === '**' && rest.length > 0) {
    for (const below of [folder, ...(await foldersBelow(folder))]) await go(below, rest);
    return [...new Set(found)];
  }
  for (const name of await namesIn(folder, segment)) {
    const path = join(folder, name);
    const kind = await reach(path);
    if (kind.isDirectory() && rest.length > 0) await go(path, rest);
    else if (kind.isFile() && rest.length === 0) found.push(path);
    else if (!kind.isDirectory() && rest.length === 0) {
      throw new UserError(`${shortPath(path)} is not a regular file`, { hint: 'remove it, or use a narrower glob' });
    }
  }
  return found;
}

/** Not through links, which may lead in a circle, and none whose name begins with a dot. */
async function foldersBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) =>
    cannotReach((error as { path?: string }).path ?? folder, error),
  );
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/[/\\]\./.test(path.slice(folder.length)));
}

/**
 * The names in a folder that match one part of a path; those that begin with a dot must be asked for with one. Letters with
 * accents are the same however the file system composes them. A name that is there need not be listed, only reached. Letter case
 * matters only where a name of that case is there: `*deal*.csv` finds `DEALS.CSV`.
 */
async function namesIn(folder: string, segment: string): Promise<readonly string[]> {
  const isThere = await lstat(join(folder, segment)).then(
    () => true,
    (error: unknown) => !isMissing(error) && cannotReach(join(folder, segment), error),
  );
  if (isThere) return [segment];
  const isLiteral = !isPattern(segment);
  const names = await readdir(folder).catch((error: unknown) =>
    isLiteral ? ([] as string[]) : cannotReach(folder, error),
  );
  if (isLiteral) return names.filter((name) => name.normalize() === segment.normalize());
  const matching = (wanted: RegExp): readonly string[] => names.filter((name) => wanted.test(name.normalize()));
  const found = matching(patternFor(segment));
  return found.length > 0 ? found : matching(patternFor(segment, true));
}

/** Characters that only regular expressions interpret are text here: `Deals (1).csv`. */
export function patternFor(segment: string, nocase = false): RegExp {
  const glob = segment.normalize().replace(/[()|$^+]/g, '\\$&');
  return picomatch.makeRe(glob, { dot: segment.startsWith('.'), posix: true, noextglob: true, nonegate: true, nocase });
}

/** What a path leads to, through links. */
export function reach(path: string): Promise<Stats> {
  return stat(path).catch((error: unknown) => cannotReach(path, error));
}

async function cannotReach(path: string, error: unknown): Promise<never> {
  const label = shortPath(path);
  if (!isMissing(error)) throw unreadable(label, error);
  if (basename(path).includes(REPLACED)) {
    throw new UserError(`cannot read ${label}: its name is not UTF-8`, { hint: 'rename the file', cause: error });
  }
  const target = await readlink(path).catch(() => undefined);
  if (target === undefined) throw unreadable(label, error);
  throw new UserError(`${label} is a link to ${target}, which does not exist`, {
    hint: 'put that file back, or remove the link',
    cause: error,
  });
}

/** Replaces bytes in a name that are not UTF-8. */
const REPLACED = '\ufffd';

export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

export function unreadable(label: string, error: unknown): UserError {
  const code = codeOf(error);
  if (code === 'ENOENT') return new UserError(`${label} no longer exists`, { cause: error });
  return new UserError(`cannot read ${label}: ${messageOf(error)}`, {
    ...(code === 'EACCES' || code === 'EPERM' ? { hint: 'check the permissions of the file' } : {}),
    cause: error,
  });
}
