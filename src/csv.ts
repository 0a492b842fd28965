import { neutralise } from './cells.ts';

/** One line of CSV (RFC 4180, but with LF). Cells that a spreadsheet would run as a formula are neutralised. */
export function csvLine(cells: readonly (string | number | undefined)[]): string {
  return `${cells.map((cell) => quoted(neutralise(String(cell ?? '')))).join(',')}\n`;
}

function quoted(cell: string): string {
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
