import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The exit codes of the process (README, "Exit codes"). */
export const EXIT = {
  done: 0,
  finishedWithErrors: 1,
  nothingSent: 2,
  stopped: 3,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/**
 * An error that the user can fix: printed as message and hint, without a stack trace. `exitCode` is 2 unless requests may
 * already have been sent.
 */
export class UserError extends Error {
  override readonly name: string = 'UserError';
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;

  constructor(message: string, options: { hint?: string; exitCode?: ExitCode; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? EXIT.nothingSent;
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` that Node and its libraries set on system errors (`ENOENT`, `ECONNRESET`, `UND_ERR_SOCKET`), if any. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** What the system has run out of, and how to give it more, by error code. */
const SHORTAGES: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  EMFILE: ['too many open files', 'raise the limit of this process with `ulimit -n 4096`, then rerun'],
  ENFILE: ['too many open files on this machine', 'end other programs or raise the limit of the system, then rerun'],
  ENOMEM: ['not enough memory', 'end other programs or give this one more memory, then rerun'],
  ERR_MEMORY_ALLOCATION_FAILED: ['not enough memory', 'end other programs or give this one more memory, then rerun'],
  ENOSPC: ['the disk is full', 'free some disk space, then rerun'],
  EDQUOT: ['the disk quota is used up', 'free some disk space or raise the quota, then rerun'],
  EROFS: ['the file system is read-only', 'mount it writable, or choose another directory with --state DIR'],
  EIO: ['the disk reports an error', 'check the disk, then rerun'],
};

/** Why no file can be opened, if so: then Node calls a module missing that it cannot read. */
function openError(): unknown {
  try {
    closeSync(openSync(fileURLToPath(import.meta.url), 'r'));
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Problems of one file, by error code. Codes of connections are explained elsewhere. */
const FILE_ERRORS: typeof SHORTAGES = {
  EACCES: ['permission denied', 'check the permissions of the file and of its directories, then rerun'],
  EPERM: ['permission denied', 'check the permissions of the file and of its directories, then rerun'],
};

const NO_DIRECTORY = ['the working directory does not exist any more', 'change to another one, then rerun'] as const;
const INCOMPLETE = [
  'a part of this program cannot be loaded',
  'install it again, in a checkout with `npm ci`',
] as const;

/** A shortage or failure of the system as a `UserError`, which is no bug of this program; undefined for other errors. */
export function shortageOf(thrown: unknown, exitCode: ExitCode): UserError | undefined {
  const isMissing = codeOf(thrown)?.endsWith('MODULE_NOT_FOUND') === true;
  const error = (isMissing ? openError() : undefined) ?? thrown;
  const isAllocation = error instanceof RangeError && /allocation failed/i.test(error.message);
  // Without the code of the system: Node about the package.json of a module.
  const isTooManyFiles = / package config .*: too many open files/i.test(messageOf(error));
  const code = isAllocation ? 'ENOMEM' : isTooManyFiles ? 'EMFILE' : (codeOf(error) ?? '');
  const { path, syscall } = (error ?? {}) as { readonly path?: unknown; readonly syscall?: unknown };
  const others = [
    syscall === 'uv_cwd' ? NO_DIRECTORY : undefined,
    typeof path === 'string' ? FILE_ERRORS[code] : undefined,
    isMissing ? INCOMPLETE : undefined,
  ];
  const found = SHORTAGES[code] ?? others.find((each) => each !== undefined);
  if (!found) return undefined;
  const [what, hint] = found;
  return new UserError(`${what} (${messageOf(error)})`, { hint, exitCode, cause: error });
}

/** A file could not be written: a full disk, say. A cell that is no JSON is no matter of the file that it was for. */
export function cannotWrite(path: string, error: unknown): Error {
  if (error instanceof SyntaxError) return error;
  return new UserError(`cannot write ${path}: ${messageOf(error)}`, {
    hint: `${shortageOf(error, EXIT.stopped)?.hint ?? 'check the permissions, then rerun'}: nothing that was acknowledged is lost`,
    cause: error,
  });
}
