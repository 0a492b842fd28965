import type { Stats } from 'node:fs';
import { lstat, readdir, readlink, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { didYouMean } from '../problem.ts';
import type { SourceSpec } from './source.ts';

/** One file of a source. */
export interface InputFile {
  /** Absolute. */
  readonly path: string;
  /** As shown to the user. */
  readonly shown: string;
  /** Size on disk. */
  readonly bytes: number;
  /** As in its source. */
  readonly isArgument?: boolean | undefined;
}

/**
 * The files of a source: the file at its path, or those that a glob matches, in natural order (`part-2` before `part-10`).
 * Throws a `UserError` if there is nothing to read, or if something that the glob matches cannot be reached.
 */
export async function findFiles(spec: SourceSpec): Promise<InputFile[]> {
  const { path, name, isArgument } = spec;
  const shown = shortPath(path);
  const found = await stat(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw unreadable(shown, error);
  });
  if (found?.isDirectory()) {
    throw new UserError(`source \`${name}\`: ${shown} is a directory`, {
      hint: `use a file in it, or several with a glob: ${shortPath(join(path, '*.csv'))}`,
    });
  }
  if (found && !found.isFile()) {
    throw new UserError(`source \`${name}\`: ${shown} is not a regular file`, {
      hint: 'save it to a file first, from which a rerun can read it again',
    });
  }
  if (found) return [{ path, shown, bytes: found.size, isArgument }];
  if (!GLOB.test(path)) throw await missing(spec);

  const files: InputFile[] = [];
  for (const match of (await expand(path)).sort(inNaturalOrder)) {
    const { size } = await reach(match);
    files.push({ path: match, shown: shortPath(match), bytes: size, isArgument });
  }
  if (files.length === 0) {
    throw new UserError(`source \`${name}\`: no file matches ${shown}`, {
      hint: 'paths are relative to the mapping file (with --source, to the working directory)',
    });
  }
  const paths = new Set(files.map((file) => file.path));
  const twice = files.find((file) => paths.has(`${file.path}.gz`));
  if (twice) {
    throw new UserError(`source \`${name}\`: ${shown} matches both ${twice.shown} and ${twice.shown}.gz`, {
      hint: 'the same export would be read twice: remove one of the two, or use a narrower glob',
    });
  }
  return files;
}

/** The files of corrected records of a source, in the order in which they apply. Throws a `UserError` if one is missing. */
export async function findFixes({ name, fixes = [] }: SourceSpec): Promise<InputFile[]> {
  const files = new Map<string, InputFile>();
  for (const path of fixes) for (const file of await findFiles({ name, path })) files.set(file.path, file);
  return [...files.values()];
}

const GLOB = /[*?[{]/;

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

/** The path relative to the working directory, if that is shorter. */
export function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short !== '' && short.length < path.length ? short : path;
}

/** The error for a file that the system cannot read. */
export function unreadable(shown: string, error: unknown): UserError {
  const code = codeOf(error);
  if (code === 'ENOENT') return new UserError(`${shown} no longer exists`, { cause: error });
  return new UserError(`cannot read ${shown}: ${messageOf(error)}`, {
    ...(code === 'EACCES' || code === 'EPERM' ? { hint: 'check the permissions of the file' } : {}),
    cause: error,
  });
}

async function missing(spec: SourceSpec): Promise<UserError> {
  const folder = dirname(spec.path);
  const names = await readdir(folder).catch(() => undefined);
  const near = names && didYouMean(basename(spec.path), names);
  const hint = names ? near : `the directory ${shortPath(folder)} does not exist`;
  return new UserError(`source \`${spec.name}\`: ${shortPath(spec.path)} does not exist`, {
    hint: hint ?? 'paths are relative to the mapping file (with --source, to the working directory)',
  });
}

/** Files that match a glob of `*`, `?`, `[a-z]`, `{a,b}` and `**`; names that begin with a dot must be asked for with one. */
async function expand(glob: string): Promise<string[]> {
  const [root = '', ...segments] = glob.split(sep === '\\' ? /[\\/]/ : '/');
  return walk(`${root}/`, segments);
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
    if (kind.isDirectory()) found.push(...(await walk(path, deep ? segments : rest)));
    else if (isLast && !deep && kind.isFile()) found.push(path);
    else if (isLast && !deep) {
      throw new UserError(`${shortPath(path)} is not a regular file`, { hint: 'remove it, or use a narrower glob' });
    }
  }
  return found;
}

