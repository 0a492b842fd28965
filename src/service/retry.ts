import type { Clock } from '../clock.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

/** How long the `nth` wait in a row may be at most (from 1): 1 s, 2 s, 4 s, … one minute. */
export function backoffCeiling(nth: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(nth - 1, 16));
}

/** Exponential backoff with full jitter, in milliseconds, for the `nth` failure in a row (from 1). */
export function backoff(nth: number, random: () => number = Math.random): number {
  return random() * backoffCeiling(nth);
}

/**
 * Repeats a REST request while it gets no answer that counts, `retries` times at most (after a 429 without a wait of its
 * own: the limiter holds everything back). Yields the last attempt, whatever it is.
 */
export async function retried<T extends { readonly kind: string }>(
  request: () => Promise<T>,
  options: { readonly clock: Clock; readonly signal?: AbortSignal; readonly retries?: number },
): Promise<T> {
  for (let failures = 0; ;) {
    const attempt = await request();
    const mayHelp = attempt.kind === 'unanswered' || attempt.kind === 'rate_limited';
    if (!mayHelp || failures === (options.retries ?? 5) || options.signal?.aborted) return attempt;
    failures += 1;
    if (attempt.kind === 'unanswered') await options.clock.sleep(backoff(failures), options.signal);
  }
}
