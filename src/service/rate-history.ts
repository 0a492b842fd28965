import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { Clock } from '../clock.ts';
import { codeOf, messageOf, UserError } from '../errors.ts';

/**
 * When requests went out and were answered, kept over restarts: a run that begins within the window of the one before
 * (even one that was killed) must not send a fresh burst.
 */
export interface RateHistory {
  /** How long ago, in milliseconds, requests of earlier runs were answered at the latest; oldest first. */
  recent(windowMs: number): number[];
  sent(): void;
  answered(): void;
  close(): Promise<void>;
}

/** After so many lines the file begins anew with those that still matter. */
const LONGEST = 4_000;
/** Nobody's window is longer. */
const KEPT_MS = 60 * 60 * 1000;

/**
 * Opens or begins the history at `path` (0600), one NDJSON line a request and one an answer. `others` are histories of
 * the same key that are only read: a dry run keeps its own, since it may go on beside a run.
 */
export async function openRateHistory(
  path: string,
  clock: Clock,
  others: readonly string[] = [],
): Promise<RateHistory> {
  const before = readTimes(path, clock.wall());
  const elsewhere = others.flatMap((other) => readTimes(other, clock.wall()));
  let file: number;
  try {
    file = openSync(path, 'a', 0o600);
  } catch (error) {
    throw new UserError(`cannot write to ${path}: ${messageOf(error)}`, {
      hint: 'mend the permissions, or choose another state directory with --state DIR',
      cause: error,
    });
  }
  return new RateFile(file, before, elsewhere, clock);
}

class RateFile implements RateHistory {
  readonly #file: number;
  readonly #clock: Clock;
  /** Wall clock. */
  #answered: number[];
  readonly #elsewhere: readonly number[];
  #inFlight = 0;
  #lines = 0;
  #open = true;

  constructor(file: number, answered: readonly number[], elsewhere: readonly number[], clock: Clock) {
    this.#file = file;
    this.#clock = clock;
    this.#answered = [...answered];
    this.#elsewhere = elsewhere;
    this.#begin();
  }

  recent(windowMs: number): number[] {
    const now = this.#clock.wall();
    return [...this.#answered, ...this.#elsewhere]
      .sort((a, b) => a - b)
      .map((at) => now - at)
      .filter((age) => age < windowMs);
  }

  sent(): void {
    this.#inFlight += 1;
    this.#write(line('sent', this.#clock.wall()));
  }

  answered(): void {
    this.#inFlight -= 1;
    const now = this.#clock.wall();
    this.#answered.push(now);
    this.#write(line('answered', now));
    if (this.#lines >= LONGEST) this.#begin();
  }

  async close(): Promise<void> {
    if (this.#open) closeSync(this.#file);
    this.#open = false;
  }

  /** Begins the file anew: what is in flight counts as sent now. */
  #begin(): void {
    const now = this.#clock.wall();
    this.#answered = this.#answered.filter((at) => now - at < KEPT_MS).slice(-LONGEST / 2);
    this.#lines = 0;
    try {
      ftruncateSync(this.#file, 0);
    } catch {
      return;
    }
    const kept = this.#answered.map((at) => line('kept', at));
    const sent = Array.from({ length: this.#inFlight }, () => line('sent', now));
    this.#write([...kept, ...sent].join(''));
  }

  /** A history that cannot be written costs a few refused requests after a restart, so it ends no run. */
  #write(text: string): void {
    if (!this.#open) return;
    this.#lines += 1;
    try {
      writeSync(this.#file, text);
    } catch {
      // Said above.
    }
  }
}

/** `kept`: an answer whose request is not in the file any more. */
function line(event: 'sent' | 'answered' | 'kept', at: number): string {
  return `{"event":"${event}","at":${Math.round(at)}}\n`;
}

/**
 * Times of answers, oldest first. What was in flight when the process died may have been answered up to now, and so may
 * anything dated in the future: the clock was set back since.
 */
function readTimes(path: string, now: number): number[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw new UserError(`cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
  const answered: number[] = [];
  let inFlight = 0;
  for (const [, event, at] of text.matchAll(/^\{"event":"(sent|answered|kept)","at":(\d+)\}$/gm)) {
    if (event === 'sent') inFlight += 1;
    else answered.push(Math.min(now, Number(at)));
    if (event === 'answered') inFlight -= 1;
  }
  for (; inFlight > 0; inFlight -= 1) answered.push(now);
  return answered.sort((a, b) => a - b);
}
