/** A checkpoint that is older than the plan beside it: a backup was put back, or its `-wal` was deleted. */
import { eventId } from '../core/identity.ts';
import { doubted, NOTHING_KNOWN, opened, type Known } from '../core/known.ts';
import { isThere } from '../files/private-file.ts';
import { kindOfType } from '../kinds/index.ts';
import type { FieldHasher } from '../store/field-hashes.ts';
import { PLAN } from '../store/plan-schema.ts';
import type { Database } from '../store/sqlite.ts';
import { readRecord, writeRecord, type RecordKey } from './records.ts';
import { WHOLE, type WantedRow } from './wanted.ts';

/**
 * Before the first request of a run: records that this plan is sent with the checkpoint of this run. In its own transaction, after the one
 * of the run.
 */
export function noteRun(db: Database): void {
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
 * What the checkpoint knows of records is doubted from now on (core/known), except of those that are sent once and never updated:
 * which comments went out combined is in the last plan, at `path`.
 */
export function doubtRecords(db: Database, hasher: FieldHasher, migration: string, path: string): void {
  db.attach(path, 'last', PLAN);
  try {
    db.transaction(() => {
      db.run('update checkpoint.migration set is_adopted = 1');
      doubtFields(db);
      takeOverCombined(db, hasher, migration);
    });
  } finally {
    db.detach('last');
  }
}

function doubtFields(db: Database): void {
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
}

/** Combined comments that the lost checkpoint may have sent: acknowledged as the plan says, or without an answer, which one may be here, too. */
function takeOverCombined(db: Database, hasher: FieldHasher, migration: string): void {
  const combined = db.all<WantedRow & { id: number; external_id: string; state: string }>(`
    select e.id, e.external_id, e.state, e.type, e.content, e.data, e.entry, e.field_entries from last.event e
    where e.id in (select event from last.part) and e.data is not null and not exists (
      select 1 from checkpoint.record r where r.entity = e.entity and r.external_id = e.external_id and r.existence = 'yes')`);
  for (const { id, external_id: externalId, state, type, content, data } of combined) {
    const hash = hasher.hashOf(WHOLE, data);
    const fields = { [WHOLE]: hash };
    const key = { entity: kindOfType(type).name, external_id: externalId };
    const { known: before } = readRecord(db, hasher, key);
    const sent = opened(before, {
      kind: 'create',
      id: before.create?.id ?? eventId({ migration, type, externalId, content: data }),
      fields,
    });
    const isAcknowledged = state === 'acknowledged' && before.exists === 'no';
    const known: Known = isAcknowledged ? { exists: 'yes', whose: 'ours', fields: { [WHOLE]: [hash] } } : sent;
    const wanted = { type, content, fields: new Map(Object.entries(fields)) };
    writeRecord(db, hasher, key, known, wanted, isAcknowledged ? { isAcknowledged, code: undefined } : undefined);
    db.run(
      `insert or replace into checkpoint.part (carrier, body, external_id, position, parent, content, field_key)
       select e.external_id, ?, p.external_id, p.position, e.parent_entity || ' ' || e.parent_id, p.content, p.field_key
       from last.part p join last.event e on e.id = p.event where p.event = ?`,
      hash,
      id,
    );
  }
}
