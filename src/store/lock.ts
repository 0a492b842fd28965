import { closeSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { DatabaseSync } from '@photostructure/sqlite';
import { systemClock } from '../clock.ts';
import { EXIT, messageOf, UserError } from '../errors.ts';
import { isThere, openPrivate, temporaryName } from '../files/private-file.ts';
import type { StateDir } from '../files/state-dir.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from './checkpoint-schema.ts';
import { Database } from './sqlite.ts';
import { isBusy } from './sqlite-errors.ts';
import { shortPath } from '../files/paths.ts';

export const LOCK_FILE = 'run.lock';

/** The process that holds a lock, and since when. */
export interface LockHolder {
  readonly host: string;
  readonly pid: number;
  readonly at: string;
  /** Of this program. */
  readonly command: string;
}

/** How long a run waits for somebody who only looks whether the lock is held. */
const LOOKING_MS = 1_000;

/**
 * One run at a time uses a state directory: it holds an exclusive transaction of `run.lock` while it lives, which the
 * operating system ends when the process dies. Who holds it is in the checkpoint.
 */
export class Lock {
  readonly #db: InstanceType<typeof DatabaseSync>;

  private constructor(db: InstanceType<typeof DatabaseSync>) {
    this.#db = db;
  }

  /** Throws a `UserError` (exit 3) if another process holds the lock. */
  static acquire(state: StateDir): Lock {
    const lock = Lock.#try(state);
    if (lock) return lock;
    throw inUse(state);
  }

  /** Waits while another process holds the lock, and calls `waiting` then. Undefined if `signal` is aborted before. */
  static async waitFor(state: StateDir, signal: AbortSignal, waiting: () => void): Promise<Lock | undefined> {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const lock = Lock.#try(state);
      if (lock) return lock;
      if (isFirst) waiting();
      await systemClock.sleep(LOOKING_MS, signal);
    }
    return undefined;
  }

  /** Undefined if another process holds it. */
  static #try(state: StateDir): Lock | undefined {
    const path = state.file(LOCK_FILE);
    const db = openLock(path);
    try {
      db.exec(`pragma busy_timeout = ${LOOKING_MS}; begin exclusive`);
    } catch (error) {
      db.close();
      if (isBusy(error)) {
        assertLocks(state);
        return undefined;
      }
      throw cannotLock(path, error);
    }
    return new Lock(db);
  }

  release(): void {
    if (this.#db.isOpen) this.#db.close();
  }
}

/**
 * Says in the checkpoint, if there is one, that this process holds the lock, and what for. A damaged checkpoint is told of by whoever needs
 * it.
 */
export function nameHolder(state: StateDir, command: string): void {
  if (!isThere(state.file(CHECKPOINT_FILE))) return;
  try {
    const checkpoint = Database.open(state.file(CHECKPOINT_FILE), CHECKPOINT);
    const row = [process.pid, hostname(), new Date().toISOString(), command] as const;
    checkpoint.run('insert or replace into holder (id, pid, host, at, command) values (1, ?, ?, ?, ?)', ...row);
    checkpoint.close();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
  }
}

/** The holder of the lock; undefined if there is none. */
export function lockHolder(state: StateDir): LockHolder | undefined {
  const path = state.file(LOCK_FILE);
  if (!isThere(path)) return undefined;
  const db = openLock(path, true);
  try {
    db.exec('begin; select * from sqlite_schema; commit');
    return undefined;
  } catch (error) {
    if (!isBusy(error)) throw cannotLock(path, error);
    return holderOf(state) ?? { host: hostname(), pid: 0, at: new Date().toISOString(), command: 'run' };
  } finally {
    db.close();
  }
}

/** `isRead`: only looked at, which needs no permission to write. */
function openLock(path: string, isRead = false): InstanceType<typeof DatabaseSync> {
  try {
    if (!isRead) closeSync(openPrivate(path));
    return new DatabaseSync(path, { readOnly: isRead });
  } catch (error) {
    throw cannotLock(path, error);
  }
}

function cannotLock(path: string, error: unknown): UserError {
  return new UserError(`cannot lock ${path}: ${messageOf(error)}`, {
    hint: 'check the permissions, or choose another directory with --state DIR',
    cause: error,
  });
}

function holderOf(state: StateDir): LockHolder | undefined {
  const sql = 'select pid, host, at, command from holder';
  return Database.ask(state.file(CHECKPOINT_FILE), CHECKPOINT, (checkpoint) => checkpoint.get<LockHolder>(sql));
}

function inUse(state: StateDir): UserError {
  const holder = holderOf(state);
  const who = holder ? `process ${holder.pid} on ${holder.host}, since ${holder.at}` : 'another process';
  return new UserError(`another ${holder?.command ?? 'run'} is using ${shortPath(state.path)}: ${who}`, {
    hint: `wait until it ends, or stop it safely with ${holder ? `\`kill -INT ${holder.pid}\`${holder.host === hostname() ? '' : ` on ${holder.host}`}` : 'Ctrl-C'}: it records every answer first`,
    exitCode: EXIT.stopped,
  });
}

/**
 * A file system that cannot lock (ENOLCK: a network one without its lock service) looks like one on which everything is locked. Throws
 * a `UserError` if even a file that nobody else knows is.
 */
function assertLocks(state: StateDir): void {
  const path = temporaryName(state.file(LOCK_FILE));
  const db = openLock(path);
  try {
    db.exec('pragma busy_timeout = 0; begin exclusive; rollback');
  } catch (error) {
    throw new UserError(`cannot lock files in ${shortPath(state.path)}: its file system does not support locks`, {
      hint: 'the state directory must be on a local disk: choose another one with --state DIR',
      cause: error,
    });
  } finally {
    db.close();
    rmSync(path, { force: true });
  }
}
