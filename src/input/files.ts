import type { Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { shortPath } from '../files/paths.ts';
import { didYouMean } from '../problem.ts';
import { isMissing, isPattern, patternOf, reach, unreadable, walk } from './glob.ts';
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

const numeric = new Intl.Collator('en', { numeric: true });

function inNaturalOrder(one: string, other: string): number {
  return numeric.compare(one, other) || (one < other ? -1 : 1);
}

const CHUNK = 64 * 1024;

/**
 * The bytes of a file, decompressed if it is gzip (detected by its first bytes, whatever its name). `hash` gets the bytes
 * as they are on disk. Every chunk is a separate buffer, so callers may keep views of it. Leaving the loop early closes the
 * file. Throws a `UserError` if the file cannot be read or decompressed.
 */
export async function* readBytes(file: InputFile, hash?: Hash): AsyncGenerator<Buffer, void, undefined> {
  const disk = createReadStream(file.path, { highWaterMark: CHUNK });
  const hashed = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of disk as AsyncIterable<Buffer>) {
      hash?.update(chunk);
      yield chunk;
    }
  };
  try {
    const chunks = hashed();
    const next = await chunks.next();
    if (next.done) return;
    const first = next.value;
    const all = async function* (): AsyncGenerator<Buffer> {
      yield first;
      yield* chunks;
    };
    // Errors reach the loop through the gunzip stream; `pipeline` requires a callback all the same.
    yield* isGzip(first) ? pipeline(all, createGunzip({ chunkSize: CHUNK }), () => undefined) : all();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'Z_BUF_ERROR') {
      throw new UserError(`${file.label} is incomplete: its gzip data ends early`, {
        hint: 'download or copy it again',
        cause: error,
      });
    }
    if (code?.startsWith('Z_')) {
      throw new UserError(`cannot decompress ${file.label}: ${messageOf(error)}`, {
        hint: 'the gzip data is damaged: download or copy it again',
        cause: error,
      });
    }
    throw unreadable(file.label, error);
  } finally {
    disk.destroy();
  }
}

function isGzip(first: Buffer): boolean {
  return first[0] === 0x1f && first[1] === 0x8b;
}
