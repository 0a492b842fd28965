/**
 * Where a spreadsheet can begin a cell: at the start of ours, and after a separator or line break inside it, since a program
 * that splits lines at `;` or tab does not see our quotes.
 */
const START = String.raw`(?<![^;\t\r\n])`;
/** What it would run as a formula, also when it drops quotes and blanks or reads full-width signs. */
const FORMULA = String.raw`(?=(?:['"]|[^\S\t\r\n])*[=+\-@＝＋－＠])`;
/** A cell that begins with a tab or a line break is a formula for programs that drop it. */
const BLANK_START = String.raw`^(?='*[\t\r\n])`;

/** Most cells have none of these signs, and this test takes a tenth of the time. */
const MAY_NEED_PREFIX = /[=+\-@＝＋－＠\t\r\n]/;
const NEEDS_PREFIX = new RegExp(`${START}${FORMULA}|${BLANK_START}`, 'g');
const PREFIX = new RegExp(`${START}'${FORMULA}|^'${BLANK_START.slice(1)}`, 'g');

/** Prefixes each part of a cell that a spreadsheet could run as a formula with `'`. `restore` removes the prefixes. */
export function neutralise(cell: string): string {
  return MAY_NEED_PREFIX.test(cell) ? cell.replace(NEEDS_PREFIX, "'") : cell;
}

/** The cell as it was before `neutralise`: `restore(neutralise(cell)) === cell` for every cell. */
export function restore(cell: string): string {
  return cell.replace(PREFIX, '');
}

interface LineStyle {
  readonly delimiter: string;
  readonly lineEnd: string;
}

/** One line of CSV (RFC 4180, but with LF). Cells that a spreadsheet would run as a formula are neutralised. */
export function csvLine(
  cells: readonly (string | number | undefined)[],
  { delimiter, lineEnd }: LineStyle = { delimiter: ',', lineEnd: '\n' },
): string {
  return `${cells.map((cell) => quoted(neutralise(String(cell ?? '')), delimiter)).join(delimiter)}${lineEnd}`;
}

/** The first line of a file that people open: with a byte-order mark, spreadsheets read it as UTF-8. */
export function csvHead(columns: readonly string[]): string {
  return `\ufeff${csvLine(columns)}`;
}

function quoted(cell: string, delimiter: string): string {
  return /[",\r\n]|^\s|\s$/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
