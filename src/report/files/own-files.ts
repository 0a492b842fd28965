/**
 * Files that people correct in place, and keep their own files beside. The program replaces and deletes only those that are
 * as it left them: the plan has their hashes.
 */
import { createHash } from 'node:crypto';
import { createReadStream, lstatSync } from 'node:fs';
import { lstat, mkdir, readdir, rename, rm, unlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { cannotWrite, UserError } from '../../errors.ts';
import { temporaryName } from '../../files/private-file.ts';
import type { StateDir } from '../../files/state-dir.ts';
import type { Database } from '../../store/sqlite.ts';

/** A complete file to move into the directory. */
interface OwnFile {
  readonly path: string;
  /** Its name there, or another one for a number above 1. */
  readonly nameOf: (number: number) => string;
}

export interface OwnDirectory {
  /** The plan in whose `written` the hashes are kept. */
  readonly db: Database;
  /** Paths in `written` are relative to this directory. */
  readonly root: string;
  readonly path: string;
  /** The names in the directory that belong to such files. */
  readonly owns: (name: string) => boolean;
}

/**
 * Moves files into a directory, each under the first of its names that is free or that belongs to a file of the program, and deletes other
 * files that the program left there. `kept`: names of files that are never replaced. Returns the names in the
 * order of the files.
 */
export async function publishFiles(
  directory: OwnDirectory,
  files: readonly OwnFile[],
  kept: ReadonlySet<string> = new Set(),
): Promise<readonly string[]> {
  const { db, root, path } = directory;
  const hashes = await Promise.all(files.map((file) => sha256Of(file.path)));
  const unchanged = await unchangedIn(directory, kept);
  const names: string[] = [];
  for (const [index, { nameOf }] of files.entries())
    names.push(
      await freeName(path, nameOf, { unchanged, taken: new Set([...kept, ...names]), sha256: hashes[index]! }),
    );
  // Recorded before the move: whichever content a kill leaves there is recognised by the next run.
  for (const [index, name] of names.entries())
    db.run(
      'insert or ignore into written (path, sha256) values (?, ?)',
      relative(root, join(path, name)),
      hashes[index]!,
    );
  for (const [index, name] of names.entries()) await rename(files[index]!.path, join(path, name));
  for (const name of unchanged) if (!names.includes(name)) await unlink(join(path, name));
  return names;
}

/** A file with another name than usual: people have changed or added the usual one. */
export interface WrittenBeside {
  readonly usual: string;
  readonly path: string;
}

/**
 * Writes a directory of such files anew. `write` writes them into an empty directory and returns their names. Returns those that could
 * not have their name. Throws a `UserError`.
 */
export async function publishDirectory(
  db: Database,
  output: StateDir,
  name: string,
  write: (directory: string) => readonly string[] | Promise<readonly string[]>,
): Promise<readonly WrittenBeside[]> {
  const path = (await output.directory(name)).path;
  const gathered = temporaryName(output.file(name));
  try {
    await mkdir(gathered, { mode: 0o700 });
    const written = await write(gathered);
    const files = written.map((file) => ({
      path: join(gathered, file),
      nameOf: (number: number) => (number === 1 ? file : file.replace(/(?=\.[^.]*$)/, `.${number}`)),
    }));
    const names = await publishFiles({ db, root: output.path, path, owns: () => true }, files);
    return written
      .map((file, at) => ({ usual: join(path, file), path: join(path, names[at]!) }))
      .filter((each) => each.usual !== each.path);
  } catch (error) {
    throw error instanceof UserError ? error : cannotWrite(path, error);
  } finally {
    await rm(gathered, { recursive: true, force: true });
  }
}

/** Names of the files that are still as the program wrote them. */
async function unchangedIn(
  { db, root, path, owns }: OwnDirectory,
  kept: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const unchanged = new Set<string>();
  for (const name of await readdir(path)) {
    const file = join(path, name);
    if (kept.has(name) || !owns(name) || !(await lstat(file).catch(() => undefined))?.isFile()) continue;
    const sql = 'select 1 from written where path = ? and sha256 = ?';
    if (db.get(sql, relative(root, file), await sha256Of(file))) unchanged.add(name);
  }
  return unchanged;
}

/** `sha256`: of the new file. One with the same content is its own, also of a survey that failed, with whose plan its hash is lost. */
async function freeName(
  directory: string,
  nameOf: OwnFile['nameOf'],
  {
    unchanged,
    taken,
    sha256,
  }: { readonly unchanged: ReadonlySet<string>; readonly taken: ReadonlySet<string>; readonly sha256: string },
): Promise<string> {
  for (let number = 1; ; number += 1) {
    const name = nameOf(number);
    if (taken.has(name)) continue;
    const there = lstatSync(join(directory, name), { throwIfNoEntry: false });
    if (unchanged.has(name) || !there) return name;
    if (there.isFile() && (await sha256Of(join(directory, name))) === sha256) return name;
  }
}

async function sha256Of(path: string): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer);
  return digest.digest('hex');
}
