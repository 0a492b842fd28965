/** Figures for programs: one JSON text in which numbers are as precise as they are meant. Pure. */

/** Of seconds, rates and shares, more digits say nothing. */
const DIGITS = 3;

export function jsonOf(figures: object): string {
  return JSON.stringify(figures, (_, value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toFixed(DIGITS)) : value,
  );
}
