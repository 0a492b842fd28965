/**
 * Local times to instants. Luxon knows the offsets; the rule for the two awkward hours a year is ours and fixed: a local
 * time inside a daylight-saving gap does not exist, of one that occurs twice the first is meant.
 */
import { FixedOffsetZone, IANAZone, type Zone } from 'luxon';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export interface LocalTime {
  /** Milliseconds since 1970 in UTC; undefined where the local time does not exist. */
  readonly instant: number | undefined;
  readonly twice: boolean;
}

/** `local` is the local time as if it stood in UTC. */
export type ZoneReader = (local: number) => LocalTime;

const readers = new Map<string, ZoneReader>();

export function zoneReader(name: string): ZoneReader {
  const known = readers.get(name);
  if (known) return known;
  const reader = compileZone(/^utc$/i.test(name) ? FixedOffsetZone.utcInstance : IANAZone.create(name));
  readers.set(name, reader);
  return reader;
}

/** The offset in milliseconds that holds in a zone at an instant. */
export function offsetAt(zone: string, instant: number): number {
  return IANAZone.create(zone).offset(instant) * MINUTE;
}

function compileZone(zone: Zone): ZoneReader {
  const offset = (instant: number): number => Math.round(zone.offset(instant) * MINUTE);
  /** Offset of every local day on which, and on whose neighbours, it does not change; NaN for the others. */
  const days = new Map<number, number>();
  const answer = { instant: 0 as number | undefined, twice: false };
  return (local) => {
    const day = Math.floor(local / DAY);
    let steady = days.get(day);
    if (steady === undefined) {
      steady = steadyOffset(offset, day * DAY);
      days.set(day, steady);
    }
    if (Number.isNaN(steady)) return resolve(offset, local);
    answer.instant = local - steady;
    return answer;
  };
}

/** Offsets are at most 14 hours, so what holds from a day before to two days after holds for the whole local day. */
function steadyOffset(offset: (instant: number) => number, start: number): number {
  const first = offset(start - DAY);
  for (let hours = -12; hours <= 48; hours += 12) if (offset(start + hours * HOUR) !== first) return Number.NaN;
  return first;
}

function resolve(offset: (instant: number) => number, local: number): LocalTime {
  const instants = new Set<number>();
  for (let hours = -24; hours <= 24; hours += 6) {
    const candidate = offset(local + hours * HOUR);
    if (offset(local - candidate) === candidate) instants.add(local - candidate);
  }
  if (instants.size === 0) return { instant: undefined, twice: false };
  return { instant: Math.min(...instants), twice: instants.size > 1 };
}
