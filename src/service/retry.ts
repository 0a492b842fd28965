import type { Clock } from '../clock.ts';
import { UserError } from '../errors.ts';
import { dateText, durationText } from '../report/words/times.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

/** The longest that the `nth` consecutive wait (from 1) may take, in milliseconds: 1 s, 2 s, 4 s, … up to 60 s. */
export function backoffCeiling(nth: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(nth - 1, 16));
}

/** Exponential backoff with full jitter, in milliseconds, for the `nth` consecutive failure (from 1). */
export function backoff(nth: number, random: () => number = Math.random): number {
  return random() * backoffCeiling(nth);
}

/** The wait before the `nth` GET /health (from 1) of a service that does not answer, in milliseconds. */
export function probeDelay(nth: number, random: () => number): number {
  const ceiling = backoffCeiling(nth);
  return ceiling / 2 + (random() * ceiling) / 2;
}

/**
 * The wait before the `nth` consecutive attempt without an answer is repeated, in milliseconds: a backoff, and at least the wait that the
 * service asked for, but at most the `leftMs` of the event.
 */
export function retryDelay(
  nth: number,
  { retryAfterMs = 0, leftMs, random }: { retryAfterMs?: number | undefined; leftMs: number; random: () => number },
): number {
  return Math.max(backoff(nth, random), Math.min(retryAfterMs, Math.max(0, leftMs)));
}

const MAX_RETRIES = 5;

/** A longer Retry-After is not waited for when the service is only read. */
export const LONGEST_RETRY_AFTER_MS = 10 * 60_000;

/** Later runs ask again, once, whether a longer Retry-After still holds: it may be a mistake, or have been lifted. */
const LONGEST_PAUSE_MS = 24 * 60 * 60_000;

/** The pause, in milliseconds, that a run keeps of one that was asked for in an earlier run. */
export function keptPause(pauseMs: number): number {
  return pauseMs > LONGEST_PAUSE_MS ? 0 : pauseMs;
}

/** The service asks to wait for longer than a read waits. */
export function longPause(ms: number, now: number): UserError {
  const until = dateText(new Date(now + ms));
  return new UserError(`the service asks to wait for ${durationText(ms / 1000)} (429, Retry-After), until ${until}`, {
    hint: 'rerun then. What else uses the API key? The support of the service can end such a wait',
  });
}

/**
 * Retries a REST request that got no usable answer or was rate-limited, at most five times. After a 429 it does
 * not wait itself, because the limiter does; a Retry-After of more than ten minutes is not waited for.
 * Requests that cannot work with this configuration are not retried. Returns the last attempt.
 */
export async function retried<
  T extends { readonly kind: string; readonly setup?: true; readonly retryAfterMs?: number | undefined },
>(request: () => Promise<T>, options: { readonly clock: Clock; readonly signal?: AbortSignal }): Promise<T> {
  for (let failures = 0; ;) {
    const attempt = await request();
    const isRetryable = attempt.kind === 'rate_limited' || attempt.kind === 'unanswered';
    if ((attempt.retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) return attempt;
    if (!isRetryable || attempt.setup || failures === MAX_RETRIES || options.signal?.aborted) return attempt;
    failures += 1;
    if (attempt.kind === 'unanswered') await options.clock.sleep(backoff(failures), options.signal);
  }
}
