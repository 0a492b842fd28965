/** The columns or keys that a rejects file adds to a record. Only `row` is read back. */
export interface RejectColumns {
  readonly file: string;
  readonly line: string;
  readonly error: string;
  readonly row: string;
}

const ADDED = /^(_+)(?:file|line|error|row)$/;

/** What to add to a record with these columns or keys: `_file` …, with more underscores where it has such columns itself. */
export function rejectColumnsFor(names: readonly string[]): RejectColumns {
  return named(deepest(names) + 1);
}

/** What was added to a record that has these keys now. */
export function rejectColumnsIn(names: readonly string[]): RejectColumns {
  return named(Math.max(1, deepest(names)));
}

/** The most underscores before one of the names. */
function deepest(names: readonly string[]): number {
  return Math.max(0, ...names.map((name) => ADDED.exec(name)?.[1]?.length ?? 0));
}

function named(underscores: number): RejectColumns {
  const prefix = '_'.repeat(underscores);
  return { file: `${prefix}file`, line: `${prefix}line`, error: `${prefix}error`, row: `${prefix}row` };
}
