import { cannotWrite } from '../errors.ts';
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { isThere } from '../files/private-file.ts';
import type { StateDir } from '../files/state-dir.ts';
import { attachCheckpoint } from '../store/open.ts';
import { PLAN, PLAN_FILE } from '../store/plan-schema.ts';
import { Database } from '../store/sqlite.ts';
import { storedPlanFiles } from '../store/stored-plans.ts';

/** Begins a new plan under a temporary name; the one before stays until `commitPlan`. Throws a `UserError`. */
export function beginPlan(state: StateDir, output: StateDir): Database {
  const path = output.file(PLAN_FILE);
  const temporary = `${path}.tmp`;
  try {
    for (const suffix of ['', '-journal']) rmSync(`${temporary}${suffix}`, { force: true });
  } catch (error) {
    throw cannotWrite(path, error);
  }
  const db = openNew(temporary);
  try {
    attachCheckpoint(db, state);
    takeOver(db, path, state);
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

/** An empty file of a full disk does not stay. It is written anew after a crash, so it needs neither a journal nor flushes until it is complete. */
function openNew(path: string): Database {
  try {
    return Database.open(path, PLAN, 'pragma plan.journal_mode = off; pragma plan.synchronous = off');
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

/** The plan is complete: it is flushed to disk and replaces the one before. Closes `db`. */
export function commitPlan(db: Database, output: StateDir): void {
  const path = output.file(PLAN_FILE);
  db.close();
  try {
    const file = openSync(`${path}.tmp`, 'r+');
    fsyncSync(file);
    closeSync(file);
    // Of the plan before: they belong to it alone.
    for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
    renameSync(`${path}.tmp`, path);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** A survey that failed: its plan is deleted. */
export function discardPlan(db: Database, output: StateDir): void {
  if (!db.isOpen) return;
  db.close();
  rmSync(`${output.file(PLAN_FILE)}.tmp`, { force: true });
}

/** The complete plan, and the checkpoint as `checkpoint`: to send from, while others may read both. */
export function openPlan(state: StateDir, output: StateDir): Database {
  const db = Database.open(output.file(PLAN_FILE), PLAN);
  try {
    db.exec('pragma plan.journal_mode = wal; pragma plan.synchronous = normal');
    attachCheckpoint(db, state);
    db.exec('pragma checkpoint.synchronous = full');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Copies the account and its contacts, and the names of files that the program wrote. From the plan that `db` will replace, and
 * from the other plan of the state directory. Plans that cannot be read are ignored: everything in them can be found out again.
 */
function takeOver(db: Database, path: string, state: StateDir): void {
  for (const from of new Set([path, ...storedPlanFiles(state)])) {
    if (!isThere(from)) continue;
    try {
      db.attach(from, 'earlier', PLAN);
    } catch {
      continue;
    }
    try {
      db.exec(`
        insert or ignore into setting select name, value from earlier.setting where name in ('field_key', 'contacts');
        insert or ignore into document select name, content from earlier.document where name = 'account';
      `);
      if (!db.get('select 1 from contact limit 1')) db.exec('insert into contact select * from earlier.contact');
      if (from === path) db.exec('insert or ignore into written select * from earlier.written');
    } catch {
      // Damaged.
    } finally {
      db.detach('earlier');
    }
  }
}
