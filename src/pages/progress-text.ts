/** The texts and bars of the progress display. Pure, so that every width and waiting state can be tested. */
import { perMinuteAt, rateAt, secondsToSend, type Quota, type Rate } from '../timetable.ts';
import { numberText, percentText } from '../numbers.ts';
import { clockText, durationText } from '../report/text.ts';
import { WAITS, type WaitReason } from '../report/words.ts';

/** Progress of the events of one type. */
export interface TypeProgress {
  readonly type: string;
  readonly total: number;
  readonly acknowledged: number;
  /** Rejected by the service. */
  readonly rejected: number;
  /** Settled in any way, including by earlier runs; shown by the bar. */
  readonly settled: number;
}

/** Why nothing is being sent at the moment. */
export interface WaitingState {
  readonly reason: WaitReason;
  readonly nextInMs: number;
  /** How long this has lasted. */
  readonly forMs: number;
}

export interface ProgressSnapshot {
  /** Events settled per minute, over the last minutes. */
  readonly perMinute: number;
  /** Events that this run still has to send. */
  readonly left: number;
  /** Undefined if it cannot be estimated. */
  readonly secondsLeft: number | undefined;
  /** The priority being sent, where another one follows. */
  readonly priority?: { readonly priority: number; readonly left: number } | undefined;
  readonly waiting: WaitingState | undefined;
  readonly now: Date;
}

export type Colorize = (colour: 'red' | 'yellow' | 'green', text: string) => string;

/** Terminals narrower than this have no room for bars. */
const NARROW = 60;
const LONGEST_BAR = 40;

/** The lines on a terminal: one per type and a status line. None is wider than `columns - 1`, so that none wraps. */
export function progressLines(
  types: readonly TypeProgress[],
  pace: ProgressSnapshot,
  columns: number,
  colorize: Colorize,
): string[] {
  const room = Math.max(20, columns - 1);
  const name = Math.max(...types.map(({ type }) => type.length));
  const counts = Math.max(...types.map((each) => countText(each).length));
  const lines = types.map((each) => {
    const { type, rejected } = each;
    const rest = `${countText(each).padStart(counts)} ${percentText(each.settled, each.total).padStart(5)}`;
    const failed = rejected > 0 ? `${numberText(rejected)} rejected` : '';
    if (columns < NARROW)
      return {
        text: cut(`${type} ${countText(each)} ${percentText(each.settled, each.total).trim()}`, room),
        failed: '',
      };
    const bar = Math.min(LONGEST_BAR, room - name - rest.length - 4 - '12,345 rejected'.length - 2);
    return { text: `${type.padEnd(name)}  ${bar >= 8 ? `${barText(each, bar)}  ` : ''}${rest}`, failed };
  });
  return [
    ...lines.map(({ text, failed }) =>
      failed === '' || text.length + 2 + failed.length > room ? text : `${text}  ${colorize('red', failed)}`,
    ),
    statusLine(pace, columns, colorize),
  ];
}

/** `98/min, 3,766 left, about 38 min (until 21:40); window full, next in 0.6 s` */
function statusLine(pace: ProgressSnapshot, columns: number, paint: Colorize): string {
  const room = Math.max(20, columns - 1);
  const waiting = pace.waiting ? waitingText(pace.waiting) : undefined;
  const isSerious = pace.waiting !== undefined && pace.waiting.reason !== 'rate';
  const parts = paceParts(pace);
  // If there is not enough room, the most important part is kept: an outage, then the rate, then a full window.
  if (isSerious && waiting !== undefined) {
    const withPace = `${waiting}; ${parts.join(', ')}`;
    return paint('yellow', cut(withPace.length <= room ? withPace : waiting, room));
  }
  while (parts.length > 1 && parts.join(', ').length > room) parts.shift();
  const text = parts.join(', ');
  if (waiting === undefined || text.length + 2 + waiting.length > room) return cut(text, room);
  return `${text}; ${waiting}`;
}

function paceParts({ perMinute, left, secondsLeft, priority, now }: ProgressSnapshot): string[] {
  const share = priority && secondsLeft !== undefined ? (priority.left / left) * secondsLeft : undefined;
  const done = share === undefined ? '' : ` until ${clockText(new Date(now.getTime() + share * 1000), now)}`;
  return [
    `${numberText(Math.round(perMinute))}/min`,
    ...(priority ? [`priority ${priority.priority}: ${numberText(priority.left)} left${done}`] : []),
    `${numberText(left)} left`,
    ...(secondsLeft === undefined || left === 0
      ? []
      : [
          `about ${durationText(secondsLeft)}${
            secondsLeft < 60 ? '' : ` (until ${clockText(new Date(now.getTime() + secondsLeft * 1000), now)})`
          }`,
        ]),
  ];
}

