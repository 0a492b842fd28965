/** Rows of exports that are no records: what reports and old programs write around them. Pure. */

/** What DOS programs write after the last line. */
export const END_OF_FILE = '\x1a';

/** `-----`, also as Markdown writes it (`:---:`): a line below the header or above a total. */
const RULE = /^(?::-+:?|-+:|[|+]?[-=_~*─━═]{2,}[|+]?)$/;

/** A row that only rules off other rows. */
export function isRule(cells: readonly string[]): boolean {
  let filled = 0;
  for (const cell of cells) {
    const text = cell.trim();
    if (text === '') continue;
    if (!RULE.test(text)) return false;
    filled += 1;
  }
  return filled > 0 && filled * 2 >= cells.length;
}

const TOTAL =
  /^(?:grand |sub|sub-|gesamt|zwischen)?(?:total|totals|sum|summe|gesamt|total general|total général|totale|totaal|suma|soma|somme|razem|summa|итого|всего|合计|总计)(?: \(?\d+\)?)?\s*:?$/iu;
/** An amount or a count, however it is written. */
const FIGURE = /^[\p{Sc}\p{Lu}]{0,4}\s?[-+(]?[\d.,'\s\u00a0]*\d[)%]?\s?[\p{Sc}\p{Lu}]{0,4}$/u;

/**
 * A row of totals: without an id, or with the word in its place, and with nothing but figures beside it. Only the last rows of a file
 * are; in the middle it is a record.
 */
export function isTotal(cells: readonly string[]): boolean {
  const first = cells[0]!.trim();
  if (first !== '' && !TOTAL.test(first)) return false;
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
  return (
    filled.length > 1 &&
    filled.length * 2 <= cells.length + 1 &&
    filled.some((cell) => TOTAL.test(cell)) &&
    filled.every((cell) => TOTAL.test(cell) || FIGURE.test(cell))
  );
}
