/** What totals are called in the languages of exports. */
const WORDS = [
  'total|totals|sum|grand total|subtotal|sub-total',
  'summe|gesamt|gesamtsumme|zwischensumme|totaal|totalt|i alt|summa|yhteensä',
  'total general|total général|totale|totale generale|suma|soma|somme',
  'razem|łącznie|celkem|součet|spolu|ukupno|skupaj|общо|итого|всего|сумма|разом|всього|kopā|iš viso|kokku|összesen',
  'toplam|genel toplam|σύνολο|סה"כ|المجموع|الإجمالي|jumlah|tổng|tổng cộng|รวม|合计|总计|合計|小計|総計|합계|총계',
].join('|');
const TOTAL = new RegExp(`^(?:${WORDS})(?: \\(?\\d+\\)?)?\\s*:?$`, 'iu');
/** `Total: 41 customers` */
const COUNTED = new RegExp(`^(?:${WORDS})[\\s:].*\\d`, 'iu');
/** An amount or a count, however it is written. */
const FIGURE = /^[\p{Sc}\p{Lu}]{0,4}\s?[-+(]?[\d.,'\s\u00a0]*\d[)%]?\s?[\p{Sc}\p{Lu}]{0,4}$/u;

/**
 * A row of totals: without an id, or with the word in its place, and with nothing but figures beside it, or a lone cell with a count.
 * Only the last rows of a file are; in the middle it is a record.
 */
export function isTotal(cells: readonly string[]): boolean {
  const filled: string[] = [];
  for (const cell of cells) {
    const text = cell.trim();
    if (text !== '') filled.push(text);
    if (filled.length * 2 > cells.length + 1) return false;
  }
  if (filled.length === 1) return COUNTED.test(filled[0]!);
  return (
    (cells[0]!.trim() === '' || TOTAL.test(filled[0]!)) &&
    filled.some((cell) => TOTAL.test(cell)) &&
    filled.every((cell) => TOTAL.test(cell) || FIGURE.test(cell))
  );
}
