/** Reads back the records that differ, or may differ, from the input, and decides which of their fields are sent. */
import { CHECKED } from '../../kinds/index.ts';
import { seen, type ShownFields } from '../../core/known.ts';
import { next } from '../../core/next.ts';
import { shownFields } from '../account/fields.ts';
import type { Entity } from '../../model.ts';
import { readBack, type Found } from '../account/read-back.ts';
import type { Client } from '../../service/client.ts';
import { RecordMerged } from '../../service/lists.ts';
import type { Policies } from '../../mapping/policies.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import { UNACKNOWLEDGED } from '../../store/plan-schema.ts';
import type { Database } from '../../store/sqlite.ts';
import { conclude, shownBy, subjectsOf } from './judge-known.ts';
import { rejectEvent } from '../problems.ts';
import { storeKnown, type RecordKey } from './records.ts';
import { shownParents, recordInService, type RecordInService } from './in-service.ts';
import { listChanges, listUnshown } from './changes-file.ts';
import type { Subject } from './wanted.ts';
import { issueOf } from '../../report/words/words.ts';
import { appendTurns } from '../order/turns.ts';
import type { Commits } from '../../store/commits.ts';

interface RecheckJob {
  readonly db: Database;
  readonly hasher: FieldHasher;
  readonly client: Client;
  readonly concurrency: number;
  /** The country of phone numbers without a country code. */
  readonly region: string | undefined;
}

/**
 * Reads records back with as few requests as possible, keeps them in the plan (`shown`), and lists every field that differs from the input
 * (`change`). Nothing is written to the checkpoint: see `rememberShown`.
 */
export async function recheck(job: RecheckJob, subjects: readonly Subject[]): Promise<void> {
  for (const entity of CHECKED) {
    const own = subjects.filter((subject) => subject.entity === entity);
    if (own.length > 0) await readEntity(job, entity, own);
  }
}

async function readEntity(job: RecheckJob, entity: Entity, subjects: readonly Subject[]): Promise<void> {
  const { db, hasher, client, concurrency, region } = job;
  const byServiceId = new Map<string, Subject[]>();
  for (const subject of subjects) {
    const serviceId = subject.known.serviceId!;
    byServiceId.set(serviceId, [...(byServiceId.get(serviceId) ?? []), subject]);
  }
  const atLeast = db.get<{ count: number }>(
    'select count(*) as count from checkpoint.record where entity = ? and is_acknowledged = 1',
    entity,
  )!.count;
  const found: Found[] = [];
  for await (const each of readBack(client, entity, byServiceId.keys(), { atLeast, concurrency })) {
    found.push({ ...each, record: each.record && shownFields(entity, each.record) });
  }
  const parentsOf = shownParents(
    db,
    hasher,
    entity,
    found.map(({ record }) => record),
  );
  for (const { serviceId, record, instead } of found) {
    for (const subject of byServiceId.get(serviceId)!) {
      const around = { subject, parents: parentsOf(subject.known), hasher, region };
      if (record) judgeShown(db, subject, recordInService(entity, record, around));
      else reportGone(db, subject, instead);
    }
  }
}

function judgeShown(db: Database, subject: Subject, shown: RecordInService): void {
  const { entity, external_id: id, wanted } = subject;
  const sql = 'insert or replace into shown (entity, external_id, fields) values (?, ?, ?)';
  db.run(sql, entity, id, JSON.stringify(shown.fields));
  const known = seen(subject.known, wanted.fields, shown.fields);
  const decided = next(wanted, known, shownBy(subject), shown.fields);
  conclude(db, subject, decided);
  listChanges(db, { ...subject, known }, decided, shown);
}

/** What became of a single record stops neither the run nor the other records. */
function reportGone(db: Database, subject: Subject, instead: Found['instead']): void {
  const { entity, external_id: externalId } = subject;
  const name = `${entity} \`${externalId}\``;
  const issue =
    instead === undefined
      ? issueOf('deleted_in_service', name)
      : instead instanceof RecordMerged
        ? issueOf('merged_in_service', name, instead.into)
        : issueOf('refused_in_service', name, instead.message);
  rejectEvent(db, subject, issue);
  listUnshown(db, subject, issue.code, instead instanceof RecordMerged ? instead.into : '');
}

type ShownRow = RecordKey & { readonly fields: string };

/** Stores the knowledge from the records that were read back. In a transaction of the caller. */
export function rememberShown(db: Database, policies: readonly Policies[], hasher: FieldHasher): void {
  for (const { entity, external_id: id, fields } of db.each<ShownRow>('select * from shown')) {
    const shown = JSON.parse(fields) as ShownFields;
    for (const subject of subjectsOf(db, policies, hasher, 'e.entity = ? and e.external_id = ?', entity, id))
      storeKnown(db, hasher, subject, seen(subject.known, subject.wanted.fields, shown), subject.wanted);
  }
}

/** A record as the service showed it; undefined if it was not read back. */
export function shownOf(db: Database, { entity, external_id: id }: RecordKey): ShownFields | undefined {
  const sql = 'select fields from shown where entity = ? and external_id = ?';
  const row = db.get<Pick<ShownRow, 'fields'>>(sql, entity, id);
  return row && (JSON.parse(row.fields) as ShownFields);
}

/**
 * Reads back the records of which an answer said that they are there, but not with which values (`deduplicated` after several
 * bodies, or by a checkpoint that is lost). Returns whether something is left to be sent of them.
 */
export async function readLeft(
  job: RecheckJob & {
    readonly commits: Commits;
    readonly policies: readonly Policies[];
    readonly writeChanges: () => Promise<void>;
  },
): Promise<boolean> {
  const { db, commits, policies, hasher } = job;
  const toRead = `e.state = 'ready' and e.${UNACKNOWLEDGED} and e.code = 'to_read'`;
  const subjects = [...subjectsOf(db, policies, hasher, toRead)];
  if (subjects.length === 0) return false;
  await recheck(job, subjects);
  await job.writeChanges();
  await commits.commit(() => rememberShown(db, policies, hasher));
  const isLeft = `select 1 from event where id = ? and state = 'ready'`;
  const left = subjects.flatMap(({ id }) => (db.get(isLeft, id) ? [id] : []));
  appendTurns(db, left);
  return left.length > 0;
}
