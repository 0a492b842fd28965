/**
 * Converts local times to instants with the offsets of Node's Intl. A local time within a daylight saving gap does not
 * exist; of one that occurs twice, the first is used.
 */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export interface LocalTime {
  /** Milliseconds since 1970 in UTC; undefined where the local time does not exist. */
  readonly instant: number | undefined;
  readonly twice: boolean;
}

/** `local` is the local time as if it were UTC. */
export type ZoneReader = (local: number) => LocalTime;

/** The offset at an instant, in milliseconds. */
export type ZoneOffset = (instant: number) => number;

export function zoneOffset(name: string): ZoneOffset {
  const format = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
  return (instant) => {
    const [, sign, hours = '0', minutes = '0', seconds = '0'] =
      /GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/.exec(format.format(instant)) ?? [];
    const size = Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * 1000;
    return sign === '-' ? -size : size;
  };
}

/** Asks Intl, which takes microseconds, once per day. No zone is known to have changed its offset twice within a day. */
export function zoneReader(name: string): ZoneReader {
  const offset = zoneOffset(name);
  const midnights = new Map<number, number>();
  const atMidnight = (day: number): number => {
    const known = midnights.get(day);
    if (known !== undefined) return known;
    const found = offset(day * DAY);
    midnights.set(day, found);
    return found;
  };
  /** The instants at which the offset changes, by day. */
  const changes = new Map<number, number>();
  const offsetAt: ZoneOffset = (instant) => {
    const day = Math.floor(instant / DAY);
    const first = atMidnight(day);
    const next = atMidnight(day + 1);
    if (first === next) return first;
    const change = changes.get(day) ?? changeBetween(offset, day * DAY, (day + 1) * DAY);
    changes.set(day, change);
    return instant < change ? first : next;
  };
  return (local) => {
    const day = Math.floor(local / DAY);
    const before = atMidnight(day - 1);
    const steady = [day, day + 1, day + 2].every((next) => atMidnight(next) === before);
    return steady ? { instant: local - before, twice: false } : resolve(offsetAt, local);
  };
}

/** The first instant with the new offset. */
function changeBetween(offset: ZoneOffset, from: number, to: number): number {
  const before = offset(from);
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offset(middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

function resolve(offset: ZoneOffset, local: number): LocalTime {
  const instants = new Set<number>();
  for (let hours = -24; hours <= 24; hours += 6) {
    const candidate = offset(local + hours * HOUR);
    if (offset(local - candidate) === candidate) instants.add(local - candidate);
  }
  if (instants.size === 0) return { instant: undefined, twice: false };
  return { instant: Math.min(...instants), twice: instants.size > 1 };
}
