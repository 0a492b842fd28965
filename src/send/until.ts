/** When a run is to stop (`--until`). */
import { systemClock } from '../clock.ts';
import { EXIT } from '../errors.ts';
import type { Halt } from '../halt.ts';
import { zoneOffset, zoneReader } from '../mapping/transforms/zone.ts';
import type { StopTime } from '../settings/run-settings.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The moment, or the next moment at which a clock in the zone shows that time. `zone`: `defaults.timezone` of the mapping, or else the zone
 * of this machine.
 */
export function momentOf(
  stop: StopTime,
  zone = new Intl.DateTimeFormat().resolvedOptions().timeZone,
  now = systemClock.wall(),
): Date {
  if (stop instanceof Date) return stop;
  const offset = zoneOffset(zone)(now);
  const local = 'local' in stop ? stop.local : nextAt(stop.hours * 60 + stop.minutes, now + offset);
  // A time that a change of the clocks skips: the moment at which it would have been.
  return new Date(zoneReader(zone)(local).instant ?? local - offset);
}

function nextAt(minutes: number, now: number): number {
  const today = Math.floor(now / DAY_MS) * DAY_MS + minutes * 60_000;
  return today > now ? today : today + DAY_MS;
}

/** Checks the wall clock every second: a single timer would be late by the time that the machine slept. */
export function haltAt(time: Date, halt: Halt): () => void {
  const check = (): void => {
    if (systemClock.wall() < time.getTime()) return;
    halt.request({ code: 'until', message: 'the --until time was reached', exitCode: EXIT.stopped });
  };
  check();
  return systemClock.every(1000, check);
}
