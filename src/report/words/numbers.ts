/** How numbers are written for people: everywhere the same. */

const COUNTS = new Intl.NumberFormat('en');

/** `3,900` */
export function numberText(value: number): string {
  return COUNTS.format(value);
}

/** `1 event`, `2 events`, `1,234 priorities`. */
export function counted(count: number, noun: string): string {
  return `${numberText(count)} ${count === 1 ? noun : `${noun.replace(/(?<![aeiou])y$/, 'ie')}s`}`;
}

/** `12 of 30`. */
export function ofText(part: number, all: number): string {
  return `${numberText(part)} of ${numberText(all)}`;
}

/** `3 skipped`, `1,234 left`: those above 0. */
export function countTexts(...counts: readonly (readonly [count: number, what: string])[]): string[] {
  return counts.flatMap(([count, what]) => (count > 0 ? [`${numberText(count)} ${what}`] : []));
}

/** More items of a list are counted. */
const MOST_LISTED = 12;

/** `A, B and C`; of a long list the first, and how many more there are. */
export function enumerated(items: readonly string[], word: 'and' | 'or'): string {
  if (items.length > MOST_LISTED) {
    return `${items.slice(0, MOST_LISTED).join(', ')} and ${items.length - MOST_LISTED} more`;
  }
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${word} ${items.at(-1)}`;
}
