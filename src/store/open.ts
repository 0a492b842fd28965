import { isThere } from '../files/private-file.ts';
import type { StateDir } from '../files/state-dir.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from './checkpoint-schema.ts';
import { PLAN, PLAN_FILE } from './plan-schema.ts';
import { Database } from './sqlite.ts';

/**
 * The databases of a state directory, to read only, while a run may be writing them: the plan of `output`, and as
 * `checkpoint` that of `state`. One that does not exist is empty.
 */
export function readState(state: StateDir, output: Pick<StateDir, 'file'> = state): Database {
  const db = Database.read(output.file(PLAN_FILE), PLAN) ?? Database.inMemory(PLAN);
  attachCheckpoint(db, state);
  db.exec('pragma query_only = on');
  return db;
}

/** Whether no run has begun to send from here: one that did not start may have left an empty checkpoint. */
export function isUnused(state: StateDir): boolean {
  if (isThere(state.file(PLAN_FILE))) return false;
  const db = readState(state);
  try {
    return !db.get('select 1 from checkpoint.migration');
  } finally {
    db.close();
  }
}

/** Makes the checkpoint reachable as `checkpoint`; an empty one if there is none. Throws a `UserError` if it is damaged. */
export function attachCheckpoint(db: Database, state: StateDir): void {
  const path = state.file(CHECKPOINT_FILE);
  db.attach(isThere(path) ? path : undefined, 'checkpoint', CHECKPOINT);
}

/** Replaces the attached checkpoint by a copy in memory, which a dry run may change. */
export function copyCheckpoint(db: Database, state: StateDir): void {
  if (!isThere(state.file(CHECKPOINT_FILE))) return;
  db.detach('checkpoint');
  db.attach(undefined, 'checkpoint', CHECKPOINT);
  db.attach(state.file(CHECKPOINT_FILE), 'stored', CHECKPOINT);
  try {
    const tables = db.all<{ name: string }>(
      `select name from stored.sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\'`,
    );
    db.transaction(() => {
      for (const { name } of tables)
        db.run(`insert or replace into checkpoint."${name}" select * from stored."${name}"`);
    });
  } finally {
    db.detach('stored');
  }
}
