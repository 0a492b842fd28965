/** What a person makes of `rejects/`: every cell that no event can have is corrected, and the mapping names the corrected rows as `fixes`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { columnsOf, lineOf, TABLES, textOf, type SourceName } from './exports.ts';
import { VALIDATED, type Cells } from './history.ts';

/** Comments are not corrected. */
const SOURCES = Object.values(TABLES).flatMap((name): SourceName[] => [name, `more_${name}`]);

export class Corrections {
  readonly #cwd: string;
  /** By source: the corrected rows, by `_row`. */
  readonly #rows = new Map<SourceName, Map<string, Readonly<Record<string, string>>>>();
  readonly #lines = new Set<string>();

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** Corrects what the last run has rejected. */
  collect(): void {
    for (const source of SOURCES) {
      const path = join(this.#cwd, '.backfill/simulated/rejects', `${source}.csv`);
      if (!existsSync(path)) continue;
      for (const row of parse<Record<string, string>>(readFileSync(path), { columns: true, bom: true })) {
        const wrong = columnsOf(source).filter((column) => VALIDATED[column] && row[column] === textOf(column, '!'));
        if (wrong.length === 0) continue;
        this.#lines.add(`${source} ${[row.id, ...columnsOf(source).map((column) => row[column])].join(',')}`);
        const known = this.#rows.get(source) ?? new Map<string, Readonly<Record<string, string>>>();
        this.#rows.set(source, known);
        known.set(row._row!, { ...row, ...Object.fromEntries(wrong.map((column) => [column, textOf(column, 'a')])) });
      }
    }
  }

  /** Writes the corrected rows beside the mapping, and their files into it. */
  write(): void {
    const mapping = join(this.#cwd, 'mapping.yaml');
    for (const [source, rows] of this.#rows) {
      const name = `corrected-${source}.csv`;
      const lines = [...rows.values()].map((row) =>
        Object.values(row).map((cell) => `"${cell.replaceAll('"', '""')}"`),
      );
      writeFileSync(
        join(this.#cwd, name),
        [Object.keys([...rows.values()][0]!), ...lines].map((cells) => `${cells.join(',')}\n`).join(''),
      );
      const text = readFileSync(mapping, 'utf8');
      writeFileSync(mapping, text.replace(`path: ${source}.csv }`, `path: ${source}.csv, fixes: ${name} }`));
    }
  }

  /** The cells of a row as they count since. */
  apply(source: SourceName, id: string, cells: Cells): Cells {
    if (!this.#lines.has(`${source} ${lineOf(id, columnsOf(source), cells)}`)) return cells;
    return Object.fromEntries(Object.entries(cells).map(([column, letter]) => [column, letter === '!' ? 'a' : letter]));
  }
}
