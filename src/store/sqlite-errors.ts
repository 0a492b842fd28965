/** What errors of the engine mean, and what to do. */
import { EXIT, messageOf, UserError } from '../errors.ts';
import { Unusable } from '../files/private-file.ts';

const WAIT =
  'wait until that process has finished, then rerun; if the directory is on a network, choose one on a local disk with --state DIR';

/**
 * SQLite's primary result codes (https://www.sqlite.org/rescode.html): what went wrong, what to do, and the engine's text,
 * since errors of `all` and `iterate` carry no code.
 */
const CODES: Readonly<Record<number, readonly [what: string, hint: string, text: string]>> = {
  3: ['permission denied', 'check the permissions and the owner of the state directory', 'access permission denied'],
  5: ['another process is using it', WAIT, 'database is locked'],
  6: ['another process is using it', WAIT, 'database table is locked'],
  7: ['not enough memory', 'end other programs or give this one more memory, then rerun', 'out of memory'],
  8: [
    'it cannot be written',
    'check the permissions, or choose another directory with --state DIR',
    'attempt to write a readonly database',
  ],
  10: ['the disk reports an error', 'check the disk, then rerun', 'disk I/O error'],
  11: ['it is damaged', '', 'database disk image is malformed'],
  13: ['the disk is full', 'free some disk space, then rerun', 'database or disk is full'],
  14: [
    'it cannot be opened',
    'check the permissions, or choose another directory with --state DIR',
    'unable to open database file',
  ],
  15: [
    'its file system does not lock files',
    'the state directory must be on a local disk: choose another one with --state DIR',
    'locking protocol',
  ],
  26: ['it is not a database', '', 'file is not a database'],
};

const RESTORE =
  'restore a copy of the file, and remove the -wal and -shm files beside it, which belong to the damaged file; ' +
  'if there is no copy, move it away and rerun with --adopt: the service recognises every event that it has processed, so none is ' +
  'created twice';
const REBUILD = 'delete the file and rerun: it is written again from the exports';

/** Another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  const { errcode, cause } = (error ?? {}) as { readonly errcode?: unknown; readonly cause?: unknown };
  return typeof errcode === 'number' ? (errcode & 0xff) === 5 : cause !== undefined && isBusy(cause);
}

/** Codes of a file that is not as it was written. */
const DAMAGED = [11, 26];

/** Turns errors of the engine into a `UserError` that names the file: of damage, the one that `damaged` finds. */
export function orExplain<Result>(path: string, act: () => Result, damaged?: () => string | undefined): Result {
  try {
    return act();
  } catch (error) {
    if (error instanceof UserError) throw error;
    const code = (error as { errcode?: unknown } | null)?.errcode;
    const known =
      typeof code === 'number'
        ? CODES[code & 0xff]
        : Object.values(CODES).find(([, , text]) => text === messageOf(error));
    const isSystem = typeof (error as { syscall?: unknown } | null)?.syscall === 'string';
    if (!known && !(error instanceof Unusable) && !isSystem) throw error;
    const [what, hint] = known ?? [messageOf(error), ''];
    const isDamage = DAMAGED.some((each) => CODES[each] === known);
    throw unusable((isDamage ? damaged?.() : undefined) ?? path, what, {
      hint: hint || (isSystem ? 'check the permissions, or choose another directory with --state DIR' : ''),
      cause: error,
    });
  }
}

/** The error about a file that cannot be used. The default hint is to replace it. */
export function unusable(
  path: string,
  what: string,
  { hint = '', cause }: { hint?: string; cause?: unknown },
): UserError {
  const lost = path.endsWith('checkpoint.db') ? RESTORE : REBUILD;
  return new UserError(`cannot use ${path}: ${what}`, { hint: hint || lost, exitCode: EXIT.nothingSent, cause });
}
