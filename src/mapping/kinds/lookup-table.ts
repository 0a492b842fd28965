/** The values that a lookup reads from another source: one for each text that it matches. */
import { cellText, type JsonValue } from '../../json.ts';
import type { Row } from '../../model.ts';
import type { Source } from '../../input/source.ts';
import type { Lack } from '../not-in-export.ts';
import { RowContext, textOf, type Evaluate, type Result } from '../values/result.ts';
import { Problem } from '../../problem.ts';

/** Marks a text that several records match with different values. */
export const SEVERAL = Symbol('several');

type LookedUp = Result | typeof SEVERAL;

interface TableSpec {
  readonly source: Source;
  /** Tables used by its `match` and `take` have lower levels and are built first. */
  readonly level: number;
  /** The columns and paths that it reads. */
  readonly paths: readonly string[];
  /** What its source does not have. */
  readonly lacking: readonly Lack[];
  readonly match: Evaluate;
  readonly take: Evaluate;
  readonly firstWins: boolean;
}

/** The values of one source's records by the text they match. Nothing else of that source is kept in memory. */
export class LookupTable {
  readonly spec: TableSpec;
  /** Undefined for a record that is there and has no value. */
  readonly values = new Map<string, LookedUp>();
  unusable = 0;

  constructor(spec: TableSpec) {
    this.spec = spec;
  }

  add(record: Row, row: RowContext): void {
    row.begin(record);
    const match = this.spec.match(row);
    const take = this.spec.take(row);
    if (match instanceof Problem) this.unusable += 1;
    else for (const element of [match].flat() as (JsonValue | undefined)[]) this.#put(textOf(element), take);
  }

  #put(text: string | undefined, take: Result): void {
    if (text === undefined) return;
    const known = this.values.get(text);
    if (known === undefined) this.values.set(text, take);
    else if (!this.spec.firstWins && known !== SEVERAL && take !== undefined && !sameValue(known, take))
      this.values.set(text, SEVERAL);
  }
}

function sameValue(a: JsonValue | Problem, b: JsonValue | Problem): boolean {
  if (a instanceof Problem || b instanceof Problem) return a === b;
  return cellText(a) === cellText(b);
}

/** All tables of a mapping; equal lookups share one. */
export class LookupTables {
  readonly #tables = new Map<string, LookupTable>();

  table(key: string, make: () => LookupTable): LookupTable {
    const table = this.#tables.get(key) ?? make();
    this.#tables.set(key, table);
    return table;
  }

  /** By source: the columns and paths that are read in it. */
  paths(): ReadonlyMap<string, ReadonlySet<string>> {
    const paths = new Map<string, Set<string>>();
    for (const { source, paths: read } of Array.from(this.#tables.values(), ({ spec }) => spec)) {
      paths.set(source.name, new Set([...(paths.get(source.name) ?? []), ...read]));
    }
    return paths;
  }

  /** Reads every source that lookups use, once per level of nested lookups. Returns the sources with unusable records. */
  async build(): Promise<ReadonlyMap<string, number>> {
    const tables = [...this.#tables.values()];
    const unusable = new Map<string, number>();
    for (const level of [...new Set(tables.map(({ spec }) => spec.level))].sort((a, b) => a - b)) {
      const now = tables.filter(({ spec }) => spec.level === level);
      for (const source of new Set(now.map(({ spec }) => spec.source))) {
        const count = await readInto(
          source,
          now.filter(({ spec }) => spec.source === source),
        );
        if (count > 0) unusable.set(source.name, count);
      }
    }
    return unusable;
  }
}

async function readInto(source: Source, tables: readonly LookupTable[]): Promise<number> {
  const row = new RowContext();
  let unreadable = 0;
  for await (const batch of source.batches()) {
    for (const item of batch) {
      if (item.kind === 'unreadable') unreadable += 1;
      else for (const table of tables) table.add(item, row);
    }
  }
  return unreadable + Math.max(...tables.map(({ unusable }) => unusable));
}
