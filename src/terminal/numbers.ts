/** How numbers are written for people: everywhere the same. */

const COUNTS = new Intl.NumberFormat('en');

/** `3,900` */
export function numberText(value: number): string {
  return COUNTS.format(value);
}

/** `1 event`, `2 events`, `1,234 events`. */
export function counted(count: number, noun: string): string {
  return `${numberText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `87 %`, or `87.5 %` with one digit. Rounded down, so that only all of them are 100 %; of none, they are. */
export function percentText(part: number, of: number, digits: 0 | 1 = 0): string {
  const unit = 10 ** digits;
  return `${of === 0 ? 100 : Math.floor((part / of) * 100 * unit) / unit} %`;
}
