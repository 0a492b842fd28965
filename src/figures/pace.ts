/** How fast a run sends, and when it ends. Pure. */
import { secondsToSend, type Rate } from '../rate.ts';
import { numberText } from '../terminal/numbers.ts';
import type { OtherUse } from '../store/checkpoint.ts';

export interface RunPace {
  /** Events settled per minute, over the last minutes. */
  readonly perMinute: number;
  /** Undefined if nothing is being sent. */
  readonly secondsLeft: number | undefined;
}

/** Answers in the last minutes. */
export interface RecentlySettled {
  readonly settled: number;
  /** The time that they took. */
  readonly ms: number;
}

/**
 * The speed of a run, and the time to send the rest. The first window is sent in a burst, so the speed is never
 * measured over less than a window.
 */
export function paceOf({ settled, ms }: RecentlySettled, left: number, rate: Rate): RunPace {
  const { seconds } = rate;
  const perMinute = (settled * 60_000) / Math.max(seconds * 1000, ms);
  const atBest = secondsToSend(left, rate);
  if (ms < seconds * 1000) return { perMinute, secondsLeft: atBest };
  if (perMinute === 0) return { perMinute, secondsLeft: undefined };
  return { perMinute, secondsLeft: Math.max(atBest - seconds, (left * 60) / perMinute) };
}

/** `others use this key: about 40 of 100` */
export function othersText({ requests, of }: OtherUse): string {
  return `others use this key: about ${numberText(requests)} of ${numberText(of)}`;
}
