import { closeSync, lstatSync } from 'node:fs';
import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';
import { isThere, openPrivate, Unusable } from '../files/private-file.ts';
import { UserError } from '../errors.ts';
import { orExplain, unusable } from './sqlite-errors.ts';

export type SqlValue = string | number | bigint | null;

/** A schema: its tables as `create` statements, and how a file with them is recognised. */
export interface Schema {
  /** What a connection calls it. */
  readonly name: string;
  /** `pragma application_id`: identifies our files. */
  readonly applicationId: number;
  /** `pragma user_version`: raised with every change of the tables. */
  readonly version: number;
  /** In bytes; that of SQLite by default. */
  readonly pageSize?: number;
  readonly tables: string;
  /** By table, the columns whose cells are JSON. */
  readonly json?: Readonly<Record<string, readonly string[]>>;
}

/**
 * A SQLite database. Statements are prepared once; rows are typed by the caller. Every error of the engine is thrown as
 * a `UserError` that names the file and says what to do.
 */
export class Database {
  readonly path: string;
  readonly #db: InstanceType<typeof DatabaseSync>;
  readonly #statements = new Map<string, StatementSyncInstance>();
  /** Files by the names under which they are attached. */
  readonly #attached = new Map<string, string>();
  readonly #reading = new Set<StatementSyncInstance>();

  private constructor(path: string, db: InstanceType<typeof DatabaseSync>) {
    this.path = path;
    this.#db = db;
  }

