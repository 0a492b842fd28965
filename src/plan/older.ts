/** A checkpoint that is older than the plan beside it: a backup was put back, or its `-wal` was deleted. */
import { eventId } from '../core/identity.ts';
import { doubted, NOTHING_KNOWN, opened, type Known } from '../core/known.ts';
import { isThere } from '../files/private-file.ts';
import { COMBINED } from '../kinds/index.ts';
import type { FieldHasher } from '../store/field-hashes.ts';
import { PLAN } from '../store/plan-schema.ts';
import type { Database } from '../store/sqlite.ts';
import { pagesOf } from './events.ts';
import type { State } from '../model.ts';
import { readRecord, writeRecord, type RecordKey } from './known/records.ts';
import { WHOLE, type WantedRow } from './known/wanted.ts';

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
 * Once the events of a plan have their states: keeps of the comments that were sent before what these events do not say. A comment may be
 * gone from the input, or be uncertain; a combined one may have parts that are gone.
 */
export function keepComments(db: Database): void {
  db.exec(`
    insert into plan.kept_comment
      select r.* from checkpoint.record r
      where r.entity = '${COMBINED}' and r.existence <> 'no' and (
        not exists (
          select 1 from plan.event e where e.entity = r.entity and e.external_id = r.external_id
            and e.state = 'acknowledged' and e.code is null)
        or r.external_id in (
          select p.carrier from checkpoint.part p
          where not exists (select 1 from plan.part q where q.external_id = p.external_id)));
    insert into plan.kept_part
      select p.* from checkpoint.part p where p.carrier in (select external_id from plan.kept_comment);
  `);
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
 * which comments went out, and in which form, is in the last plan, at `path`.
 */
export function doubtRecords(db: Database, hasher: FieldHasher, migration: string, path: string): void {
  db.attach(path, 'last', PLAN);
  try {
    db.transaction(() => {
      db.run('update checkpoint.migration set is_adopted = 1');
      doubtFields(db);
      takeOverComments(db, hasher, migration);
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

/**
 * Comments that the lost checkpoint may have sent, alone or combined: none of them is ever sent in another form. Those that it knew before
 * the last run, and those of that run: acknowledged as the plan says, or perhaps without an answer, which one may be here, too.
 */
function takeOverComments(db: Database, hasher: FieldHasher, migration: string): void {
  db.exec(`
    insert or replace into checkpoint.record
      select * from last.kept_comment k where not exists (
        select 1 from checkpoint.record r where r.entity = k.entity and r.external_id = k.external_id and r.existence = 'yes');
    insert or ignore into checkpoint.part
      select * from last.kept_part;
  `);
  const sent = `
    select e.id, e.external_id, e.state, e.code, e.type, e.content, e.data, e.entry, e.field_entries from last.event e
    where e.entity = '${COMBINED}' and e.data is not null
      and (e.state = 'acknowledged' or e.id in (select event from last.turn))
      and not exists (
        select 1 from checkpoint.record r where r.entity = e.entity and r.external_id = e.external_id and r.existence = 'yes')
      and e.id > ? order by e.id limit 500`;
  for (const page of pagesOf<SentRow>(db, sent)) for (const row of page) takeOver(db, hasher, migration, row);
}

type SentRow = WantedRow & { id: number; external_id: string; state: State; code: string | null };

function takeOver(db: Database, hasher: FieldHasher, migration: string, row: SentRow): void {
  const { id, external_id: externalId, state, code, type, content, data } = row;
  const hash = hasher.hashOf(WHOLE, data);
  const fields = { [WHOLE]: hash };
  const key = { entity: COMBINED, external_id: externalId };
  const { known: before } = readRecord(db, hasher, key);
  const sent = opened(before, {
    kind: 'create',
    id: before.create?.id ?? eventId({ migration, type, externalId, content: data }),
    fields,
  });
  const isAcknowledged = state === 'acknowledged' && code !== 'already_exists' && before.exists === 'no';
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
