import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { Clock } from '../clock.ts';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { openPrivate } from '../private-file.ts';

/**
 * When requests were answered, kept across restarts: a run that starts within a window of the previous one (even if that
 * one was killed) must not send another full burst. Times are milliseconds since 1970.
 */
export interface RateHistory {
  /** When the requests of earlier runs were answered at the latest; oldest first, none in the future. */
  load(): readonly number[];
  /**
   * Replaces what this run recorded. `answered`: its latest answers; `inFlight`: its requests not answered yet, which count
   * as answered when they are loaded. Called before each request and after each answer; must not throw.
   */
  record(answered: readonly number[], inFlight: number): void;
}

/** Earlier runs are recorded again up to this age. */
const KEPT_MS = 24 * 60 * 60 * 1000;
const MOST_KEPT = 2_000;

/**
 * Opens or creates the history at `path` (mode 0600): one line of JSON. `others` are histories of the same API key that are
 * only read: a dry run has its own, because it may run at the same time as a run.
 */
export function openRateHistory(
  path: string,
  clock: Clock,
  others: readonly string[] = [],
): RateHistory & { close(): void } {
  const earlier = readTimes(path, clock.wall());
  const kept = earlier.filter((at) => at > clock.wall() - KEPT_MS).slice(-MOST_KEPT);
  const elsewhere = others.flatMap((other) => readTimes(other, clock.wall()));
  let file: number | undefined;
  try {
    closeSync(openPrivate(path));
    // Not to append.
    file = openSync(path, 'r+');
  } catch (error) {
    throw new UserError(`cannot write to ${path}: ${messageOf(error)}`, {
      hint: 'check the permissions, or choose another state directory with --state DIR',
      cause: error,
    });
  }
  return {
    load: () => [...earlier, ...elsewhere].sort((a, b) => a - b),
    record(answered, inFlight) {
      if (file === undefined) return;
      const line = Buffer.from(`${JSON.stringify({ answered: [...kept, ...answered], in_flight: inFlight })}\n`);
      try {
        // Only the first line is read: a kill between the two calls does no harm.
        writeSync(file, line, 0, line.length, 0);
        ftruncateSync(file, line.length);
      } catch {
        // Without a history, a restart at worst causes a few 429 answers.
      }
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

/** Times in the future count as now, because the clock has been set back since. A damaged file counts as empty. */
function readTimes(path: string, now: number): number[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw new UserError(`cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
  const [, answered, inFlight] = /^\{"answered":\[([\d,]*)\],"in_flight":(\d{1,6})\}\n/.exec(text) ?? [];
  if (answered === undefined) return [];
  const times = answered === '' ? [] : answered.split(',').map((at) => Math.min(now, Number(at)));
  return [...times, ...Array<number>(Number(inFlight)).fill(now)];
}
