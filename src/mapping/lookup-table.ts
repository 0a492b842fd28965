/** What a lookup reads of another source: one value per text that it matches. */
import type { JsonValue } from '../json.ts';
import type { Row } from '../model.ts';
import type { Source } from '../source/source.ts';
import { ValueError, type Result, originalText, textOf } from './result.ts';
import { RowContext, type Evaluate } from './row-context.ts';
import type { Path } from './document.ts';
import type { Location, Problem } from '../problem.ts';
import { counted } from '../numbers.ts';

/** Marks a text that several records match with different values. */
export const SEVERAL = Symbol('several');

type LookedUp = Result | typeof SEVERAL;

/** The values of one source's records by the text they match. Nothing else of that source is kept in memory. */
export class LookupTable {
  readonly source: Source;
  /** Tables used by its `match` and `take` have lower levels and are built first. */
  readonly level: number;
  /** The columns and paths that it reads. */
  readonly paths: readonly string[];
  readonly #match: Evaluate;
  readonly #take: Evaluate;
  readonly #firstWins: boolean;
  /** Undefined for a record that is there and has no value. */
  readonly #values = new Map<string, LookedUp>();
  unusable = 0;

  constructor(from: {
    readonly source: Source;
    readonly level: number;
    readonly paths: readonly string[];
    readonly match: Evaluate;
    readonly take: Evaluate;
    readonly firstWins: boolean;
  }) {
    this.source = from.source;
    this.level = from.level;
    this.paths = from.paths;
    this.#match = from.match;
    this.#take = from.take;
    this.#firstWins = from.firstWins;
  }

  /** Returns a promise only where an expression is asynchronous. */
  add(record: Row, row: RowContext): void | Promise<void> {
    const read = this.#read(record, row);
    if (row.waits) return this.#addInRounds(record, row);
    this.#keep(read);
  }

  async #addInRounds(record: Row, row: RowContext): Promise<void> {
    let read: [Result, Result];
    do {
      await row.settle();
      read = this.#read(record, row);
    } while (row.waits);
    row.forgetAnswers();
    this.#keep(read);
  }

  #keep([match, take]: [Result, Result]): void {
    if (match instanceof ValueError) this.unusable += 1;
    else if (Array.isArray(match))
      for (const element of match as readonly JsonValue[]) this.#put(textOf(element), take);
    else this.#put(textOf(match), take);
  }

  find(text: string): LookedUp {
    return this.#values.get(text);
  }

  has(text: string): boolean {
    return this.#values.has(text);
  }

  #read(record: Row, row: RowContext): [Result, Result] {
    row.begin(record);
    return [this.#match(row), this.#take(row)];
  }

  #put(text: string | undefined, take: Result): void {
    if (text === undefined) return;
    const known = this.#values.get(text);
    if (known === undefined) this.#values.set(text, take);
    else if (!this.#firstWins && known !== SEVERAL && take !== undefined && !sameValue(known, take))
      this.#values.set(text, SEVERAL);
  }
}

function sameValue(a: JsonValue | ValueError, b: JsonValue | ValueError): boolean {
  if (a instanceof ValueError || b instanceof ValueError) return a === b;
  return originalText(a) === originalText(b);
}

interface Warnings {
  readonly warnings: Problem[];
  locate(path: Path, part?: 'key' | 'value'): Location;
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
    for (const { source, paths: read } of this.#tables.values()) {
      paths.set(source.name, new Set([...(paths.get(source.name) ?? []), ...read]));
    }
    return paths;
  }

  /** Reads every source that lookups use, once per level of nested lookups. */
  async build(compilation: Warnings): Promise<void> {
    const tables = [...this.#tables.values()];
    for (const level of [...new Set(tables.map((table) => table.level))].sort((a, b) => a - b)) {
      const now = tables.filter((table) => table.level === level);
      for (const source of new Set(now.map((table) => table.source))) {
        await readInto(
          source,
          now.filter((table) => table.source === source),
          compilation,
        );
      }
    }
  }
}

async function readInto(source: Source, tables: readonly LookupTable[], compilation: Warnings): Promise<void> {
  const row = new RowContext();
  let unreadable = 0;
  for await (const batch of source.batches()) {
    for (const item of batch) {
      if (item.kind === 'unreadable') unreadable += 1;
      else {
        for (const table of tables) {
          const adding = table.add(item, row);
          if (adding) await adding;
        }
      }
    }
  }
  const unusable = unreadable + tables.reduce((most, table) => Math.max(most, table.unusable), 0);
  if (unusable === 0) return;
  compilation.warnings.push({
    code: 'lookup_unreadable',
    severity: 'warning',
    message: `${counted(unusable, 'record')} of source \`${source.name}\` could not be read for a lookup`,
    at: compilation.locate(['sources', source.name], 'key'),
  });
}
