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
