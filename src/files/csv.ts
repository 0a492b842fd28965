/**
 * Where a spreadsheet can begin a cell: at the start of ours, and after a separator or line break inside it, since a program
 * that splits lines at `;` or tab does not see our quotes.
 */
const START = String.raw`(?<![^;\t\r\n])`;
/** What it would run as a formula, also when it drops quotes and blanks or reads full-width signs. */
const FORMULA = String.raw`(?=(?:['"]|[^\S\t\r\n])*[=+\-@＝＋－＠])`;
/** A cell that begins with a tab or a line break is a formula for programs that drop it. */
const BLANK_START = String.raw`^(?='*[\t\r\n])`;

/** What a terminal would run when the file is shown on it, and texts that look like what is written instead. */
const CONTROL = /(?![\t\r\n])\p{Cc}|\[(?=U\+[\dA-F]{4}\])/gu;
const SHOWN_CONTROL = /\[U\+([\dA-F]{4})\]/g;

/** Most cells have none of these signs, and this test takes a tenth of the time. */
const MAY_NEED_PREFIX = /[=+\-@＝＋－＠\t\r\n]/;
const MAY_NEED_SHOWING = /[\p{Cc}[]/u;
const NEEDS_PREFIX = new RegExp(`${START}${FORMULA}|${BLANK_START}`, 'g');
const PREFIX = new RegExp(`${START}'${FORMULA}|^'${BLANK_START.slice(1)}`, 'g');

/**
 * Prefixes each part of a cell that a spreadsheet could run as a formula with `'`, and writes control characters as `[U+001B]`. `restore`
 * takes both back.
 */
export function neutralise(cell: string): string {
  const shown = MAY_NEED_SHOWING.test(cell) ? cell.replace(CONTROL, codePointOf) : cell;
  return MAY_NEED_PREFIX.test(shown) ? shown.replace(NEEDS_PREFIX, "'") : shown;
}

function codePointOf(character: string): string {
  return `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** The cell as it was before `neutralise`: `restore(neutralise(cell)) === cell` for every cell. */
export function restore(cell: string): string {
  return cell
    .replace(PREFIX, '')
    .replace(SHOWN_CONTROL, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

interface LineStyle {
  readonly delimiter: string;
  readonly lineEnd: string;
}

/** One line of CSV (RFC 4180, but with LF). Formulas and control characters are neutralised. */
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
