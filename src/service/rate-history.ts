import { closeSync, ftruncateSync, readFileSync, writeSync } from 'node:fs';
import type { Clock } from '../clock.ts';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { openPrivate } from '../private-file.ts';

/**
 * When requests were sent and answered, kept across restarts: a run that starts within a window of the previous one
 * (even if that one was killed) must not send another full burst.
 */
export interface RateHistory {
  /** For requests of earlier runs, how long ago (milliseconds) each was answered at the latest; oldest first. */
  recent(windowMs: number): number[];
  sent(): void;
  answered(): void;
  close(): Promise<void>;
}

/** This many answers are kept at least, unless they are older than `KEPT_MS`: for a run with another `--rate`. */
const MIN_KEPT = 2_000;
/** The longest window that `--rate` can have. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/**
 * Opens or creates the history at `path` (mode 0600), with one NDJSON line per request and one per answer. `others` are
 * histories of the same API key that are only read: a dry run has its own, because it may run at the same time as a
 * run. All answers of the last `windowMs` milliseconds are kept.
 */
export async function openRateHistory(
  path: string,
  clock: Clock,
  others: readonly string[] = [],
  windowMs = 0,
): Promise<RateHistory> {
  const before = readTimes(path, clock.wall());
  const elsewhere = others.flatMap((other) => readTimes(other, clock.wall()));
  let file: number;
  try {
    file = openPrivate(path);
  } catch (error) {
    throw new UserError(`cannot write to ${path}: ${messageOf(error)}`, {
      hint: 'check the permissions, or choose another state directory with --state DIR',
      cause: error,
    });
  }
  return new RateFile(file, before, elsewhere, clock, windowMs);
}

class RateFile implements RateHistory {
  readonly #file: number;
  readonly #clock: Clock;
  readonly #windowMs: number;
  /** Wall clock. */
  #answered: number[];
  readonly #elsewhere: readonly number[];
  #inFlight = 0;
  #lines = 0;
  /** The file is rewritten when it has this many more lines. */
  #mostLines = 0;
  #open = true;

  constructor(file: number, answered: readonly number[], elsewhere: readonly number[], clock: Clock, windowMs: number) {
    this.#file = file;
    this.#windowMs = windowMs;
    this.#clock = clock;
    this.#answered = [...answered];
    this.#elsewhere = elsewhere;
    this.#rewrite();
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
    if (this.#lines >= this.#mostLines) this.#rewrite();
  }

  async close(): Promise<void> {
    if (this.#open) closeSync(this.#file);
    this.#open = false;
  }

  /** Rewrites the file. Requests in flight count as sent now. */
  #rewrite(): void {
    const now = this.#clock.wall();
    const latest = this.#answered.length - MIN_KEPT;
    this.#answered = this.#answered.filter((at, index) => {
      return now - at < (index < latest ? this.#windowMs : KEPT_MS);
    });
    // Each request adds two.
    this.#mostLines = 2 * Math.max(MIN_KEPT, this.#answered.length);
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

  /** Never throws: without a history, a restart at worst causes a few 429 answers. */
  #write(text: string): void {
    if (!this.#open) return;
    this.#lines += 1;
    try {
      writeSync(this.#file, text);
    } catch {
      // See above.
    }
  }
}

/** `kept`: an answer whose request is no longer in the file. */
function line(event: 'sent' | 'answered' | 'kept', at: number): string {
  return `{"event":"${event}","at":${Math.round(at)}}\n`;
}

/**
 * Times of answers, oldest first. Requests in flight when the process ended may have been answered at any time up to
 * now. The same holds for times in the future, because the clock has been set back since.
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
