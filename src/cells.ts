/** What a spreadsheet takes for a formula, or what our own prefix would be mistaken for. */
const NEEDS_PREFIX = /^(?:[=+\-@\t\r]|'[=+\-@\t\r'])/;
const HAS_PREFIX = /^'[=+\-@\t\r']/;

/** A cell that a spreadsheet does not run as a formula: `'` is put before it where it could be one. `restore` undoes it. */
export function neutralise(cell: string): string {
  return NEEDS_PREFIX.test(cell) ? `'${cell}` : cell;
}

/** The cell as it was before `neutralise`: `restore(neutralise(cell)) === cell`, whatever the cell. */
export function restore(cell: string): string {
  return HAS_PREFIX.test(cell) ? cell.slice(1) : cell;
}
