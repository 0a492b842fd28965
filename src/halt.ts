import { setMaxListeners } from 'node:events';
import type { ExitCode } from './errors.ts';

/** Why a run stops before its end; message and hint are printed, `code` goes into the summary. */
export interface HaltReason {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly exitCode: ExitCode;
}

/** Reasons after which a run ends otherwise than by telling what it did not get to. */
export const STOPPED = {
  notWritten: 'state_not_written',
  unknownHistory: 'unknown_history',
  bug: 'bug',
} as const;

/**
 * The one way to stop a run, resumable: after `request` no new request goes out, those in flight are awaited and their
 * answers count. `abort` (a second signal) gives those up as well.
 */
export class Halt {
  readonly #soft = new AbortController();
  readonly #hard = new AbortController();
  #reason: HaltReason | undefined;

  constructor() {
    // Every lane that waits listens; that is not a leak.
    setMaxListeners(0, this.#soft.signal, this.#hard.signal);
  }

  /** The first reason wins: what follows from it is no news. */
  request(reason: HaltReason): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#soft.abort();
  }

  /** Requests in flight end as unanswered. Call `request` first: it holds the reason. */
  abort(): void {
    this.#hard.abort();
  }

  get requested(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): HaltReason | undefined {
    return this.#reason;
  }

  /** Aborted once the run is to stop. */
  get signal(): AbortSignal {
    return this.#soft.signal;
  }

  /** Aborted once the run is to stop without waiting. */
  get hardSignal(): AbortSignal {
    return this.#hard.signal;
  }
}
