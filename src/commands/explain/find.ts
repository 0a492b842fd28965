/** Which record is meant. */
import { UserError } from '../../errors.ts';
import { ENTITIES, COMBINED } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import { meant, nearest } from '../../problem.ts';
import { carrierOf } from '../../plan/judge/combine.ts';
import type { AskedRecord, NamedRecord } from '../../settings/run-settings.ts';
import type { Database } from '../../store/sqlite.ts';

/**
 * The record with this id: exactly, or if there is none, the only one whose id differs in letter case; of a comment that went with others, the combined one. Throws a `UserError` if
 * neither the plan nor the checkpoint has it, or if several are meant.
 */
export function findRecord(db: Database, asked: AskedRecord): NamedRecord {
  const entities = asked.entity === undefined ? ENTITIES : [asked.entity];
  const exact = entities.flatMap((entity): NamedRecord[] => {
    const carrier = entity === COMBINED ? carrierOf(db, asked.externalId) : undefined;
    if (carrier !== undefined) return [{ entity, externalId: carrier }];
    return isKnown(db, entity, asked.externalId) ? [{ entity, externalId: asked.externalId }] : [];
  });
  const found = exact.length > 0 ? exact : entities.flatMap((entity) => inOtherCase(db, entity, asked.externalId));
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw unknownRecord(db, asked, entities);
  const names = found.slice(0, 3).map(nameOf);
  throw new UserError(`several records have the id ${asked.externalId}`, { hint: meant(names)! });
}

/** `lead:100` */
function nameOf({ entity, externalId }: AskedRecord): string {
  return entity === undefined ? externalId : `${entity}:${externalId}`;
}

function isKnown(db: Database, entity: Entity, id: string): boolean {
  const about = `select 1 from event where entity = ? and external_id = ?
    union all select 1 from checkpoint.record where entity = ? and external_id = ? limit 1`;
  return db.get(about, entity, id, entity, id) !== undefined;
}

function inOtherCase(db: Database, entity: Entity, id: string): NamedRecord[] {
  const alike = `select external_id as externalId from event where entity = ? and external_id = ? collate nocase
    union select external_id from checkpoint.record where entity = ? and external_id = ? collate nocase`;
  const rows = db.all<{ externalId: string }>(alike, entity, id, entity, id);
  return rows.map(({ externalId }) => ({ entity, externalId }));
}

function unknownRecord(db: Database, asked: AskedRecord, entities: readonly Entity[]): UserError {
  const { entity, externalId } = asked;
  const others = ENTITIES.filter((other) => other !== entity && isKnown(db, other, externalId));
  const hints = [
    ...others.map((other) => `there is a ${other}:${externalId}`),
    meant(entities.flatMap((each) => nearIn(db, each, externalId)).slice(0, 3)) ?? '',
    entities.includes(COMBINED)
      ? 'a comment without an id in the export is listed with its lead or deal: explain that record'
      : 'rows that `when` skips, and rows that cannot be read, have no events: see left_out.csv and errors.csv',
    '`plan --json` lists the ids of all records',
  ];
  return new UserError(`there is no ${nameOf(asked)} in the plan or the checkpoint`, {
    hint: hints.filter((hint) => hint !== '').join('\n'),
  });
}

/** In the form in which people type them: `lead:100`. */
function nearIn(db: Database, entity: Entity, externalId: string): string[] {
  const sql = 'select distinct external_id as id from event where entity = ? and external_id is not null';
  const ids = Array.from(db.each<{ id: string }>(sql, entity), ({ id }) => id);
  return nearest(externalId, ids).map((id) => nameOf({ entity, externalId: id }));
}