/** The names in a folder that match one part of a glob. A part that is a name need not be listed, only reached. */
async function namesIn(folder: string, segment: string): Promise<readonly string[]> {
  if (!GLOB.test(segment)) {
    const isThere = await lstat(join(folder, segment)).then(
      () => true,
      (error: unknown) => !isMissing(error) && cannotReach(join(folder, segment), error),
    );
    return isThere ? [segment] : [];
  }
  const names = await readdir(folder).catch((error: unknown) => cannotReach(folder, error));
  const wanted = segment === '**' ? /^[^.]/ : segmentPattern(segment);
  return names.filter((name) => wanted.test(name));
}

/** What a path leads to, through links. */
function reach(path: string): Promise<Stats> {
  return stat(path).catch((error: unknown) => cannotReach(path, error));
}

async function cannotReach(path: string, error: unknown): Promise<never> {
  const shown = shortPath(path);
  if (!isMissing(error)) throw unreadable(shown, error);
  if (basename(path).includes(REPLACED)) {
    throw new UserError(`cannot read ${shown}: its name is not UTF-8`, { hint: 'rename the file', cause: error });
  }
  const target = await readlink(path).catch(() => undefined);
  if (target === undefined) throw unreadable(shown, error);
  throw new UserError(`${shown} is a link to ${target}, which does not exist`, {
    hint: 'remove the link, or use a narrower glob',
    cause: error,
  });
}

/** What stands in a name for bytes that are no UTF-8. */
const REPLACED = '\ufffd';

const numeric = new Intl.Collator('en', { numeric: true });

function inNaturalOrder(one: string, other: string): number {
  return numeric.compare(one, other) || (one < other ? -1 : 1);
}

function segmentPattern(segment: string): RegExp {
  let pattern = '';
  let braces = 0;
  for (let index = 0; index < segment.length; index += 1) {
    const char = segment[index]!;
    const close = char === '[' ? segment.indexOf(']', index + 2) : -1;
    if (char === '*') pattern += '[^]*';
    else if (char === '?') pattern += '[^]';
    else if (close > 0) {
      const set = segment.slice(index + 1, close).replace(/[\\\]^[]/g, '\\$&');
      pattern += set.startsWith('!') ? `[^${set.slice(1)}]` : `[${set}]`;
      index = close;
    } else if (char === '{' && segment.includes('}', index)) {
      pattern += '(?:';
      braces += 1;
    } else if (char === '}' && braces > 0) {
      pattern += ')';
      braces -= 1;
    } else if (char === ',' && braces > 0) pattern += '|';
    else pattern += char.replace(/[\\^$.|+()[\]{}*?]/g, '\\$&');
  }
  return new RegExp(`^${segment.startsWith('.') ? '' : '(?!\\.)'}${pattern}$`, 'u');
}

/** Names of files that are exports, and of those that only look like one. */
const EXPORT = /\.(?:csv|tsv|txt|json|ndjson|jsonl|xlsx?|ods)(?:\.gz)?$/i;
const NO_EXPORT = new Set(['package.json', 'package-lock.json', 'tsconfig.json']);

/** The exports beside those that were read: absolute paths, in the order of their names. */
export async function unreadFiles(read: readonly string[]): Promise<string[]> {
  const folders = [...new Set(read.map((path) => dirname(path)))].sort();
  const found = await Promise.all(
    folders.map(async (folder) => {
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
      const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
      const exports = names.filter((name) => EXPORT.test(name) && !NO_EXPORT.has(name));
      return exports.sort().map((name) => join(folder, name));
    }),
  );
  const known = new Set(read);
  return found.flat().filter((path) => !known.has(path));
}
