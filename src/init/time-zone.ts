/** The time zone of dates without an offset, if the country of the exports has only one. */
import type { ExportColumn } from './columns.ts';

/** The `timezone` of `defaults`, with its reason. `country`: that of phone numbers or addresses, if it is clear. */
export function timezoneLine(columns: readonly ExportColumn[], country: string | undefined): string {
  if (!columns.some(hasNoOffset)) return '  timezone: UTC # no date is without an offset';
  const unset = '  timezone: UTC # set this: the time zone of dates without an offset, such as Europe/Rome';
  const zone = country === undefined ? undefined : onlyZone(country);
  if (zone === undefined) return unset;
  const known = offsetsOf(zone);
  const other = offsetsIn(columns).find((offset) => !known.includes(offset));
  if (other !== undefined) return `${unset}; the country is ${country}, but dates have the offset ${other}`;
  return `  timezone: ${zone} # check: dates without an offset are in it, because the country is ${country}, which has one time zone`;
}

/** Undefined if the country has zones with different times. */
function onlyZone(country: string): string | undefined {
  // Node 20 has the property, later versions the method.
  const locale = new Intl.Locale(`und-${country}`) as { timeZones?: string[]; getTimeZones?(): string[] };
  const [first, ...others] = locale.getTimeZones?.() ?? locale.timeZones ?? [];
  if (first === undefined) return undefined;
  const times = offsetsOf(first).join();
  return others.every((zone) => offsetsOf(zone).join() === times) ? first : undefined;
}

/** In January and July, as `+01:00`. */
function offsetsOf(timeZone: string): string[] {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  return [0, 6].map((month) => {
    const name = format.formatToParts(new Date(Date.UTC(2024, month, 1))).find(({ type }) => type === 'timeZoneName');
    return name?.value.replace('GMT', '') || '+00:00';
  });
}

/** Offsets written in dates, except that of UTC, which APIs write for every zone. */
function offsetsIn(columns: readonly ExportColumn[]): string[] {
  const found = new Set<string>();
  for (const { date, values } of columns) {
    for (const value of date?.hasTime ? values : []) {
      const [, hours, minutes] = /\d\d:\d\d(?::\d\d(?:\.\d+)?)?([+-]\d\d):?(\d\d)$/.exec(value) ?? [];
      if (hours !== undefined) found.add(`${hours}:${minutes}`);
    }
  }
  found.delete('+00:00');
  return [...found];
}

function hasNoOffset({ date, values }: ExportColumn): boolean {
  if (date === undefined || date.formats.some((format) => format.startsWith('unix'))) return false;
  return values.some((value) => !/(?:Z|UTC|[+-]\d\d:?\d\d)$/.test(value) || /^\d+-\d+-\d+$/.test(value));
}
