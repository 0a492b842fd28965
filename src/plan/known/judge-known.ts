import { next, type Next, type Verdict } from '../../core/next.ts';
import type { Known } from '../../core/known.ts';
import { isShownField, kindOf } from '../../kinds/index.ts';
import type { Policies } from '../../mapping/policies.ts';
import type { Entity, EventType, Place } from '../../model.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import { UNACKNOWLEDGED, UNACKNOWLEDGED_INDEX } from '../../store/plan-schema.ts';
import type { Database } from '../../store/sqlite.ts';
import { concludeParts, isCombined } from '../rows/combine.ts';
import { pagesOf, setState } from '../events.ts';
import { addProblem } from '../problems.ts';
import { listChanges } from './changes-file.ts';
import { readRecord, type RecordKey } from './records.ts';
import { wantedOf, type Subject, type WantedRow } from './wanted.ts';
import { issueOf } from '../../report/words/words.ts';

/**
 * Decides about the records that earlier runs sent. Most have not changed: one join finds them. The core decides about the others. Returns
 * those that it wants to read back first; their events wait for `judgeSubject`.
 */
export function judgeKnown(
  db: Database,
  policies: readonly Policies[],
  hasher: FieldHasher,
  { canRead }: { readonly canRead: boolean },
): Subject[] {
  db.exec(UNACKNOWLEDGED_INDEX);
  db.exec(`
    -- Acknowledged by an earlier run, but its rows can no longer be mapped.
    update event set state = 'acknowledged', code = 'unmapped'
    where state = 'invalid' and ${UNACKNOWLEDGED} and data is null and external_id is not null
      and exists (select 1 from checkpoint.record r where r.entity = event.entity and r.external_id = event.external_id
        and r.is_acknowledged = 1)
      and not exists (select 1 from event o where o.entity = event.entity and o.external_id = event.external_id
        and (o.data is not null or o.id < event.id));
  `);
  const toRead: Subject[] = [];
  for (const subject of subjectsOf(db, policies, hasher)) {
    const decided = next(subject.wanted, subject.known, shownBy(subject, canRead));
    if (decided.step.kind === 'read') toRead.push(subject);
    else {
      conclude(db, subject, decided);
      listChanges(db, subject, decided);
    }
  }
  return toRead;
}

/** The events about records of which something was sent before, that a condition on `event e` selects. */
export function* subjectsOf(
  db: Database,
  policies: readonly Policies[],
  hasher: FieldHasher,
  where = `e.state = 'ready' and e.${UNACKNOWLEDGED}`,
  ...values: readonly string[]
): Generator<Subject> {
  const sql = `select e.id, e.record, e.entity, e.external_id, e.type, e.content, e.data, e.entry, e.field_entries
    from event e join checkpoint.record r on r.entity = e.entity and r.external_id = e.external_id
    where ${where} and e.data is not null and e.id > ? order by e.id limit 500`;
  for (const page of pagesOf<WantedRow & Pick<Subject, 'id' | 'record' | keyof RecordKey>>(db, sql, ...values)) {
    for (const row of page) {
      const { id, record, entity, external_id } = row;
      const { known, rejected } = readRecord(db, hasher, row);
      const wanted = wantedOf(row, policies, hasher);
      yield { id, record, entity, external_id, wanted, known, isRetry: rejected === wanted.content };
    }
  }
}

/** Whether the service shows a field of this record. `canRead`: whether it may be asked at all. */
export function shownBy(
  { entity, known }: { readonly entity: Entity; readonly known: Known },
  canRead = true,
): (field: string) => boolean {
  if (!canRead || known.serviceId === undefined) return () => false;
  return (field) => isShownField(entity, field);
}

/** Sets the state of an event from the next step of its record, and reports differences that stay. */
export function conclude(
  db: Database,
  subject: Pick<Subject, 'id' | 'record' | 'entity' | 'external_id' | 'isRetry'>,
  { step, verdicts }: Next,
): void {
  const { id, record, entity, external_id: externalId } = subject;
  if (step.kind === 'create' || step.kind === 'update') {
    setState(db, id, subject.isRetry ? 'retry' : 'ready');
    const sends = `${entity}/${step.kind}d` satisfies string as EventType;
    db.run('update event set sends = ? where id = ?', sends, id);
    return;
  }
  const fieldsThat = (verdict: Verdict): string[] =>
    [...verdicts].flatMap(([field, each]) => (each === verdict ? [field] : []));
  const uncertain = fieldsThat('uncertain');
  // Whichever text a combined comment has: its parts decide.
  if (uncertain.length > 0 && isCombined(db, id)) return concludeParts(db, id, () => true);
  if (uncertain.length > 0) {
    setState(db, id, 'rejected', 'uncertain');
    const issue = kindOf(entity).isUpdatable
      ? issueOf('uncertain', uncertain.join(', '))
      : issueOf('uncertain/comment');
    addProblem(db, { event: id, record }, issue.with({ field: uncertain[0]! }));
    return;
  }
  setState(db, id, 'acknowledged', null);
  for (const [verdict, code] of kindOf(entity).isUpdatable ? DIFFERENCES : WHOLE_DIFFERENCES) {
    const fields = fieldsThat(verdict);
    if (fields.length === 0) continue;
    db.run('update event set code = ifnull(code, ?) where id = ?', code, id);
    addProblem(db, { event: id, record }, issueOf(code, externalId, fields.join(', ')).with({ field: fields[0]! }));
  }
}

type Difference = readonly [verdict: Verdict, code: DifferenceCode];

/** Codes of acknowledged events that are not as the input says: each ends a run with exit code 1. */
export const DIFFERENCE_CODES = ['changed', 'emptied', 'comment_changed', 'not_comparable'] as const;
export type DifferenceCode = (typeof DIFFERENCE_CODES)[number];

const DIFFERENCES: readonly Difference[] = [
  ['not_comparable', 'not_comparable'],
  ['reported', 'changed'],
  ['emptied', 'emptied'],
];

/** Of a record that is compared as a whole. */
const WHOLE_DIFFERENCES: readonly Difference[] = [['reported', 'comment_changed']];

/** An acknowledged record that is not as the input says: where it is, and which of its fields differ. */
export type ChangedPlace = Pick<Place, 'file' | 'line' | 'record'> & { readonly fields: readonly string[] };

const MOST_PLACES = 2;

/** The first of them. */
export function firstChanged(db: Database): readonly ChangedPlace[] {
  const found = db.all<Omit<ChangedPlace, 'fields'> & { fields: string | null }>(
    `select r.file, r.line, r.record, (
       select group_concat(distinct c.field) from change c
       where c.entity = e.entity and c.external_id = e.external_id and c.field <> '') as fields
     from event e join row r on r.id = e.record
     where e.state = 'acknowledged' and e.code in (select value from json_each(?)) order by e.id limit ${MOST_PLACES}`,
    JSON.stringify(DIFFERENCE_CODES),
  );
  return found.map(({ fields, ...place }) => ({ ...place, fields: fields?.split(',') ?? [] }));
}
