/** Which record is meant. */
import { UserError } from '../../errors.ts';
import { ENTITIES, COMBINED } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import { meant, nearest } from '../../problem.ts';
import { carrierOf } from '../../plan/judge/combine.ts';
import type { AskedRecord, NamedRecord } from '../../settings/run-settings.ts';
import { whySkipped } from '../../report/error-files.ts';
import type { Database } from '../../store/sqlite.ts';

/**
 * The record with this id: exactly, or if there is none, that of this place (`contacts.csv:5`), or the only one whose id differs in letter case; of a comment that went with others, the combined one. Throws a `UserError` if
 * neither the plan nor the checkpoint has it, or if several are meant.
 */
export function findRecord(db: Database, asked: AskedRecord): NamedRecord {
  const entities = asked.entity === undefined ? ENTITIES : [asked.entity];
  const exact = entities.flatMap((entity): NamedRecord[] => {
    const carrier = entity === COMBINED ? carrierOf(db, asked.externalId) : undefined;
    if (carrier !== undefined) return [{ entity, externalId: carrier }];
    return isKnown(db, entity, asked.externalId) ? [{ entity, externalId: asked.externalId }] : [];
  });
  const found = [
    () => exact,
    () => (asked.entity === undefined ? atPlace(db, asked.externalId) : []),
    () => entities.flatMap((entity) => inOtherCase(db, entity, asked.externalId)),
  ].reduce<NamedRecord[]>((known, find) => (known.length > 0 ? known : find()), []);
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw unknownRecord(db, asked, entities);
  const names = found.slice(0, 3).map(nameOf);
  throw new UserError(`several records are meant by ${asked.externalId}`, { hint: meant(names)! });
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

/** The row that begins in this line of a file, which has this path or name; `?1` is the file, `?2` the line. */
const ROW = `select r.id from record r join file f on f.id = r.file
  where r.line = ?2 and (f.path = ?1 or substr(f.path, -length(?1) - 1) = '/' || ?1)`;

/** `contacts.csv:5`, as messages name a row. */
function placeIn(text: string): [file: string, line: number] | undefined {
  const [, file, line] = /^(.+):(\d+)$/s.exec(text) ?? [];
  return file === undefined ? undefined : [file, Number(line)];
}

function atPlace(db: Database, text: string): NamedRecord[] {
  const place = placeIn(text);
  if (!place) return [];
  return db.all<NamedRecord>(
    `with row as (${ROW})
    select e.entity, e.external_id as externalId from event e
    where e.external_id is not null
      and (e.record in (select id from row) or e.id in (select event from row_of where record in (select id from row)))
    group by 1, 2 order by min(e.id)`,
    ...place,
  );
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
    skippedAt(db, externalId) ??
      (entities.includes(COMBINED)
        ? 'a comment without an id in the export is listed with its lead or deal: explain that record'
        : 'rows that `when` skips, and rows that cannot be read, have no events: see left_out.csv and errors.csv'),
    '`plan --json` lists the ids of all records',
  ];
  return new UserError(`there is no record \`${nameOf(asked)}\` in the plan or the checkpoint`, {
    hint: hints.filter((hint) => hint !== '').join('\n'),
  });
}

/** Why the row of this place became no event. */
function skippedAt(db: Database, text: string): string | undefined {
  const place = placeIn(text);
  const row =
    place &&
    db.get<Parameters<typeof whySkipped>[0]>(`select reason, unmet from skipped where record in (${ROW})`, ...place);
  return row && `its row became no event: ${whySkipped(row)}`;
}

/** In the form in which people type them: `lead:100`. */
function nearIn(db: Database, entity: Entity, externalId: string): string[] {
  const sql = 'select distinct external_id as id from event where entity = ? and external_id is not null';
  const ids = Array.from(db.each<{ id: string }>(sql, entity), ({ id }) => id);
  return nearest(externalId, ids).map((id) => nameOf({ entity, externalId: id }));
}
