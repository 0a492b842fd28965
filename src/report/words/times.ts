/** How durations and times of day are written for people: everywhere the same. */

/** `1 h 40 min`, `2 d 3 h`, `75 s`. */
export function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 100) return `${whole} s`;
  const minutes = Math.ceil(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `26 Nov 2026 11:46`; local, unless `zone` names another. */
export function dateText(at: Date, zone: Intl.DateTimeFormatOptions = {}): string {
  const day = { day: 'numeric', month: 'short', year: 'numeric' } as const;
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-GB', { ...day, ...time, ...zone }).format(at).replace(',', '');
}

/** `until 21:40` */
export function untilText(seconds: number, now: Date): string {
  return `until ${clockText(new Date(now.getTime() + seconds * 1000), now)}`;
}

/** A local time relative to `now`: `21:40`, `Tue 03:12`, `24 Nov 03:12`. */
export function clockText(time: Date, now: Date): string {
  const days = (time.getTime() - now.getTime()) / 86_400_000;
  const isToday = time.toDateString() === now.toDateString();
  const day: Intl.DateTimeFormatOptions =
    days > 6 || days < -1 ? { day: 'numeric', month: 'short' } : { weekday: 'short' };
  const format = new Intl.DateTimeFormat('en-GB', {
    ...(isToday ? {} : day),
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return format.format(time).replace(',', '');
}
