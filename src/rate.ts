/** The limit that `--rate` sets. Pure. */
import { numberText } from './terminal/numbers.ts';
import { LIMITS } from './contract.ts';

/** Requests per sliding window. */
export interface Rate {
  readonly requests: number;
  readonly seconds: number;
}

export function perMinute({ requests, seconds }: Rate): number {
  return (requests * 60) / seconds;
}

/**
 * The rate as far as the service allows it, which admits `limit` requests per window (X-RateLimit-Limit; undefined if it
 * has not said so). A rate above the limit cannot have the service's window, so it gets the published one.
 */
export function within(limit: number | undefined, rate: Rate): Rate {
  if (limit === undefined || rate.requests <= limit) return rate;
  const seconds = Math.max(rate.seconds, LIMITS.windowSeconds);
  return { requests: Math.min(limit, Math.ceil((rate.requests * seconds) / rate.seconds)), seconds };
}

/** Requests per window with `withheld` of the service's limit left to others. Until it says its limit, that is the rate. */
export function requestsLeft({ requests }: Rate, { limit = requests, withheld = 0 }): number {
  return Math.max(1, Math.min(requests, limit - withheld));
}

/** The average duration of this many requests, in seconds. */
export function secondsToSend(requests: number, rate: Rate): number {
  return (requests * rate.seconds) / rate.requests;
}

/** `100 requests per 60 s` */
export function rateText({ requests, seconds }: Rate): string {
  return `${numberText(requests)} requests per ${numberText(seconds)} s`;
}