  /** Opens a database that exists, or creates it with mode 0600 and the tables of `schema`. `pragmas` come first. */
  static open(path: string, schema: Schema, pragmas = ''): Database {
    OPENED.set(path, schema);
    return orExplain(path, () => {
      closeSync(openPrivate(path));
      return Database.#connect(path, (db) => {
        db.#attachFile(path, schema.name);
        db.exec(pragmas);
        if (db.#isEmpty(schema.name)) db.#create(schema);
        else db.#assertIs(schema, schema.name);
      });
    });
  }

  /** Opens a database that another process may be writing, to read only. Undefined if there is none, or none yet. */
  static read(path: string, schema: Schema): Database | undefined {
    if (!isThere(path)) return undefined;
    OPENED.set(path, schema);
    return orExplain(path, () => {
      if (lstatSync(path).isFIFO()) throw new Unusable('it is a named pipe');
      const db = Database.#connect(path, (opened) => {
        opened.#attachFile(path, schema.name);
        if (!opened.#isEmpty(schema.name)) opened.#assertIs(schema, schema.name);
        opened.exec('pragma query_only = on');
      });
      if (!db.#isEmpty(schema.name)) return db;
      db.close();
      return undefined;
    });
  }

  /** The answer of a database that another process may be writing. Undefined if there is none, or none yet. */
  static ask<Answer>(path: string, schema: Schema, question: (db: Database) => Answer): Answer | undefined {
    const db = Database.read(path, schema);
    try {
      return db && question(db);
    } finally {
      db?.close();
    }
  }

  /** A database in memory. */
  static inMemory(schema: Schema): Database {
    return Database.#connect(':memory:', (db) => db.attach(undefined, schema.name, schema));
  }

  static #connect(path: string, prepare: (db: Database) => void): Database {
    const db = new Database(path, connection());
    try {
      prepare(db);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** Makes another database reachable as `name.table`; without a path, or while it has no tables, an empty one in memory. */
  attach(path: string | undefined, name: string, schema: Schema): void {
    if (path !== undefined) OPENED.set(path, schema);
    orExplain(path ?? this.path, () => {
      this.#attachFile(path ?? ':memory:', name);
      if (path !== undefined) {
        if (!this.#isEmpty(name)) return this.#assertIs(schema, name);
        this.detach(name);
        return this.attach(undefined, name, schema);
      }
      // Empty tables can be made for a connection that only reads, too.
      const only = this.get<{ query_only: number }>('pragma query_only')!.query_only;
      this.exec('pragma query_only = off');
      this.#create({ ...schema, name });
      this.exec(`pragma query_only = ${only}`);
    });
  }

  detach(name: string): void {
    this.#statements.clear();
    this.exec(`detach ${name}`);
    this.#attached.delete(name);
  }

  /** Runs one statement; returns how many rows it changed. */
  run(sql: string, ...values: readonly SqlValue[]): number {
    return this.#explained(() => Number(this.#statement(sql).run(...values).changes));
  }

  /** Inserts a row; returns its rowid. */
  insert(sql: string, ...values: readonly SqlValue[]): number {
    return this.#explained(() => Number(this.#statement(sql).run(...values).lastInsertRowid));
  }

  /** The same by its columns, of which those without a value are null; returns its rowid. */
  add(table: string, row: Readonly<Record<string, SqlValue | undefined>>): number {
    const columns = Object.keys(row);
    const places = columns.map(() => '?').join(', ');
    const values = Object.values(row).map((value) => value ?? null);
    return this.insert(`insert into ${table} (${columns.join(', ')}) values (${places})`, ...values);
  }

  get<Row>(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    return this.#explained(() => this.#statement(sql).get(...values) as Row | undefined);
  }

  /** All rows at once: for few rows, or for a page. */
  all<Row>(sql: string, ...values: readonly SqlValue[]): Row[] {
    return this.#explained(() => this.#statement(sql).all(...values) as Row[]);
  }

  /** Row by row. Nothing may be written to the tables that are read until it has ended. */
  *each<Row>(sql: string, ...values: readonly SqlValue[]): Generator<Row, void, undefined> {
    // Not the shared statement: its caller may run the same text again.
    const statement = this.#explained(() => this.#db.prepare(sql));
    const rows = this.#explained(() => statement.iterate(...values) as IterableIterator<Row>);
    // An iterator does not keep its statement: once that is collected, the process ends with a segmentation fault.
    this.#reading.add(statement);
    try {
      for (;;) {
        const next = this.#explained(() => rows.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      // A statement that its reader left halfway would keep the file locked.
      rows.return?.();
      this.#reading.delete(statement);
    }
  }

  /** Makes a function known to the statements of this connection; no schema may use it, since people open the files themselves. */
  define(name: string, evaluate: (...values: SqlValue[]) => SqlValue): void {
    this.#explained(() => this.#db.function(name, { deterministic: true, varargs: true }, evaluate));
  }

  /** Runs several statements without values. */
  exec(sql: string): void {
    this.#explained(() => this.#db.exec(sql));
  }

  /** Commits everything or nothing. `immediate`: waits for other writers before it begins, not only once it writes. */
  transaction<Result>(change: () => Result, mode: 'deferred' | 'immediate' = 'deferred'): Result {
    this.exec(`begin ${mode}`);
    try {
      const result = change();
      this.exec('commit');
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('rollback');
      throw error;
    }
  }

  /** Throws a `UserError` if a page or an index of this file is damaged. Reads all of it. */
  assertWhole(name: string): void {
    if (!this.#isWhole(name)) throw unusable(this.#attached.get(name)!, 'it is damaged', {});
  }

  get isOpen(): boolean {
    return this.#db.isOpen;
  }

  /**
   * Closes the files. A connection itself ends only when its last statement is collected. So every file is attached to it: a detached file
   * is closed at once.
   */
  close(): void {
    if (!this.#db.isOpen) return;
    this.#statements.clear();
    if (this.#db.isTransaction) this.#db.exec('rollback');
    for (const name of this.#attached.keys()) this.#db.exec(`detach ${name}`);
    this.#db.close();
  }

  #attachFile(path: string, name: string): void {
    this.#db.prepare(`attach ? as ${name}`).run(path);
    this.#attached.set(name, path);
    this.#db.exec(`pragma ${name}.cache_size = -${CACHE_KIB}`);
  }

  #explained<Result>(act: () => Result): Result {
    return orExplain(this.path, act, this.#damaged);
  }

  /** The attached file that is not as it was written. */
  readonly #damaged = (): string | undefined => [...this.#attached].find(([name]) => !this.#isWhole(name))?.[1];

  #isWhole(name: string): boolean {
    try {
      const found = this.#db.prepare(`pragma ${name}.integrity_check(1)`).get() as { integrity_check: string };
      return found.integrity_check === 'ok';
    } catch {
      // Some damage ends the check itself.
      return false;
    }
  }

  #statement(sql: string): StatementSyncInstance {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }

  #create({ name, applicationId, version, pageSize, tables }: Schema): void {
    if (pageSize !== undefined) this.exec(`pragma ${name}.page_size = ${pageSize}`);
    this.transaction(() => {
      this.exec(`pragma ${name}.application_id = ${applicationId}; pragma ${name}.user_version = ${version};`);
      this.exec(tables.replaceAll(/^(create (?:table|index|view)|insert into) /gm, `$1 ${name}.`));
    });
  }

  /** Whether its creation has not begun, or was interrupted. */
  #isEmpty(name: string): boolean {
    return this.#db.prepare(`select 1 from ${name}.sqlite_schema`).get() === undefined;
  }

  #assertIs({ applicationId, version, tables }: Schema, name: string): void {
    // Its errors are explained by the caller, who knows the file.
    const read = (pragma: string): number =>
      (this.#db.prepare(`pragma ${name}.${pragma}`).get() as Record<string, number>)[pragma]!;
    const [id, found] = [read('application_id'), read('user_version')];
    if (id !== applicationId) throw new Unusable('it was not written by this program');
    if (found !== version) {
      throw new Unusable(`it was written by ${found > version ? 'a later' : 'an earlier'} version of this program`);
    }
    const definitions = this.#db.prepare(`select name, sql from ${name}.sqlite_schema where sql is not null`).all() as {
      name: string;
      sql: string;
    }[];
    const known = new Map(definitions.map((each) => [each.name, bodyOf(each.sql)]));
    for (const [statement, kind, what] of tables.replace(COMMENTS, '').matchAll(/^create (table|view) (\w+)[^;]*/gm)) {
      if (known.get(what!) !== bodyOf(statement))
        throw new Unusable(`its ${kind} \`${what}\` is missing or was changed`);
    }
  }
}

const COMMENTS = /--.*$/gm;

/** A definition from its name on, without comments, by which it is compared. */
function bodyOf(definition: string): string {
  return definition
    .replace(COMMENTS, '')
    .replace(/^create (?:table|view) (?:\w+\.)?/i, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The files that this process has used. */
const OPENED = new Map<string, Schema>();

/**
 * The damage of a file that this process has used. It may explain an unexpected error. Reads all of these files.
 */
export function findDamage(): UserError | undefined {
  for (const [path, schema] of OPENED) {
    try {
      const wrong = Database.ask(path, schema, (db) => damageIn(db, schema));
      if (wrong !== undefined) return unusable(path, wrong, {});
    } catch (error) {
      if (error instanceof UserError) return error;
    }
  }
  return undefined;
}

function damageIn(db: Database, { name, json = {} }: Schema): string | undefined {
  db.assertWhole(name);
  for (const [table, columns] of Object.entries(json)) {
    for (const column of columns) {
      const sql = `select 1 from ${name}.${table} where ${column} is not null and not json_valid(${column}) limit 1`;
      if (db.get(sql)) return `it is damaged: a cell of \`${table}.${column}\` is not JSON`;
    }
  }
  return undefined;
}

/** Pages of one file that stay in memory. */
const CACHE_KIB = 8_000;

function connection(): InstanceType<typeof DatabaseSync> {
  const db = new DatabaseSync(':memory:');
  // A reader waits while a writer commits, and the reverse.
  db.exec('pragma busy_timeout = 10000; pragma foreign_keys = off; pragma temp_store = file;');
  return db;
}
