/** Files and directories of the state directory: nobody else can read them, and none is reached through a link. */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, messageOf, UserError } from '../errors.ts';

/** Not every system has all of them. Without O_NONBLOCK, opening a named pipe waits for its other end. */
const { O_APPEND, O_CREAT, O_WRONLY, O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** A file or directory that is not what it should be: a link, a pipe, a file of another program. The message names it. */
export class Unusable extends Error {}

const OTHERS = 0o077;
/** Of /tmp and its like. */
const STICKY = 0o1000;

/**
 * Opens a file to append to, or creates it. Throws if it is a symbolic link or a pipe, or cannot be closed to others. A
 * device keeps its mode.
 */
export function openPrivate(path: string): number {
  const file = openUnlinked(path);
  try {
    const found = fstatSync(file);
    if (found.isFIFO()) throw new Unusable('it is a named pipe');
    if (found.isFile() && (found.mode & OTHERS) !== 0) fchmodSync(file, 0o600);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function openUnlinked(path: string): number {
  try {
    return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (error) {
    if (codeOf(error) === 'ELOOP') throw new Unusable('it is a symbolic link', { cause: error });
    if (codeOf(error) === 'ENXIO') throw new Unusable('it is a named pipe', { cause: error });
    throw error;
  }
}

/**
 * Whether this path leads to a file or directory. Only "no such file" means no: throws a `UserError` where it is
 * not known, since a run that goes on without its files would lose what it has sent.
 */
export function isThere(path: string): boolean {
  try {
    statSync(path); // With `throwIfNoEntry: false`, Node 24 says of a path below a file that it is not there.
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw new UserError(`cannot look for ${path}: ${messageOf(error)}`, {
      hint: 'check the permissions of its directories, and the disk',
      cause: error,
    });
  }
}

/** A name of its own for a file that is not complete yet: several commands write the same files at the same time. */
export function temporaryName(path: string): string {
  return `${path}.${randomBytes(4).toString('hex')}.tmp`;
}

const TEMPORARY = /\.[0-9a-f]{8}\.tmp$/;
/** Longer than writing any file takes. */
const LEFT_MS = 60 * 60_000;

/** Deletes temporary files that killed commands left in a directory. */
export function removeLeftovers(directory: string): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const found = TEMPORARY.test(name) && lstatSync(path, { throwIfNoEntry: false });
    if (found && found.mtimeMs < Date.now() - LEFT_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** Writes the whole text: a single call may write only a part of it. */
export function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
}

/** Opens a file to read, but no pipe or device, which might never end. Throws as `fs` does, and if it is not a file. */
export async function openRegular(path: string): Promise<FileHandle> {
  const file = await open(path, O_RDONLY | O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Unusable('it is not a regular file');
}

/** A directory with those that it is in. Node's own `recursive` never ends where the system denies that a parent is there (`/proc`). */
export function makeDirectory(path: string): void {
  const parent = dirname(path);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (existsSync(path) && statSync(path).isDirectory()) return;
    if (codeOf(error) !== 'ENOENT' || existsSync(parent)) throw error;
    makeDirectory(parent);
    makeDirectory(path);
  }
}

/**
 * Creates a directory, or closes one that exists to others. Throws if that is not possible, and if a directory `inside`
 * the state directory is a symbolic link.
 */
export function makePrivate(path: string, { inside }: { inside: boolean }): void {
  makeDirectory(path);
  const { mode } = statSync(path);
  if (inside && lstatSync(path).isSymbolicLink()) throw new Unusable('it is a symbolic link');
  if ((mode & OTHERS) === 0) return;
  if ((mode & STICKY) !== 0) throw new Unusable('it is a directory that all users share');
  chmodSync(path, 0o700);
}
