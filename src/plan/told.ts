/** A rerun says what is new: warnings that the survey before gave already need not be read again. */
import { PLAN } from '../store/plan-schema.ts';
import { Database } from '../store/sqlite.ts';

/**
 * Marks the warnings that the last survey gave too, about the same record with the same message, if it was of the same
 * mapping. `earlier`: the path of its plan.
 */
export function markTold(db: Database, mappingSha256: string, earlier: string | undefined): void {
  db.run(`insert or replace into setting (name, value) values ('mapping_sha256', ?)`, mappingSha256);
  if (earlier === undefined || mappingOf(earlier) !== mappingSha256) return;
  try {
    db.attach(earlier, 'told', PLAN);
    db.exec(`
      update plan.problem as p set was_told = 1
      where p.severity = 'warning'
        and (p.code, p.message, ifnull((select e.external_id from plan.event e where e.id = p.event), '')) in (
          select w.code, w.message, ifnull(w.external_id, '') from told.problems w where w.severity = 'warning')`);
  } catch {
    // A damaged plan: all warnings count as new.
  }
}

/** Undefined if there is no such plan, or if another version of the program wrote it. */
function mappingOf(path: string): string | undefined {
  let plan: Database | undefined;
  try {
    plan = Database.read(path, PLAN);
    return plan?.get<{ value: string }>(`select value from setting where name = 'mapping_sha256'`)?.value;
  } catch {
    return undefined;
  } finally {
    plan?.close();
  }
}