/** One line for logs: `10:42 lead/created 1,234/5,000, deal/created 0/300; 98/min, 4,066 left, about 42 min …` */
export function progressLogLine(types: readonly TypeProgress[], pace: ProgressSnapshot): string {
  const counts = types.map(
    (each) => `${each.type} ${countText(each)}${each.rejected > 0 ? ` (${numberText(each.rejected)} rejected)` : ''}`,
  );
  const isSerious = pace.waiting && pace.waiting.reason !== 'rate' ? [waitingText(pace.waiting)] : [];
  return [timeText(pace.now) + counts.join(', '), paceParts(pace).join(', '), ...isSerious].join('; ');
}

function timeText(now: Date): string {
  return `${clockText(now, now)} `;
}

export function waitingText({ reason, nextInMs, forMs }: WaitingState): string {
  const isTried = reason === 'redis' || reason === 'credentials' || reason === 'intercepted';
  if (reason !== 'outage') return `${WAITS[reason]}, ${isTried ? 'retrying' : 'next'} in ${waitText(nextInMs)}`;
  return `${WAITS.outage} for ${durationText(forMs / 1000)}, ${nextInMs > 0 ? `next check in ${waitText(nextInMs)}` : 'checking'}`;
}

function waitText(ms: number): string {
  return ms < 10_000 ? `${(Math.max(0, ms) / 1000).toFixed(1)} s` : durationText(ms / 1000);
}

function barText({ settled, total }: TypeProgress, width: number): string {
  const full = total === 0 ? width : Math.floor((settled / total) * width);
  return '█'.repeat(full) + '░'.repeat(width - full);
}

function countText({ acknowledged, total }: TypeProgress): string {
  return `${numberText(acknowledged)}/${numberText(total)}`;
}

function cut(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}

const RECENT_MS = 5 * 60_000;

/**
 * Measures the events settled per minute over the last five minutes and estimates the time left. The first window is
 * sent in a burst, so the rate is never measured over less than a window. When hours with another rate begin or end, it is
 * measured anew.
 */
export class RateMeter {
  readonly #rate: Rate;
  #quota: Quota | undefined;
  #samples: { at: number; settled: number }[] = [];

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** `now` in milliseconds of a clock that is never set; `left`: number of events still to be sent; `wall`: the time of day. */
  measure(
    now: number,
    settled: number,
    left: number,
    wall = Date.now(),
  ): Pick<ProgressSnapshot, 'perMinute' | 'secondsLeft'> {
    const quota = rateAt(this.#rate, wall);
    if (quota !== this.#quota) this.#samples = [];
    this.#quota = quota;
    const last = this.#samples.at(-1);
    if (!last || now - last.at >= 1_000) this.#samples.push({ at: now, settled });
    while (this.#samples.length > 1 && this.#samples[1]!.at <= now - RECENT_MS) this.#samples.shift();
    const first = this.#samples[0]!;
    return paceOf({ settled: settled - first.settled, ms: now - first.at, left }, this.#rate, wall);
  }
}

/**
 * Speed and time left of a run that settled this many events in the last `ms` milliseconds; `wall`: the time of day.
 * `secondsLeft`: undefined if it stands still.
 */
export function paceOf(
  { settled, ms, left }: { readonly settled: number; readonly ms: number; readonly left: number },
  rate: Rate,
  wall: number,
): Pick<ProgressSnapshot, 'perMinute' | 'secondsLeft'> {
  const { seconds } = rateAt(rate, wall);
  const perMinute = (settled * 60_000) / Math.max(seconds * 1000, ms);
  const atBest = secondsToSend(left, rate, wall);
  if (ms < seconds * 1000) return { perMinute, secondsLeft: atBest };
  if (perMinute === 0) return { perMinute, secondsLeft: undefined };
  const share = perMinute / perMinuteAt(rate, wall);
  return { perMinute, secondsLeft: Math.max(atBest - seconds, secondsToSend(left / share, rate, wall)) };
}
