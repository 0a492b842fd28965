/** The limit that `--rate` sets: a rate, and other ones within some hours of the week. Pure; instants are milliseconds since 1970. */
import { numberText } from './numbers.ts';
import { LIMITS } from './service/contract.ts';

/** Requests per sliding window. */
export interface Quota {
  readonly requests: number;
  readonly seconds: number;
}

/** The quota outside of all hours, and those within hours. All have the same window. */
export interface Rate extends Quota {
  readonly hours?: readonly RatedHours[];
  /** IANA zone of the hours; the zone of the machine by default. */
  readonly timezone?: string | undefined;
}

/** The quota within these hours. */
export interface RatedHours extends Quota {
  /** Minutes since midnight. If `until` is not after `from`, the hours end on the next day. */
  readonly from: number;
  readonly until: number;
  /** Days on which the hours begin; 0 is Sunday. */
  readonly days: readonly number[];
  /** As the user wrote them: `08:00-19:00 mon-fri`. */
  readonly text: string;
}

export const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

const DAY_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;
/** Every change of an offset from UTC is at a multiple of it. */
const QUARTER_MS = 15 * MINUTE_MS;
/** How far ahead hours are looked up one by one. */
const LOOK_AHEAD_MS = 84 * DAY_MINUTES * MINUTE_MS;

/** The quota that holds at this instant: the lowest, where several hours overlap. Always the same object. */
export function rateAt(rate: Rate, at: number): Quota {
  if (!rate.hours) return rate;
  const local = localTime(at, rate.timezone);
  const current = rate.hours.filter((each) => includes(each, local));
  return current.reduce<Quota>((lowest, each) => (each.requests < lowest.requests ? each : lowest), current[0] ?? rate);
}

/** Requests per minute that the rate allows at this instant. */
export function perMinuteAt(rate: Rate, at: number): number {
  const { requests, seconds } = rateAt(rate, at);
  return (requests * 60) / seconds;
}

/** The most requests per window that the rate ever allows. */
export function mostRequests({ requests, hours = [] }: Rate): number {
  return Math.max(requests, ...hours.map((each) => each.requests));
}

/**
 * The rate as far as the service allows it, which admits `limit` requests per window (X-RateLimit-Limit; undefined if it
 * has not said so). A rate above the limit cannot have the service's window, so it gets the published one.
 */
export function within(limit: number | undefined, rate: Rate): Rate {
  if (limit === undefined || mostRequests(rate) <= limit) return rate;
  const seconds = Math.max(rate.seconds, LIMITS.windowSeconds);
  const most = (requests: number): number => Math.min(limit, Math.ceil((requests * seconds) / rate.seconds));
  const hours = rate.hours?.map((each) => ({ ...each, requests: most(each.requests), seconds }));
  return { ...rate, requests: most(rate.requests), seconds, ...(hours && { hours }) };
}

/** Requests per window with `reserve` of the service's limit left to others. Until it says its limit, that is `rate`. */
export function requestsLeft(requests: number, rate: Rate, { limit = mostRequests(rate), withheld = 0 }): number {
  return Math.max(1, Math.min(requests, limit - withheld));
}

/** Seconds that this many requests take from this instant on. `reserve`: requests of each window left to others. */
export function secondsToSend(requests: number, rate: Rate, from: number, reserve = 0): number {
  const msEach = (at: number): number =>
    (rate.seconds * 1000) / requestsLeft(rateAt(rate, at).requests, rate, { withheld: reserve });
  if (!rate.hours) return (requests * msEach(from)) / 1000;
  let left = requests;
  for (let at = from; ;) {
    const next = nextBoundary(rate.hours, rate.timezone, at);
    const each = msEach(at);
    if (left * each <= next - at) return (at - from + left * each) / 1000;
    left -= (next - at) / each;
    at = next;
    // What is further ahead goes as fast as the weeks before it.
    if (at - from > LOOK_AHEAD_MS) return ((at - from) * requests) / (requests - left) / 1000;
  }
}

/** `100 requests per 60 s (20 within 08:00-19:00 mon-fri)` */
export function rateText({ requests, seconds, hours = [] }: Rate): string {
  const others = hours.map((each) => `${each.requests} within ${each.text}`);
  const text = `${numberText(requests)} requests per ${numberText(seconds)} s`;
  return others.length === 0 ? text : `${text} (${others.join(', ')})`;
}

interface WeekTime {
  readonly day: number;
  /** Since midnight. */
  readonly minute: number;
}

function includes({ from, until, days }: RatedHours, { day, minute }: WeekTime): boolean {
  const isToday = days.includes(day);
  if (from < until) return isToday && minute >= from && minute < until;
  const beganYesterday = days.includes((day + 6) % 7);
  return (isToday && minute >= from) || (beganYesterday && minute < until);
}

/** The next instant at which hours may begin or end, or earlier if the offset from UTC changes before it. */
function nextBoundary(hours: readonly RatedHours[], timezone: string | undefined, at: number): number {
  const minute = localTime(at, timezone).minute;
  const ahead = hours
    .flatMap(({ from, until }) => [from, until])
    .map((boundary) => ((boundary - minute - 1 + 2 * DAY_MINUTES) % DAY_MINUTES) + 1);
  const first = Math.min(...ahead);
  const next = (Math.floor(at / MINUTE_MS) + first) * MINUTE_MS;
  const isAsExpected = localTime(next, timezone).minute === (minute + first) % DAY_MINUTES;
  return isAsExpected ? next : Math.min(next, (Math.floor(at / QUARTER_MS) + 1) * QUARTER_MS);
}

const formats = new Map<string | undefined, Intl.DateTimeFormat>();

function localTime(at: number, timezone: string | undefined): WeekTime {
  let format = formats.get(timezone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: timezone,
      hourCycle: 'h23',
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
    });
    formats.set(timezone, format);
  }
  const [, weekday, hour, minute] = /^(\w+)\W+(\d+):(\d+)/.exec(format.format(at))!;
  return {
    day: DAYS.indexOf(weekday!.toLowerCase() as (typeof DAYS)[number]),
    minute: Number(hour) * 60 + Number(minute),
  };
}
