/** Names of columns, also of those that share one: `Email#2` is the second column named `Email`. */

const BY_POSITION = /^(.*)#([1-9]\d*)$/;

/** The index of the column that a mapping means: by its name, else by its position among those of one name; -1 if none. */
export function findColumn(columns: readonly string[], name: string): number {
  const index = columns.indexOf(name);
  const [, shared, nth] = BY_POSITION.exec(name) ?? [];
  if (index >= 0 || shared === undefined) return index;
  return positions(columns, shared)[Number(nth) - 1] ?? -1;
}

/** A name for each column that no other one has. */
export function uniqueNames(columns: readonly string[]): readonly string[] {
  return columns.map((name, index) => {
    const nth = positions(columns, name).indexOf(index) + 1;
    let unique = name;
    while (nth > 1 && columns.includes(unique)) unique += `#${nth}`;
    return unique;
  });
}

/** How a mapping names the columns that share a name. */
export function namesByPosition(columns: readonly string[], name: string): readonly string[] {
  return positions(columns, name).map((_, index) => `${name}#${index + 1}`);
}

function positions(columns: readonly string[], name: string): readonly number[] {
  return columns.flatMap((column, index) => (column === name ? [index] : []));
}
