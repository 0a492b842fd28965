/** Which record is meant. */
import { UserError } from '../../errors.ts';
import { ENTITIES, COMBINED } from '../../kinds/index.ts';
import { placeText, type Entity, type Place } from '../../model.ts';
import { meant, nearest } from '../../problem.ts';
import { carrierOf } from '../../plan/rows/combine.ts';
import type { RowsAt } from '../../report/figures/story.ts';
import type { AskedRecord, NamedRecord } from '../../settings/run-settings.ts';
import type { Database } from '../../store/sqlite.ts';

/**
 * The record with this id: exactly, or if there is none, that of this place (`contacts.csv:5`), the one that became no event, or the only
 * one whose id differs in letter case; of a comment that went with others, the combined one. Throws a `UserError` if neither the plan
 * nor the checkpoint has it, or if several are meant.
 */
export function findRecord(db: Database, asked: AskedRecord): NamedRecord | RowsAt {
  const { externalId: id } = asked;
  const entities = asked.entity === undefined ? ENTITIES : [asked.entity];
  const exact = entities.flatMap((entity): NamedRecord[] => {
    const carrier = entity === COMBINED ? carrierOf(db, id) : undefined;
    if (carrier !== undefined) return [{ entity, externalId: carrier }];
    return isKnown(db, entity, id) ? [{ entity, externalId: id }] : [];
  });
  const rows = asked.entity === undefined && exact.length === 0 ? rowsAt(db, id) : [];
  const found = [
    () => exact,
    () => recordsOf(db, rows),
    () => (rows.length > 0 ? [{ place: id, rows }] : []),
    () => entities.flatMap((entity) => (isUnused(db, entity, id) ? [{ entity, externalId: id }] : [])),
    () => entities.flatMap((entity) => inOtherCase(db, entity, id)),
  ].reduce<(NamedRecord | RowsAt)[]>((known, find) => (known.length > 0 ? known : find()), []);
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw unknownRecord(db, asked, entities);
  const names = found.slice(0, 3).map((each) => ('place' in each ? each.place : nameOf(each)));
  throw new UserError(`several records are meant by ${id}`, { hint: meant(names)! });
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

/** Whether a row would have been this record, but became no event. */
function isUnused(db: Database, entity: Entity, id: string): boolean {
  return db.get('select 1 from unused where entity = ? and external_id = ? limit 1', entity, id) !== undefined;
}

/** The forms in which a row is named: `contacts.csv:5`, `contacts.csv:5:12`, `crm.xlsx#Deals!C17`, `crm.json record 3`. */
const PLACES = [
  /^(?<file>.*):(?<line>\d+)$/s,
  /^(?<file>.*):(?<line>\d+):\d+$/s,
  /^(?<file>.*#.*)![a-z]{1,3}(?<line>\d+)$/is,
  /^(?<file>.+) record (?<record>\d+)$/s,
];

interface AskedPlace {
  /** Its path or a part of it; may be empty. */
  readonly file: string;
  readonly line: number | null;
  readonly record: number | null;
}

function placesIn(text: string): AskedPlace[] {
  return PLACES.flatMap((form) => {
    const { file, line, record } = form.exec(text)?.groups ?? {};
    const [at, number] = [line, record].map((digits) => (digits === undefined ? null : Number(digits)));
    return file === undefined ? [] : [{ file: file.replace(/^(?:\.\/)+/, ''), line: at!, record: number! }];
  });
}

/** Files with this path (`?1`): messages name it from the directory of the run, people from theirs; or with this name, or sheet. */
const IS_FILE = `(?1 = '' or f.path = ?1 or substr(f.path, -length(?1) - 1) = '/' || ?1 or substr(?1, -length(f.path) - 1) = '/' || f.path
  or (?1 like '#%' and substr(f.path, -length(?1)) = ?1))`;

/** The rows that begin there, and those that were read in place of one. */
function rowsAt(db: Database, text: string): number[] {
  const find = `select r.id from record r join file f on f.id = r.file where (r.line = ?2 or r.number = ?3) and ${IS_FILE}
    union select p.record from replaced p join file f on f.id = p.file where p.line = ?2 and ${IS_FILE}`;
  const found = placesIn(text).map(({ file, line, record }) => db.all<{ id: number }>(find, file, line, record));
  return (found.find((rows) => rows.length > 0) ?? []).map(({ id }) => id);
}

function recordsOf(db: Database, rows: readonly number[]): NamedRecord[] {
  return db.all<NamedRecord>(
    `with row as (select value as id from json_each(?))
    select e.entity, e.external_id as externalId from event e
    where e.external_id is not null
      and (e.record in (select id from row) or e.id in (select event from row_of where record in (select id from row)))
    group by 1, 2 order by min(e.id)`,
    JSON.stringify(rows),
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
  const before = rowBefore(db, externalId);
  const others = ENTITIES.filter((other) => other !== entity && isKnown(db, other, externalId));
  const hints =
    before !== undefined
      ? [`no record begins there; the one before it begins at ${before}`]
      : [
          ...others.map((other) => `there is a ${other}:${externalId}`),
          meant(entities.flatMap((each) => nearIn(db, each, externalId)).slice(0, 3)) ?? '',
          entities.includes(COMBINED) && hasNameless(db)
            ? 'a comment without an id in the export is listed with its lead or deal: explain that record'
            : '',
          'a row is found by its place, such as `contacts.csv:5`; `plan --json` lists the ids of all records',
        ];
  return new UserError(`there is no record \`${nameOf(asked)}\` in the plan or the checkpoint`, {
    hint: hints.filter((hint) => hint !== '').join('\n'),
  });
}

/** Where the record begins to which a line of a file may belong. */
function rowBefore(db: Database, text: string): string | undefined {
  for (const { file, line } of placesIn(text)) {
    const row = db.get<Omit<Place, 'source'>>(
      `select r.file, r.line, r.record from row r join file f on f.id = r.file_id
        where r.line between 1 and ?2 and ${IS_FILE} order by r.line desc, r.id limit 1`,
      file,
      line,
    );
    if (row) return placeText(row);
  }
  return undefined;
}

/** Whether the plan has comments without an id. */
function hasNameless(db: Database): boolean {
  return db.get(`select 1 from event where entity = '${COMBINED}' and external_id is null limit 1`) !== undefined;
}

/** In the form in which people type them: `lead:100`. */
function nearIn(db: Database, entity: Entity, externalId: string): string[] {
  const sql = 'select distinct external_id as id from event where entity = ? and external_id is not null';
  const ids = Array.from(db.each<{ id: string }>(sql, entity), ({ id }) => id);
  return nearest(externalId, ids).map((id) => nameOf({ entity, externalId: id }));
}
