/** Data that a new plan copies from earlier ones: contacts of the account, names of files that the program wrote, and so on. */
import { isThere } from '../files/private-file.ts';
import type { StateDir } from '../files/state-dir.ts';
import { PLAN } from './plan-schema.ts';
import type { Database } from './sqlite.ts';
import { storedPlanFiles } from './stored-plans.ts';

/**
 * Copies from the plan that `db` will replace, from an interrupted one, and from the other plan of the state directory. Plans that cannot
 * be read are ignored: everything in them can be found out again.
 */
export function takeOver(db: Database, path: string, state: StateDir, interrupted: string): void {
  for (const from of new Set([interrupted, path, ...storedPlanFiles(state)])) {
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
