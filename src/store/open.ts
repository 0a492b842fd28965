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

/** Makes the checkpoint reachable as `checkpoint`; an empty one if there is none. Throws a `UserError` if it is damaged. */
export function attachCheckpoint(db: Database, state: StateDir): void {
  const path = state.file(CHECKPOINT_FILE);
  db.attach(isThere(path) ? path : undefined, 'checkpoint', CHECKPOINT);
}
