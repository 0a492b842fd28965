/** What a new plan takes over from earlier ones: contacts of the account, which files the program wrote, and the like. */
import { existsSync, statSync } from 'node:fs';
import type { StateDir } from '../state-dir.ts';
import { DRY_RUN } from '../state-dir.ts';
import { PLAN, PLAN_FILE } from './plan-schema.ts';
import type { Database } from './sqlite.ts';

/** Paths of the plans in a state directory, the newest first: that of the last run and that of the last dry run. */
export function storedPlans(state: { file(name: string): string }): string[] {
  const paths = [state.file(PLAN_FILE), `${state.file(DRY_RUN)}/${PLAN_FILE}`].filter((path) => existsSync(path));
  return paths.sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
}

/**
 * Takes over from the plan that `db` will replace, from one that was interrupted, and from the other plan of the state directory.
 * Plans that cannot be read are left alone: everything in them can be found out again.
 */
export function takeOver(db: Database, path: string, state: StateDir, interrupted: string): void {
  for (const from of new Set([interrupted, path, ...storedPlans(state)])) {
    if (!existsSync(from)) continue;
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
