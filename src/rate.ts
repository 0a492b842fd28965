/** The limit that `--rate` sets, and how fast a run sends. Pure. */
import { numberText } from './report/words/numbers.ts';
import { LIMITS } from './contract.ts';

/** Requests per sliding window. */
export interface Rate {
  readonly requests: number;
  readonly seconds: number;
}

/** How fast requests are sent, and how fast they might be, where the service allows more. */
export interface Paces {
  readonly rate: Rate;
  readonly allowed?: Rate | undefined;
}

/** In the service's window, which has this many seconds (service interface, section 8). */
function perWindow({ requests, seconds }: Rate): number {
  return Math.ceil((requests * LIMITS.windowSeconds) / seconds);
}

/**
 * The rate as far as the service allows it, which admits `limit` requests per window (X-RateLimit-Limit; undefined if it
 * has not said so). The window is the service's, unless the rate has exactly its limit: then it has its window, too.
 */
export function within(limit: number | undefined, rate: Rate): Rate {
  if (limit === undefined || rate.requests === limit) return rate;
  const isLonger = rate.seconds >= LIMITS.windowSeconds;
  if (isLonger) return { ...rate, requests: Math.min(limit, rate.requests) };
  return perWindow(rate) <= limit ? rate : { requests: limit, seconds: LIMITS.windowSeconds };
}

/** The rate that the service allows, where it allows more than this one. */
export function allowed(limit: number | undefined, rate: Rate): Rate | undefined {
  return limit !== undefined && limit > perWindow(rate)
    ? { requests: limit, seconds: LIMITS.windowSeconds }
    : undefined;
}

/** Requests per window with `withheld` of the service's limit left to others. Until it says its limit, that is the rate. */
export function requestsLeft({ requests }: Rate, { limit = requests, withheld = 0 }): number {
  return Math.max(1, Math.min(requests, limit - withheld));
}

/** The average duration of this many requests, in seconds. */
export function secondsToSend(requests: number, rate: Rate): number {
  return (requests * rate.seconds) / rate.requests;
}

/**
 * Estimated seconds until the last of this many events goes out from now on, one request each. The window slides: a full one goes
 * at once, and its requests may follow one window later, also at once.
 */
export function estimateSeconds(events: number, rate: Rate): number {
  return Math.ceil(Math.floor(Math.max(0, events - 1) / rate.requests) * rate.seconds);
}

/** `100 requests per 60 s` */
export function rateText({ requests, seconds }: Rate): string {
  return `${numberText(requests)} requests per ${numberText(seconds)} s`;
}

export interface RunPace {
  /** Events settled per minute, lately. */
  readonly perMinute: number;
  /** Undefined if nothing is being sent. */
  readonly secondsLeft: number | undefined;
}

/** Answers of the last `spanOf` milliseconds. */
export interface RecentlySettled {
  readonly settled: number;
  /** The time that they took: less at the beginning of a run. */
  readonly ms: number;
}

/** Over how long the speed of a run is measured, in milliseconds: whole windows, which together are a minute at least. */
export function spanOf({ seconds }: Rate): number {
  return Math.ceil(60 / seconds) * seconds * 1000;
}

/**
 * The speed of a run, and the time to send the rest. A window is sent in a burst, so the speed is measured over whole windows: otherwise
 * it would exceed the limit.
 */
export function paceOf({ settled, ms }: RecentlySettled, left: number, rate: Rate): RunPace {
  const { seconds } = rate;
  const windows = Math.max(1, Math.ceil(ms / 1000 / seconds));
  const perMinute = (settled * 60) / (windows * seconds);
  const atBest = secondsToSend(left, rate);
  if (ms < seconds * 1000) return { perMinute, secondsLeft: atBest };
  if (perMinute === 0) return { perMinute, secondsLeft: undefined };
  return { perMinute, secondsLeft: Math.max(atBest - seconds, (left * 60) / perMinute) };
}

/**
 * The seconds left with what a run waits for now: the limit of the service comes in addition; its own is part of the pace. Nobody knows how long
 * anything else lasts.
 */
export function leftWith(seconds: number | undefined, reason: string | undefined, waitMs: number): number | undefined {
  if (seconds === undefined || reason === undefined || reason === 'retry') return seconds;
  if (reason === 'rate') return Math.max(seconds, waitMs / 1000);
  return reason === 'rate_limited' ? seconds + waitMs / 1000 : undefined;
}
