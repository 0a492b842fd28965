import { closeSync, lstatSync } from 'node:fs';
import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';
import { EXIT, messageOf, UserError } from '../errors.ts';
import { isThere, openPrivate, Unusable } from '../files/private-file.ts';

export type SqlValue = string | number | bigint | null;

/** A schema: its tables as `create` statements, and how a file with them is recognised. */
export interface Schema {
  /** What a connection calls it. */
  readonly name: string;
  /** `pragma application_id`: tells our files from those of other programs. */
  readonly applicationId: number;
  /** `pragma user_version`: raised with every change of the tables. */
  readonly version: number;
  readonly tables: string;
}

/**
 * A SQLite database. Statements are prepared once; rows are typed by the caller. Every error of the engine is thrown as
 * a `UserError` that names the file and says what to do.
 */
export class Database {
  readonly path: string;
  readonly #db: InstanceType<typeof DatabaseSync>;
  readonly #statements = new Map<string, StatementSyncInstance>();
  readonly #attached = new Set<string>();
  readonly #reading = new Set<StatementSyncInstance>();

  private constructor(path: string, db: InstanceType<typeof DatabaseSync>) {
    this.path = path;
    this.#db = db;
  }

  /** Opens a database that exists, or creates it with mode 0600 and the tables of `schema`. */
  static open(path: string, schema: Schema): Database {
    return orExplain(path, () => {
      closeSync(openPrivate(path));
      return Database.#connect(path, (db) => {
        db.#attachFile(path, schema.name);
        if (db.#isEmpty(schema.name)) db.#create(schema);
        else db.#assertIs(schema, schema.name);
      });
    });
  }

  /** Opens a database that another process may be writing, to read only. Undefined if there is none, or none yet. */
  static read(path: string, schema: Schema): Database | undefined {
    if (!isThere(path)) return undefined;
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
    return orExplain(this.path, () => Number(this.#statement(sql).run(...values).changes));
  }

  /** Inserts a row; returns its rowid. */
  insert(sql: string, ...values: readonly SqlValue[]): number {
    return orExplain(this.path, () => Number(this.#statement(sql).run(...values).lastInsertRowid));
  }

  get<Row>(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    return orExplain(this.path, () => this.#statement(sql).get(...values) as Row | undefined);
  }

  /** All rows at once: for few rows, or for a page. */
  all<Row>(sql: string, ...values: readonly SqlValue[]): Row[] {
    return orExplain(this.path, () => this.#statement(sql).all(...values) as Row[]);
  }

  /** Row by row. Nothing may be written to the tables that are read until it has ended. */
  *each<Row>(sql: string, ...values: readonly SqlValue[]): Generator<Row, void, undefined> {
    // Not the shared statement: its caller may run the same text again.
    const statement = orExplain(this.path, () => this.#db.prepare(sql));
    const rows = orExplain(this.path, () => statement.iterate(...values) as IterableIterator<Row>);
    // An iterator does not keep its statement: once that is collected, the process ends with a segmentation fault.
    this.#reading.add(statement);
    try {
      for (;;) {
        const next = orExplain(this.path, () => rows.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      // A statement that its reader left halfway would keep the file locked.
      rows.return?.();
      this.#reading.delete(statement);
    }
  }

  /** Runs several statements without values. */
  exec(sql: string): void {
    orExplain(this.path, () => this.#db.exec(sql));
  }

  /** All of it or nothing. */
  transaction<Result>(change: () => Result): Result {
    this.exec('begin');
    try {
      const result = change();
      this.exec('commit');
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('rollback');
      throw error;
    }
  }

  get isOpen(): boolean {
    return this.#db.isOpen;
  }

  /**
   * Closes the files. A connection itself ends only when its last statement is garbage, which is why every file is attached
   * to it: what is detached is closed at once.
   */
  close(): void {
    if (!this.#db.isOpen) return;
    this.#statements.clear();
    if (this.#db.isTransaction) this.#db.exec('rollback');
    for (const name of this.#attached) this.#db.exec(`detach ${name}`);
    this.#db.close();
  }

  #attachFile(path: string, name: string): void {
    this.#db.prepare(`attach ? as ${name}`).run(path);
    this.#attached.add(name);
    this.#db.exec(`pragma ${name}.cache_size = -${CACHE_KIB}`);
  }

  #statement(sql: string): StatementSyncInstance {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }

  #create({ name, applicationId, version, tables }: Schema): void {
    this.transaction(() => {
      this.exec(`pragma ${name}.application_id = ${applicationId}; pragma ${name}.user_version = ${version};`);
      this.exec(tables.replaceAll(/^create (table|index|view) /gm, `create $1 ${name}.`));
    });
  }

  /** Whether its creation has not begun, or was interrupted. */
  #isEmpty(name: string): boolean {
    return this.#db.prepare(`select 1 from ${name}.sqlite_schema`).get() === undefined;
  }

  #assertIs({ applicationId, version }: Schema, name: string): void {
    // Its errors are explained by the caller, who knows the file.
    const read = (pragma: string): number =>
      (this.#db.prepare(`pragma ${name}.${pragma}`).get() as Record<string, number>)[pragma]!;
    const [id, found] = [read('application_id'), read('user_version')];
    if (id !== applicationId) throw new Unusable('it was not written by this program');
    if (found !== version) {
      throw new Unusable(`it was written by ${found > version ? 'a later' : 'an earlier'} version of this program`);
    }
  }
}

/** Pages of one file that stay in memory. */
const CACHE_KIB = 8_000;

function connection(): InstanceType<typeof DatabaseSync> {
  const db = new DatabaseSync(':memory:');
  // A reader waits while a writer commits, and the reverse.
  db.exec('pragma busy_timeout = 10000; pragma foreign_keys = off; pragma temp_store = file;');
  return db;
}

/**
 * SQLite's primary result codes (https://www.sqlite.org/rescode.html): what went wrong, what to do, and the engine's text,
 * since errors of `all` and `iterate` carry no code.
 */
const CODES: Readonly<Record<number, readonly [what: string, hint: string, text: string]>> = {
  3: ['permission denied', 'check the permissions and the owner of the state directory', 'access permission denied'],
  5: ['another process is using it', 'wait until that process has finished, then rerun', 'database is locked'],
  6: ['another process is using it', 'wait until that process has finished, then rerun', 'database table is locked'],
  7: ['not enough memory', 'end other programs or give this one more memory, then rerun', 'out of memory'],
  8: [
    'it cannot be written',
    'check the permissions, or choose another directory with --state DIR',
    'attempt to write a readonly database',
  ],
  10: ['the disk reports an error', 'check the disk, then rerun', 'disk I/O error'],
  11: ['it is damaged', '', 'database disk image is malformed'],
  13: ['the disk is full', 'free some disk space, then rerun', 'database or disk is full'],
  14: [
    'it cannot be opened',
    'check the permissions, or choose another directory with --state DIR',
    'unable to open database file',
  ],
  15: [
    'its file system does not lock files',
    'the state directory must be on a local disk: choose another one with --state DIR',
    'locking protocol',
  ],
  26: ['it is not a database', '', 'file is not a database'],
};

const RESTORE =
  'nothing was sent. Put a copy of the file back, and remove the -wal and -shm files beside it, which belong to the file before it; ' +
  'if there is no copy, move it away and rerun with --adopt: the service recognises every event that it has processed, so none is ' +
  'created twice';
const REBUILD = 'nothing was sent. Delete the file and rerun: it is written again from the exports';

/** Turns errors of the engine into a `UserError` that names the file. */
function orExplain<Result>(path: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (error instanceof UserError) throw error;
    const code = (error as { errcode?: unknown } | null)?.errcode;
    const known =
      typeof code === 'number'
        ? CODES[code & 0xff]
        : Object.values(CODES).find(([, , text]) => text === messageOf(error));
    const isSystem = typeof (error as { syscall?: unknown } | null)?.syscall === 'string';
    if (!known && !(error instanceof Unusable) && !isSystem) throw error;
    const [what, hint] = known ?? [messageOf(error), ''];
    const lost = path.endsWith('checkpoint.db') ? RESTORE : REBUILD;
    throw new UserError(`cannot use ${path}: ${what}`, {
      hint: hint || (isSystem ? 'check the permissions, or choose another directory with --state DIR' : lost),
      exitCode: EXIT.nothingSent,
      cause: error,
    });
  }
}
