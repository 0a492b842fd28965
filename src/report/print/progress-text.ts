/** The texts of the progress display. Pure. */
import { cutTo } from './layout.ts';
import { numberText } from '../words/numbers.ts';
import { clockText, durationText, untilText } from '../words/times.ts';
import type { GateWait } from '../../send/gate.ts';
import { WAITS } from '../words/terms.ts';
import { leftWith, type RunPace } from '../../rate.ts';

export interface TypeProgress {
  readonly type: string;
  readonly total: number;
  readonly acknowledged: number;
  /** Rejected by the service. */
  readonly rejected: number;
}

/** Why nothing is being sent at the moment. */
export interface WaitingState extends GateWait {
  /** How long this has lasted. */
  readonly forMs: number;
}

export interface ProgressSnapshot extends RunPace {
  /** Events that this run still has to send. */
  readonly left: number;
  readonly waiting: WaitingState | undefined;
  readonly now: Date;
}

/** `98/min, 3,766 left, about 38 min (until 21:40); limit reached, next in 0.6 s` */
export function statusLine(pace: ProgressSnapshot, columns: number): string {
  const waiting = pace.waiting ? waitingText(pace.waiting, pace.now) : undefined;
  const parts = paceParts(pace);
  // If there is not enough room, the most important part is kept: an outage, then the rate, then the limit.
  if (waiting !== undefined && isSerious(pace)) {
    const withPace = `${waiting}${pace.waiting?.reason === 'outage' ? DOT : '; '}${parts.join(', ')}`;
    return withPace.length <= columns ? withPace : cutTo(waiting, columns);
  }
  while (parts.length > 1 && parts.join(', ').length > columns) parts.shift();
  const text = parts.join(', ');
  if (waiting === undefined || text.length + 2 + waiting.length > columns) return cutTo(text, columns);
  return `${text}; ${waiting}`;
}

/** Whether the run waits for anything but its own rate. */
export function isSerious({ waiting }: ProgressSnapshot): boolean {
  return waiting !== undefined && waiting.reason !== 'rate';
}

function paceParts({ perMinute, left, secondsLeft: atPace, waiting, now }: ProgressSnapshot): string[] {
  const secondsLeft = leftWith(atPace, waiting?.reason, waiting?.nextInMs ?? 0);
  const end = secondsLeft === undefined || secondsLeft < 60 ? '' : ` (${untilText(secondsLeft, now)})`;
  return [
    `${numberText(Math.round(perMinute))}/min`,
    `${numberText(left)} left`,
    ...(secondsLeft === undefined || left === 0 ? [] : [`about ${durationText(secondsLeft)}${end}`]),
  ];
}

/** One line for logs: `10:42 lead/created 1,234/5,000, deal/created 0/300; 98/min, 4,066 left, about 42 min …` */
export function progressLogLine(types: readonly TypeProgress[], pace: ProgressSnapshot): string {
  const counts = types.map(
    (each) => `${each.type} ${countText(each)}${each.rejected > 0 ? ` (${numberText(each.rejected)} rejected)` : ''}`,
  );
  return [
    `${clockText(pace.now, pace.now)} ${counts.join(', ')}`,
    paceParts(pace).join(', '),
    ...(isSerious(pace) ? [waitingText(pace.waiting!, pace.now)] : []),
  ].join('; ');
}

const DOT = ' · ';

/** Of an outage, what matters most comes first, since a narrow terminal cuts the end. */
export function waitingText(waiting: WaitingState, now: Date): string {
  const { reason, nextInMs, because } = waiting;
  if (reason === 'outage') return outageText(waiting, now);
  const cause = because === undefined ? '' : ` (${because})`;
  const isTried = reason === 'credentials' || reason === 'intercepted';
  return `${WAITS[reason]}${cause}, ${isTried ? 'retrying' : 'next'} in ${waitText(nextInMs)}`;
}

/** `SERVICE DOWN 2 min · next check 34 s · gives up 23:44 · ECONNREFUSED` */
function outageText({ nextInMs, forMs, givesUpInMs, because }: WaitingState, now: Date): string {
  return [
    `${WAITS.outage.toUpperCase()} ${durationText(forMs / 1000)}`,
    nextInMs > 0 ? `next check ${waitText(nextInMs)}` : 'checking',
    ...(givesUpInMs === undefined ? [] : [`gives up ${clockText(new Date(now.getTime() + givesUpInMs), now)}`]),
    ...(because === undefined ? [] : [CODE.exec(because)?.[1] ?? because]),
  ].join(DOT);
}

/** The code of a connection that failed, at the end of its message. */
const CODE = /\(([A-Z][A-Z_]+)\)$/;

function waitText(ms: number): string {
  return ms < 10_000 ? `${(Math.max(0, ms) / 1000).toFixed(1)} s` : durationText(ms / 1000);
}

/** `1,234/5,000` */
export function countText({ acknowledged, total }: TypeProgress): string {
  return `${numberText(acknowledged)}/${numberText(total)}`;
}
