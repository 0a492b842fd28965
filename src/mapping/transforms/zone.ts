/**
 * Converts local times to instants with the offsets of Node's Intl. A local time within a daylight saving gap does not
 * exist; of one that occurs twice, the first is used.
 */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

interface LocalTime {
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

/** Asks Intl once per day, because each call costs microseconds. No zone is known to have changed its offset twice within a day. */
export function zoneReader(name: string): ZoneReader {
  const offset = zoneOffset(name);
  const midnights = new Map<number, number>();
  const atMidnight = (day: number): number => {
    let known = midnights.get(day);
    if (known === undefined) midnights.set(day, (known = offset(day * DAY)));
    return known;
  };
  const around = new Map<number, readonly number[]>();
  const offsetsAround = (day: number): readonly number[] => {
    let known = around.get(day);
    if (known === undefined) around.set(day, (known = [...new Set([day - 1, day, day + 1, day + 2].map(atMidnight))]));
    return known;
  };
  return (local) => {
    const offsets = offsetsAround(Math.floor(local / DAY));
    if (offsets.length === 1) return { instant: local - offsets[0]!, twice: false };
    const found = offsets.map((each) => local - each).filter((instant) => offset(instant) === local - instant);
    return { instant: found.length === 0 ? undefined : Math.min(...found), twice: found.length > 1 };
  };
}
