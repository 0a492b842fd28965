/** A checkpoint that is older than the plan beside it: a backup was put back, or its `-wal` was deleted. */
import { doubted, NOTHING_KNOWN, UNKNOWN, type Known } from '../core/known.ts';
import { isThere } from '../files/private-file.ts';
import { COMBINED } from '../kinds/index.ts';
import { PLAN } from '../store/plan-schema.ts';
import type { Database } from '../store/sqlite.ts';
import type { RecordKey } from './known/records.ts';
import { WHOLE } from './known/wanted.ts';

/**
 * A complete plan is made with the last run of this checkpoint, all of whose requests it knows; so it tells a checkpoint that is older also
 * where nothing is sent from it.
 */
export function noteSurvey(db: Database): void {
  noteLastRun(db);
  noteEnd(db);
}

/**
 * Before the first request of a run: records that this plan is sent with the checkpoint of this run. In its own transaction, after the one
 * of the run.
 */
export function noteRun(db: Database): void {
  noteLastRun(db);
  db.run(`delete from plan.setting where name = 'requests'`);
}

function noteLastRun(db: Database): void {
  db.run(`
    insert or replace into plan.setting (name, value)
    select 'run', id || ' ' || at from checkpoint.run order by id desc limit 1`);
}

/** At the end of a run that was not killed: the last of its requests, all of which are settled. */
export function noteEnd(db: Database): void {
  db.run(
    `insert or replace into plan.setting (name, value) select 'requests', ifnull(max(n), 0) from checkpoint.request`,
  );
}

/** Undoes the record of a run. In a transaction of the caller. */
export function forgetRun(db: Database): void {
  db.run(`delete from plan.setting where name = 'run'`);
}

/**
 * Whether the last run, whose plan is at `path`, knew more than the attached checkpoint: a run that it lacks, or a request. Of a run that
 * was killed, whose plan may be one commit ahead: an event that was acknowledged, and of which the checkpoint has neither that nor a
 * request without an answer. All events are looked at for that.
 */
export function isOlder(db: Database, path: string): boolean {
  if (!isThere(path)) return false;
  try {
    db.attach(path, 'last', PLAN);
  } catch {
    // A damaged plan says nothing.
    return false;
  }
  try {
    return (
      db.get(`
        select 1 from last.setting s where s.name = 'run'
          and not exists (
            select 1 from checkpoint.run r where r.id = cast(s.value as integer) and r.id || ' ' || r.at = s.value)
        union all
        select 1 from last.setting s where s.name = 'requests'
          and cast(s.value as integer) > (select ifnull(max(n), 0) from checkpoint.request)
        union all
        select 1 from last.turn t cross join last.event e on e.id = t.event
        where not exists (select 1 from last.setting where name = 'requests') and e.state = 'acknowledged' and e.code is null and not exists (
          select 1 from checkpoint.record r where r.entity = e.entity and r.external_id = e.external_id
            and (r.open is not null or r.code is not null or ifnull(r.content, e.content) = e.content))
        limit 1`) !== undefined
    );
  } finally {
    db.detach('last');
  }
}

/**
 * `--adopt`: what the checkpoint knows of the fields of records is doubted from now on (core/known), so that it is read back. Notes cannot
 * be read back: those that it knows were sent, and what an unanswered combined one carries is uncertain.
 */
export function doubtRecords(db: Database): void {
  db.transaction(() => {
    db.run('update checkpoint.migration set is_adopted = 1');
    db.run(
      `update checkpoint.record set creation = json_insert(creation, '$.bodies[#]', json_object('${WHOLE}', '${UNKNOWN}'))
       where entity = '${COMBINED}' and existence = 'maybe' and creation is not null
         and external_id in (select carrier from checkpoint.part)`,
    );
    for (let [entity, id] = ['', '']; ;) {
      const page = db.all<RecordKey & { fields: string }>(
        `select entity, external_id, fields from checkpoint.record
         where (entity, external_id) > (?, ?) and entity in (select name from kind where is_updatable) order by entity, external_id limit 1000`,
        entity,
        id,
      );
      for (const row of page) {
        const { fields } = doubted({ ...NOTHING_KNOWN, fields: JSON.parse(row.fields) as Known['fields'] });
        db.run(
          `update checkpoint.record set fields = ?, content = null, open = null, others = null
           where entity = ? and external_id = ?`,
          JSON.stringify(fields),
          row.entity,
          row.external_id,
        );
      }
      const last = page.at(-1);
      if (!last) return;
      [entity, id] = [last.entity, last.external_id];
    }
  });
}
