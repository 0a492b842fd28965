/** Which record is meant. */
import { UserError } from '../../errors.ts';
import { COMBINED, ENTITIES } from '../../kinds/index.ts';
import { meant } from '../../problem.ts';
import { carrierOf } from '../../plan/rows/combine.ts';
import type { RowsAt } from '../../report/figures/story.ts';
import type { AskedRecord, NamedRecord } from '../../settings/run-settings.ts';
import type { Database } from '../../store/sqlite.ts';

/**
 * The record with this id, or if there is none, that of this place (`contacts.csv:5`); of a comment that went with others, the combined one.
 * Throws a `UserError` if neither the plan nor the checkpoint has it, or if several are meant.
 */
export function findRecord(db: Database, asked: AskedRecord): NamedRecord | RowsAt {
  const { entity: only, externalId: id } = asked;
  const named = (entity: string): NamedRecord[] =>
    db.all<NamedRecord>(
      `select entity, external_id as externalId from event where entity = ?1 and external_id = ?2
       union select entity, external_id from checkpoint.record where entity = ?1 and external_id = ?2
       union select entity, external_id from unused where entity = ?1 and external_id = ?2`,
      entity,
      (entity === COMBINED ? carrierOf(db, id) : undefined) ?? id,
    );
  const exact = (only === undefined ? ENTITIES : [only]).flatMap(named);
  const rows = only === undefined && exact.length === 0 ? rowsAt(db, id) : [];
  const found = rows.length > 0 ? recordsOf(db, rows) : exact;
  const [first = rows.length > 0 ? { place: id, rows } : undefined, ...others] = found;
  if (!first) {
    const name = only === undefined ? id : `${only}:${id}`;
    throw new UserError(`there is no record \`${name}\` in the plan or the checkpoint`, {
      hint: 'ids are compared exactly; a row is found by its place, such as `contacts.csv:5`; `plan --json` lists all records',
    });
  }
  if (others.length === 0) return first;
  const names = found.slice(0, 3).map((each) => `${each.entity}:${each.externalId}`);
  throw new UserError(`several records are meant by ${id}`, { hint: meant(names)! });
}

/** The forms in which a row is named: `contacts.csv:5`, `contacts.csv:5:12`, `crm.xlsx#Deals!C17`, `crm.json record 3`. */
const PLACE = /^(?:\.\/)*(?<file>.*?)(?::(?<line>\d+)(?::\d+)?|![a-z]{1,3}(?<cell>\d+)| record (?<record>\d+))$/is;

/** The rows that begin there, and those that were read in place of one. Messages name a file from the directory of the run, people from theirs. */
function rowsAt(db: Database, text: string): number[] {
  const { file, line, cell, record } = PLACE.exec(text)?.groups ?? {};
  if (file === undefined) return [];
  const isFile = `(f.path = ?1 or f.path like '%/' || ?1 or ?1 like '%/' || f.path or (?1 like '#%' and f.path like '%' || ?1))`;
  return db
    .all<{ id: number }>(
      `select r.id from record r join file f on f.id = r.file where (r.line = ?2 or r.number = ?3) and ${isFile}
       union select p.record from replaced p join file f on f.id = p.file where p.line = ?2 and ${isFile}`,
      file,
      line ?? cell ?? null,
      record ?? null,
    )
    .map(({ id }) => id);
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
