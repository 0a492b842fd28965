import { setMaxListeners } from 'node:events';
import { EXIT, UserError, type ExitCode } from './errors.ts';

/** Why a run stops before its end; message and hint are printed, `code` goes into the summary. */
export interface HaltReason {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly exitCode: ExitCode;
}

/** Codes of reasons that are handled separately when the run ends. */
export const STOPPED = {
  notWritten: 'state_not_written',
  stateRemoved: 'state_removed',
  lockRemoved: 'lock_removed',
  unknownHistory: 'unknown_history',
  bug: 'bug',
} as const;

/**
 * Whether the state directory was removed. Nothing more is written to it: that would create files in a directory that the user
 * has moved.
 */
export function isStateLost(code: string | undefined): boolean {
  return code === STOPPED.stateRemoved;
}

/** Whether the service knows events that the state directory does not: only `--adopt` goes on. */
export function needsAdopt(code: string | undefined): boolean {
  return code === STOPPED.unknownHistory || code === STOPPED.stateRemoved;
}

/**
 * The only way to stop a run so that it can be resumed: after `request`, no new request is sent; those in flight are
 * awaited and their answers are recorded. `abort` (a second signal) abandons those as well.
 */
export class Halt {
  readonly #soft = new AbortController();
  readonly #hard = new AbortController();
  #reason: HaltReason | undefined;

  constructor() {
    // Every waiting task adds a listener; that is not a leak.
    setMaxListeners(0, this.#soft.signal, this.#hard.signal);
  }

  /** The first reason wins: later ones are its consequences. */
  request(reason: HaltReason): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#soft.abort();
  }

  /** Ends the requests in flight without an answer. Call `request` first, which sets the reason. */
  abort(): void {
    this.#hard.abort();
  }

  get requested(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): HaltReason | undefined {
    return this.#reason;
  }

  /** Throws a `UserError` with its exit code if the run has to stop before it has a plan to send. */
  assertNotRequested(): void {
    if (!this.#reason) return;
    const { message, exitCode } = this.#reason;
    throw new UserError(`${message} before anything was sent`, { exitCode });
  }

  /** Aborted when the run has to stop. */
  get signal(): AbortSignal {
    return this.#soft.signal;
  }

  /** Aborted when the run has to stop without waiting. */
  get hardSignal(): AbortSignal {
    return this.#hard.signal;
  }
}

const SIGNALS = [
  ['SIGHUP', EXIT.hungUp],
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', EXIT.terminated],
] as const;

/** As people know it: they press Ctrl-C. */
const nameOf = (signal: string): string => (signal === 'SIGINT' ? 'Ctrl-C (SIGINT)' : signal);

/** The first signal requests a halt. `again`: what later ones do; `first`: what else the first one does. Returns what ends that. */
export function haltOnSignals(
  halt: Halt,
  again: (exitCode: ExitCode) => void,
  first: (signal: string) => void = () => undefined,
): () => void {
  let isSignalled = false;
  const removals = SIGNALS.map(([signal, exitCode]) => {
    const listener = (): void => {
      if (isSignalled) return again(exitCode);
      isSignalled = true;
      first(nameOf(signal));
      halt.request({ code: 'interrupted', message: `interrupted by ${nameOf(signal)}`, exitCode });
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  return () => removals.forEach((remove) => remove());
}

/** Resolves at the first SIGINT or SIGTERM: for servers that run until somebody stops them. */
export async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
}
