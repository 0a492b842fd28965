/** What `purge` takes from a checkpoint that is kept: the key of its hashes, and what is made from values without it. */
import { EXIT, UserError } from '../errors.ts';
import type { StateDir } from '../files/state-dir.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from './checkpoint-schema.ts';
import { fieldKeyOf } from './checkpoint.ts';
import { Database } from './sqlite.ts';

export function hasKey(state: StateDir): boolean {
  return Database.ask(state.file(CHECKPOINT_FILE), CHECKPOINT, fieldKeyOf) !== undefined;
}

/** Hashes and ids that are made from all that was sent of a record (`core/identity`), and the hashes of the exports and of the plan. */
const FORGET = `
  delete from checkpoint.setting where name = 'verification';
  update checkpoint.record set content = null, rejected = null, missing = null, creation = null, open = null;
  update checkpoint.request set id = 'purged ' || n;
  update checkpoint.run set inputs = '[]'`;

/**
 * Overwrites the key, also in the write-ahead log, where a deletion would leave it. Throws a `UserError` (exit 1) while another
 * program reads, which keeps the log: before the deletion, so that a rerun finds the key again.
 */
export function forgetValues(state: StateDir): void {
  const path = state.file(CHECKPOINT_FILE);
  const db = Database.open(path, CHECKPOINT);
  const emptyLog = (): void => {
    if (db.get<{ busy: number }>('pragma checkpoint.wal_checkpoint(truncate)')!.busy === 0) return;
    throw new UserError(`another program is reading ${path}, so the key of the hashes may still be in ${path}-wal`, {
      hint: 'close that program and purge again; everything else is deleted',
      exitCode: EXIT.finishedWithErrors,
    });
  };
  try {
    db.exec('pragma checkpoint.secure_delete = on');
    emptyLog();
    db.transaction(() => db.exec(FORGET));
    // Also what was overwritten before. The key goes last: while it is there, a purge that was killed is done again.
    db.exec('vacuum checkpoint');
    db.run(`delete from checkpoint.setting where name = 'field_key'`);
    emptyLog();
  } finally {
    db.close();
  }
}
