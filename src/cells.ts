/** What a spreadsheet would run as a formula, and what could be mistaken for a cell that already has the prefix. */
const NEEDS_PREFIX = /^(?:[=+\-@\t\r]|'[=+\-@\t\r'])/;
const HAS_PREFIX = /^'[=+\-@\t\r']/;

/** Prefixes a cell with `'` if a spreadsheet could run it as a formula. `restore` removes the prefix. */
export function neutralise(cell: string): string {
  return NEEDS_PREFIX.test(cell) ? `'${cell}` : cell;
}

/** The cell as it was before `neutralise`: `restore(neutralise(cell)) === cell` for every cell. */
export function restore(cell: string): string {
  return HAS_PREFIX.test(cell) ? cell.slice(1) : cell;
}
