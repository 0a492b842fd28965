import { rmSync } from 'node:fs';
import { writeTable } from '../report/error-files.ts';
import type { Database } from '../store/sqlite.ts';

export const GONE_FILE = 'gone.csv';

const COLUMNS = 'record external_id service_id';

/** Created by an earlier run, and no event of the input is about it. */
const GONE = `
  from checkpoint.request r
  where r.status = 'acknowledged' and r.origin in ('input', 'second') and r.for_type not in ('lead/updated', 'deal/updated')
    and case when r.external_id is null then r.for_id not in (select event_id from event where external_id is null)
      else not exists (select 1 from event e where e.entity = r.entity and e.external_id = r.external_id
        and e.type = r.for_type) end`;

/** Events acknowledged by earlier runs, or by this one, that the input no longer has. */
export function countGone(db: Database): number {
  const count = (sql: string): number => db.get<{ count: number }>(sql)!.count;
  const acknowledged = count(`
    select count(*) as count from checkpoint.request where status = 'acknowledged' and origin in ('input', 'second')`);
  if (acknowledged === 0) return 0;
  const matched = count(`
    select count(*) as count from event
    where is_change = 0 and ((state = 'acknowledged' and code is not 'overtaken') or code = 'uncertain')`);
  return Math.max(0, acknowledged - matched);
}

/** Lists in `gone.csv` the records that are gone; the file is removed if there are none. Returns how many there are. */
export function listGone(db: Database, path: string): number {
  rmSync(path, { force: true });
  if (countGone(db) === 0) return 0;
  let listed = 0;
  const statement = `select r.entity as record, r.external_id, r.service_id ${GONE} order by r.n`;
  writeTable(db, path, COLUMNS, statement, { seen: () => (listed += 1) });
  return listed;
}
