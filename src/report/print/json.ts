/** Figures for programs: one JSON text in which numbers are as precise as they are meant. Pure. */
import type { Figures } from '../figures/figures.ts';

/** Of seconds, rates and shares, more digits say nothing. */
const DIGITS = 3;

/** Figures that have names of their own: a summary, a status, a verification, a story. */
export function jsonOf(figures: object): string {
  return JSON.stringify(figures, (_, value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toFixed(DIGITS)) : value,
  );
}

/** Figures as sections, with all of their rows: how many a screen shows is no figure. */
export function figuresJson({ sections, ...figures }: Figures, files: Readonly<Record<string, string>>): string {
  return jsonOf({ ...figures, sections: sections.map(({ limit: _limit, ...section }) => section), files });
}
