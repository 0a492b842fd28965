/**
 * Files that people correct in place, and keep their own files beside. The program replaces and deletes only those that are
 * as it left them.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from '../state-dir.ts';

/** In the directory: the SHA-256 of what the program wrote there, by file name; two while one content replaces another. */
export const WRITTEN = '.written.json';

type Written = ReadonlyMap<string, readonly string[]>;

/** A complete file to move into the directory. */
export interface OwnFile {
  readonly path: string;
  /** Its name there, or another one for a number above 1. */
  readonly nameOf: (number: number) => string;
}

/**
 * Moves files into a directory, each under the first of its names that is free or that of a file that the program left
 * there, and deletes the others that it left. `kept`: names of files that are never replaced. Returns the names in the
 * order of the files.
 */
export async function publishFiles(
  directory: string,
  files: readonly OwnFile[],
  kept: ReadonlySet<string> = new Set(),
): Promise<readonly string[]> {
  const before = await readWritten(directory);
  const unchanged = await unchangedOf(directory, before, kept);
  const names: string[] = [];
  for (const { nameOf } of files)
    names.push(await freeName(directory, nameOf, unchanged, new Set([...kept, ...names])));
  const after = new Map<string, readonly string[]>();
  for (const [index, name] of names.entries()) after.set(name, [await sha256Of(files[index]!.path)]);
  // Both contents are known while one replaces the other: whichever a kill leaves is recognised by the next run.
  const both = [...before, ...after].map(([name]) => [name, [...of(before, name), ...of(after, name)]] as const);
  await remember(directory, new Map(both));
  for (const [index, name] of names.entries()) await rename(files[index]!.path, join(directory, name));
  for (const name of unchanged) if (!after.has(name)) await unlink(join(directory, name));
  await remember(directory, after);
  return names;
}

/** Names of the files that are still as the program wrote them. */
async function unchangedOf(
  directory: string,
  written: Written,
  kept: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const unchanged = new Set<string>();
  for (const [name, hashes] of written) {
    const path = join(directory, name);
    const found = await lstat(path).catch(() => undefined);
    if (!kept.has(name) && found?.isFile() && hashes.includes(await sha256Of(path))) unchanged.add(name);
  }
  return unchanged;
}

async function freeName(
  directory: string,
  nameOf: OwnFile['nameOf'],
  unchanged: ReadonlySet<string>,
  taken: ReadonlySet<string>,
): Promise<string> {
  for (let number = 1; ; number += 1) {
    const name = nameOf(number);
    if (taken.has(name)) continue;
    if (unchanged.has(name) || !(await lstat(join(directory, name)).catch(() => undefined))) return name;
  }
}

function remember(directory: string, written: Written): Promise<void> {
  return writeWhole(join(directory, WRITTEN), `${JSON.stringify(Object.fromEntries(written))}\n`);
}

/** Empty if there is no such file or it is damaged: then every file counts as changed by others. */
async function readWritten(directory: string): Promise<Written> {
  try {
    const value = JSON.parse(await readFile(join(directory, WRITTEN), 'utf8')) as Record<string, string[]>;
    return new Map(Object.entries(value).filter(([, hashes]) => Array.isArray(hashes)));
  } catch {
    return new Map();
  }
}

function of(written: Written, name: string): readonly string[] {
  return written.get(name) ?? [];
}

async function sha256Of(path: string): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer);
  return digest.digest('hex');
}
