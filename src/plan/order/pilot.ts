/** `--pilot`: the first records of each entry, and one of each stage and owner. */
import { storePilot } from '../../report/files/pilot.ts';
import type { Database } from '../../store/sqlite.ts';
import { holdOthers } from './selection.ts';

const STAGE = `ifnull(json_extract(data, '$.stage_id'), json_extract(data, '$.stage_name'))`;
const OWNER = `ifnull(json_extract(data, '$.owner_id'), json_extract(data, '$.owner_name'))`;

/**
 * Chooses `limit` records of the input, and the parents that they need: the first of each entry, then the first of each stage and owner,
 * then the next ones of each entry. Acknowledged events count, so a rerun chooses the same records. Events that wait for a parent are
 * chosen only where nothing can be sent, so that the run says what they wait for.
 */
export function choosePilot(db: Database, limit: number): void {
  db.exec(`
    create temp table candidate as
      select id, record, entry, ${STAGE} as stage, ${OWNER} as owner from event
      where is_chosen = 1 and data is not null and state in ('ready', 'retry', 'acknowledged');
    insert into candidate select id, record, entry, null, null from event
      where is_chosen = 1 and data is not null and state = 'waiting' and not exists (select 1 from candidate);
    create temp table chosen (event integer primary key);`);
  db.run(
    `with ranked as (
       select record, row_number() over (partition by entry order by id) as nth,
         stage is not null and row_number() over (partition by stage order by id) = 1
           or owner is not null and row_number() over (partition by owner order by id) = 1 as is_first
       from candidate),
     picked as (
       select record from ranked group by record
       order by min(case when nth = 1 then 0 when is_first then 1 else nth end), record limit ?)
     insert into chosen select id from candidate where record in picked`,
    limit,
  );
  const ofChosen = 'from candidate c join chosen on event = c.id';
  const { records, ...shown } = db.get<{ records: number; stages: number; owners: number }>(
    `select count(distinct record) as records, count(distinct stage) as stages, count(distinct owner) as owners ${ofChosen}`,
  )!;
  const all = db.get<{ stages: number; owners: number }>(
    'select count(distinct stage) as stages, count(distinct owner) as owners from candidate',
  )!;
  holdOthers(db);
  db.exec('drop table candidate');
  const { events } = db.get<{ events: number }>(
    `select count(*) as events from event where is_chosen = 1 and state in ('ready', 'retry', 'acknowledged')`,
  )!;
  storePilot(db, {
    ...{ records, events },
    stages: { covered: shown.stages, occurring: all.stages },
    owners: { covered: shown.owners, occurring: all.owners },
  });
}
