import type { Stats } from 'node:fs';
import { lstat, readdir, readlink, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import picomatch from 'picomatch';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { shortPath } from '../files/paths.ts';
import { didYouMean } from '../problem.ts';
import type { SourceSpec } from './source.ts';

export interface InputFile {
  /** Absolute. */
  readonly path: string;
  /** As messages name it. */
  readonly label: string;
  readonly bytes: number;
  /** As in its source. */
  readonly isArgument?: boolean | undefined;
}

/** There is no file for a source. */
export class MissingFile extends UserError {}

/**
 * The files of a source: the file at its path, or those that a glob matches, in natural order (`part-2` before `part-10`).
 * Throws a `UserError` if there is nothing to read, unless the source is optional, or if something that the glob matches cannot be reached.
 */
export async function findFiles(spec: SourceSpec): Promise<InputFile[]> {
  const { path, isArgument } = spec;
  const label = shortPath(path);
  const where = whereOf(spec);
  const found = await stat(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw unreadable(label, error);
  });
  if (found?.isDirectory()) {
    throw new UserError(`${where}${label} is a directory`, {
      hint: `use a file in it, or several with a glob: ${shortPath(join(path, '*.csv'))}`,
    });
  }
  if (found && !found.isFile()) {
    throw new UserError(`${where}${label} is not a regular file`, {
      hint: 'save it to a file first, so that a rerun can read it again',
    });
  }
  if (found) return [{ path, label, bytes: found.size, isArgument }];

  const { folder, pattern } = await patternOf(path);
  const files: InputFile[] = [];
  for (const match of (await walk(folder, pattern)).sort(inNaturalOrder)) {
    const { size } = await reach(match);
    files.push({ path: match, label: shortPath(match), bytes: size, isArgument });
  }
  if (files.length === 0 && spec.optional) return [];
  if (files.length === 0 && !pattern.some(isPattern)) throw await missing(spec, folder);
  if (files.length === 0) {
    throw new MissingFile(`${where}no file matches ${label}`, {
      hint: RELATIVE,
    });
  }
  const paths = new Set(files.map((file) => file.path));
  const twice = files.find((file) => paths.has(`${file.path}.gz`));
  if (twice) {
    throw new UserError(`${where}${label} matches both ${twice.label} and ${twice.label}.gz`, {
      hint: 'the same export would be read twice: remove one of the two, or use a narrower glob',
    });
  }
  return files;
}

const RELATIVE = 'paths in a mapping are relative to its file; those of a command, to the working directory';

/** Before a message: the name of its source, if it has one. */
function whereOf({ name, isArgument }: SourceSpec): string {
  return isArgument ? '' : `source \`${name}\`: `;
}

/** The files of corrected records of a source, in the order in which they apply. Throws a `UserError` if one is missing. */
export async function findFixes({ name, fixes = [] }: SourceSpec): Promise<InputFile[]> {
  const files = new Map<string, InputFile>();
  for (const path of fixes) for (const file of await findFiles({ name, path })) files.set(file.path, file);
  return [...files.values()];
}

function isMissing(error: unknown): boolean {
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

/** `folder`: the deepest one on the way that exists. */
async function missing(spec: SourceSpec, folder: string): Promise<UserError> {
  const { path } = spec;
  const label = shortPath(path);
  const isFolder = folder === dirname(path);
  const near = isFolder ? didYouMean(basename(path), await readdir(folder).catch(() => [])) : undefined;
  return new MissingFile(`${whereOf(spec)}${label} does not exist`, {
    hint: near ?? (isFolder ? RELATIVE : `the directory ${shortPath(dirname(path))} does not exist`),
  });
}

/** Whether a part of a path may have a meaning as a glob: `*`, `?`, `[a-z]`, `{a,b}`. */
function isPattern(segment: string): boolean {
  return /[*?[{]/.test(segment);
}

/**
 * The deepest folder on the way to a path that exists under exactly this name, and the parts of the path below it. Only these are
 * a pattern: the folder of a mapping may be named `acme [1]`.
 */
async function patternOf(path: string): Promise<{ readonly folder: string; readonly pattern: readonly string[] }> {
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
async function walk(folder: string, segments: readonly string[]): Promise<string[]> {
  const [segment, ...rest] = segments;
  if (segment === undefined) return [];
  const deep = segment === '**';
  const found = deep ? await walk(folder, rest) : [];
  for (const name of await namesIn(folder, segment)) {
    const path = join(folder, name);
    const isLast = rest.length === 0;
    // `**` follows no links, which may lead in a circle.
    const kind = deep ? await lstat(path).catch((error: unknown) => cannotReach(path, error)) : await reach(path);
    if (kind.isDirectory()) for (const below of await walk(path, deep ? segments : rest)) found.push(below);
    else if (isLast && !deep && kind.isFile()) found.push(path);
    else if (isLast && !deep) {
      throw new UserError(`${shortPath(path)} is not a regular file`, { hint: 'remove it, or use a narrower glob' });
    }
  }
  return found;
}

/**
 * The names in a folder that match one part of a path; those that begin with a dot must be asked for with one. Letters with
 * accents are the same however the file system composes them. A name that is there need not be listed, only reached.
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
  const composed = segment.normalize();
  if (isLiteral) return names.filter((name) => name.normalize() === composed);
  // Characters that only regular expressions interpret are text here: `Deals (1).csv`.
  const glob = composed.replace(/[()|$^+]/g, '\\$&');
  const options = { dot: segment.startsWith('.'), posix: true, noextglob: true, nonegate: true };
  const wanted = segment === '**' ? /^[^.]/ : picomatch.makeRe(glob, options);
  return names.filter((name) => wanted.test(name.normalize()));
}

/** What a path leads to, through links. */
function reach(path: string): Promise<Stats> {
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

const numeric = new Intl.Collator('en', { numeric: true });

function inNaturalOrder(one: string, other: string): number {
  return numeric.compare(one, other) || (one < other ? -1 : 1);
}
