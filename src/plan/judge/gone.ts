import { COMBINED } from '../../kinds/index.ts';
import { rmSync } from 'node:fs';
import { writeTable } from '../../report/error-files.ts';
import type { Database } from '../../store/sqlite.ts';

export const GONE_FILE = 'gone.csv';

const COLUMNS = 'record external_id service_id';

/** Acknowledged by an earlier run, or by this one, and no event of the input is about it. Of a combined comment, its parts count. */
const GONE = `
  from (
    select r.entity, r.external_id, r.service_id from checkpoint.record r
    where r.is_acknowledged = 1 and (r.entity <> '${COMBINED}'
      or not exists (select 1 from checkpoint.part p where p.carrier = r.external_id))
    union all
    select distinct '${COMBINED}', p.external_id, p.service_id
    from checkpoint.carried p
    where p.is_certain = 1 and not exists (select 1 from part q where q.external_id = p.external_id)) r
  where not exists (select 1 from event e where e.entity = r.entity and e.external_id = r.external_id)`;

/** Records that were acknowledged and that the input no longer has. */
export function countGone(db: Database): number {
  return db.get<{ count: number }>(`select count(*) as count ${GONE}`)!.count;
}

/** Lists in `gone.csv` the records that are gone; the file is removed if there are none. Returns how many there are. */
export function listGone(db: Database, path: string): number {
  rmSync(path, { force: true });
  const count = countGone(db);
  if (count === 0) return 0;
  writeTable(
    db,
    path,
    COLUMNS,
    `select r.entity as record, r.external_id, r.service_id ${GONE} order by r.entity, r.external_id`,
  );
  return count;
}
