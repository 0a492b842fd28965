import type { Database, SqlValue } from './sqlite.ts';

/** Rows of one statement. More of them gain nothing. */
const ROWS = 32;

/** Inserts rows into a new table, several with one statement: half of what a row costs is the call. */
export class Batch {
  readonly #db: Database;
  readonly #one: string;
  readonly #many: string;
  readonly #columns: number;
  #values: SqlValue[] = [];
  #last = 0;

  /** `insert`: the statement for some `values`. The first of their columns is the primary key. */
  constructor(db: Database, insert: (rows: string) => string, columns: number) {
    const row = `(${Array(columns).fill('?').join(', ')})`;
    this.#db = db;
    this.#one = insert(`values ${row}`);
    this.#many = insert(`values ${Array(ROWS).fill(row).join(', ')}`);
    this.#columns = columns;
  }

  /** Returns the key of the row: from 1 in the order of calls. */
  add(...values: readonly SqlValue[]): number {
    this.#last += 1;
    this.#values.push(this.#last, ...values);
    if (this.#values.length === ROWS * this.#columns) {
      this.#db.run(this.#many, ...this.#values);
      this.#values = [];
    }
    return this.#last;
  }

  /** Writes the rows that are left. */
  flush(): void {
    for (let at = 0; at < this.#values.length; at += this.#columns) {
      this.#db.run(this.#one, ...this.#values.slice(at, at + this.#columns));
    }
    this.#values = [];
  }
}
