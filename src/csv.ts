import { neutralise } from './cells.ts';

/** One line of CSV, RFC 4180 with LF; cells that a spreadsheet would run as a formula are neutralised. */
export function csvLine(cells: readonly (string | number | undefined)[]): string {
  return `${cells.map((cell) => asCell(String(cell ?? ''))).join(',')}\n`;
}

/** Nothing that a spreadsheet runs, and nothing to put into quotes: most cells, told in one look. */
const HARMLESS = /^\w[\w./:-]*$/;

function asCell(cell: string): string {
  return HARMLESS.test(cell) ? cell : quoted(neutralise(cell));
}

function quoted(cell: string): string {
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
