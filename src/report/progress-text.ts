/** The words and bars of progress: pure, so that every width and state of waiting can be tried. */
import { clockText, durationText } from './text.ts';

/** Where the events of one type stand while they are sent. */
export interface TypeProgress {
  readonly type: string;
  readonly total: number;
  readonly acknowledged: number;
  /** Rejected by the service. */
  readonly rejected: number;
  /** Settled in any way, before this run too: what the bar shows. */
  readonly settled: number;
}

/** Why nothing goes out at the moment. */
export interface WaitingState {
  readonly reason: 'rate' | 'rate_limited' | 'redis' | 'outage' | 'credentials';
  readonly nextInMs: number;
  /** How long it has been so. */
  readonly forMs: number;
}

export interface ProgressSnapshot {
  /** Events settled a minute, over the last minutes. */
  readonly perMinute: number;
  /** Events still to be sent by this run. */
  readonly left: number;
  /** Undefined while nothing is known. */
  readonly secondsLeft: number | undefined;
  readonly waiting: WaitingState | undefined;
  readonly now: Date;
}

export type Colorize = (colour: 'red' | 'yellow' | 'green', text: string) => string;

/** Below this there is no room for bars. */
const NARROW = 60;
const LONGEST_BAR = 40;

/** The lines on a terminal, one a type and one for all; none is wider than `columns - 1`, so that none wraps. */
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
    const rest = `${countText(each).padStart(counts)} ${percentText(each).padStart(5)}`;
    const failed = rejected > 0 ? `${rejected.toLocaleString('en')} rejected` : '';
    if (columns < NARROW)
      return { text: cut(`${type} ${countText(each)} ${percentText(each).trim()}`, room), failed: '' };
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

/** `98 a minute, 3,766 left, about 38 min (until 21:40); window full, next in 0.6 s` */
function statusLine(pace: ProgressSnapshot, columns: number, paint: Colorize): string {
  const room = Math.max(20, columns - 1);
  const waiting = pace.waiting ? waitingText(pace.waiting) : undefined;
  const serious = pace.waiting !== undefined && pace.waiting.reason !== 'rate';
  const parts = paceParts(pace);
  // What is most worth knowing stays: an outage before the pace, the pace before a full window.
  if (serious && waiting !== undefined) {
    const withPace = `${waiting}; ${parts.join(', ')}`;
    return paint('yellow', cut(withPace.length <= room ? withPace : waiting, room));
  }
  while (parts.length > 1 && parts.join(', ').length > room) parts.shift();
  const text = parts.join(', ');
  if (waiting === undefined || text.length + 2 + waiting.length > room) return cut(text, room);
  return `${text}; ${waiting}`;
}

function paceParts({ perMinute, left, secondsLeft, now }: ProgressSnapshot): string[] {
  return [
    `${Math.round(perMinute).toLocaleString('en')} a minute`,
    `${left.toLocaleString('en')} left`,
    ...(secondsLeft === undefined || left === 0
      ? []
      : [
          `about ${durationText(secondsLeft)}${
            secondsLeft < 60 ? '' : ` (until ${clockText(new Date(now.getTime() + secondsLeft * 1000), now)})`
          }`,
        ]),
  ];
}

/** One line for logs: `10:42 lead/created 1,234/5,000, deal/created 0/300; 98 a minute, 4,066 left, about 42 min …` */
export function progressLogLine(types: readonly TypeProgress[], pace: ProgressSnapshot): string {
  const counts = types.map(
    (each) =>
      `${each.type} ${countText(each)}${each.rejected > 0 ? ` (${each.rejected.toLocaleString('en')} rejected)` : ''}`,
  );
  const serious = pace.waiting && pace.waiting.reason !== 'rate' ? [waitingText(pace.waiting)] : [];
  return [timeText(pace.now) + counts.join(', '), paceParts(pace).join(', '), ...serious].join('; ');
}

function timeText(now: Date): string {
  return `${clockText(now, now)} `;
}

export function waitingText({ reason, nextInMs, forMs }: WaitingState): string {
  const next = waitText(nextInMs);
  switch (reason) {
    case 'rate':
      return `window full, next in ${next}`;
    case 'rate_limited':
      return `the service asks to wait (429), next in ${next}`;
    case 'redis':
      return `Redis, which shares the limit, cannot be reached; trying again in ${next}`;
    case 'outage':
      return `service down for ${durationText(forMs / 1000)}, ${nextInMs > 0 ? `probing in ${next}` : 'probing'}`;
    case 'credentials':
      return `credentials refused, once more in ${next}`;
  }
}

function waitText(ms: number): string {
  return ms < 10_000 ? `${(Math.max(0, ms) / 1000).toFixed(1)} s` : durationText(ms / 1000);
}

function barText({ settled, total }: TypeProgress, width: number): string {
  const full = total === 0 ? width : Math.floor((settled / total) * width);
  return '█'.repeat(full) + '░'.repeat(width - full);
}

function countText({ acknowledged, total }: TypeProgress): string {
  return `${acknowledged.toLocaleString('en')}/${total.toLocaleString('en')}`;
}

/** 100 % only when all is settled. */
function percentText({ settled, total }: TypeProgress): string {
  return `${total === 0 ? 100 : Math.floor((settled / total) * 100)} %`;
}

function cut(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}

const RECENT_MS = 5 * 60_000;

/** Requests per sliding window that the limit allows. */
interface AllowedRate {
  readonly requests: number;
  readonly seconds: number;
}

/**
 * Events settled a minute over the last five minutes, and what that means for the rest. The first window goes out in a
 * burst, so nothing is measured over less than a window.
 */
export class RateMeter {
  readonly #allowed: AllowedRate;
  readonly #samples: { at: number; settled: number }[] = [];

  constructor(allowed: AllowedRate) {
    this.#allowed = allowed;
  }

  /** `now` in milliseconds; `left` are the events still to be sent. */
  measure(now: number, settled: number, left: number): Pick<ProgressSnapshot, 'perMinute' | 'secondsLeft'> {
    const last = this.#samples.at(-1);
    if (!last || now - last.at >= 1_000) this.#samples.push({ at: now, settled });
    while (this.#samples.length > 1 && this.#samples[1]!.at <= now - RECENT_MS) this.#samples.shift();
    const { requests, seconds } = this.#allowed;
    const first = this.#samples[0]!;
    const measured = now - first.at;
    const perMinute = ((settled - first.settled) * 60_000) / Math.max(seconds * 1000, measured);
    const atBest = (left / requests) * seconds;
    if (measured < seconds * 1000) return { perMinute, secondsLeft: atBest };
    return { perMinute, secondsLeft: perMinute > 0 ? Math.max(atBest - seconds, (left / perMinute) * 60) : undefined };
  }
}
