import { rmSync } from 'node:fs';
import { COMBINED } from '../../kinds/index.ts';
import type { StateDir } from '../../files/state-dir.ts';
import { placeText } from '../../model.ts';
import { writeTable } from '../../report/files/error-files.ts';
import { UNACKNOWLEDGED } from '../../store/plan-schema.ts';
import type { UnusedCode } from '../../report/words/unused.ts';
import type { Database } from '../../store/sqlite.ts';

const GONE_FILE = 'gone.csv';

const COLUMNS = 'record external_id service_id may_be_in';

/**
 * Acknowledged by an earlier run, or by this one, and no row of the input is about it, not even one that could not be read. Of a
 * combined comment, its parts count. Both sides of the first `except` are read in the order of an index.
 */
const ABSENT = `
  with absent as (
    select r.entity, r.external_id from checkpoint.record r where r.is_acknowledged = 1
    except select entity, external_id from event),
  gone as (
    select r.entity, r.external_id, r.service_id
    from absent a cross join checkpoint.record r on r.entity = a.entity and r.external_id = a.external_id
    where r.entity <> '${COMBINED}' or not exists (select 1 from checkpoint.part p where p.carrier = r.external_id)
    union all
    select distinct '${COMBINED}', p.external_id, p.service_id
    from checkpoint.carried p
    where p.is_certain = 1 and not exists (select 1 from part q where q.external_id = p.external_id)
      and not exists (select 1 from event e where e.entity = '${COMBINED}' and e.external_id = p.external_id)),
  gone_record as (
    select * from gone r where not exists (
    select 1 from unused u join unused_code c on c.code = u.code and c.is_correctable = 1
    where u.entity = r.entity and u.external_id = r.external_id))`;

/** A row that may have any number of records. */
const ANY_NUMBER = 'unread_each';

/** Rows that do not say which record they are about: those that could not be read, and those without an id. */
const NAMELESS = `
  with nameless as (
    select u.record, u.entity, max(iif(u.code = '${ANY_NUMBER satisfies UnusedCode}', 1000000000, 1)) as most
    from unused u join unused_code c on c.code = u.code and c.is_correctable = 1
    group by u.record, u.entity
    having not max(u.external_id is not null and (
      exists (select 1 from checkpoint.record k where k.entity = u.entity and k.external_id = u.external_id)
      or u.entity = '${COMBINED}' and exists (select 1 from checkpoint.part k where k.external_id = u.external_id)))
    union all
    select record, entity, 1 from event where state = 'invalid' and ${UNACKNOWLEDGED} and external_id is null)`;

/** Places of rows that are listed beside a record. */
const MOST_PLACES = 3;

/** Records that were acknowledged and that the input no longer has. */
interface GoneCounts {
  readonly gone: number;
  /** Not counted as gone: as many rows that nobody could read may be about them. */
  readonly unread: number;
}

export function countGone(db: Database): GoneCounts {
  const byKind = (sql: string) =>
    new Map(db.all<{ entity: string; count: number }>(sql).map(({ entity, count }) => [entity, count]));
  const absent = byKind(`${ABSENT} select entity, count(*) as count from gone_record group by entity`);
  const nameless = byKind(`${NAMELESS} select entity, sum(most) as count from nameless group by entity`);
  const counts = { gone: 0, unread: 0 };
  for (const [entity, count] of absent) {
    const unread = Math.min(count, nameless.get(entity) ?? 0);
    counts.unread += unread;
    counts.gone += count - unread;
  }
  return counts;
}

/** Lists them in `gone.csv`, with the rows that may be about them; the file is removed if there are none. */
export function listGone(db: Database, output: Pick<StateDir, 'file'>): GoneCounts {
  const path = output.file(GONE_FILE);
  rmSync(path, { force: true });
  const counts = countGone(db);
  if (counts.gone + counts.unread === 0) return counts;
  const places = namelessPlaces(db);
  writeTable<Readonly<Record<'record', string>>>(
    db,
    path,
    COLUMNS,
    `${ABSENT} select entity as record, external_id, service_id from gone_record order by entity, external_id`,
    { shown: (row) => ({ ...row, may_be_in: places.get(row.record)?.join(', ') ?? '' }) },
  );
  return counts;
}

/** The first rows that may be about a record, by its kind. */
function namelessPlaces(db: Database): ReadonlyMap<string, readonly string[]> {
  const rows = db.each<{ entity: string; file: string; line: number; record: number }>(
    `${NAMELESS} select n.entity, r.file, r.line, r.record
     from nameless n join row r on r.id = n.record order by r.id`,
  );
  const places = new Map<string, string[]>();
  for (const { entity, ...place } of rows) {
    const of = places.get(entity) ?? [];
    if (of.length < MOST_PLACES) of.push(placeText(place));
    else if (of.length === MOST_PLACES) of.push('…');
    places.set(entity, of);
  }
  return places;
}
