/**
 * The plan to sign: one CSV file per event type, the columns of the export beside the fields of the event, and what is
 * left out.
 */
import { join } from 'node:path';
import { csvHead, csvLine } from '../../files/csv.ts';
import type { StateDir } from '../../files/state-dir.ts';
import { LineFile } from '../../files/write-lines.ts';
import { cellText, parseJson, type JsonObject, type JsonValue } from '../../json.ts';
import { CUSTOM_FIELDS, EVENT_TYPES } from '../../kinds/index.ts';
import { uniqueNames } from '../../mapping/values/path.ts';
import type { EventType } from '../../model.ts';
import { namesById } from '../../service/account.ts';
import { STATE_IN_SQL } from '../../model.ts';
import { fieldsOf } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';
import { readDocument } from './documents.ts';
import { writeFile } from './error-files.ts';
import { publishDirectory, type WrittenBeside } from './own-files.ts';

/** Of a dry run, with these files. */
export const PLAN_FOLDER = 'plan';

/** Rows between two pauses. */
const BATCH = 1_000;

const LEFT_OUT_FILE = 'left_out.csv';

/** Writes the files into the folder of a dry run. Throws a `UserError`. */
export function writePlanFolder(db: Database, output: StateDir): Promise<readonly WrittenBeside[]> {
  return publishDirectory(db, output, PLAN_FOLDER, (directory) => writePlanCsv(db, directory));
}

/** Writes the files into an empty directory, and returns their names. Throws a `UserError` if one cannot be written. */
export async function writePlanCsv(db: Database, directory: string): Promise<string[]> {
  const names = namesById(readDocument(db, 'account'));
  const files: string[] = [];
  for (const type of EVENT_TYPES) {
    if (!db.get('select 1 from event where type = ? limit 1', type)) continue;
    const name = `${type.replace('/', '-')}.csv`;
    await writeType(db, type, join(directory, name), names);
    files.push(name);
  }
  writeFile(db, { file: (name) => join(directory, name) }, LEFT_OUT_FILE);
  return [...files, LEFT_OUT_FILE];
}

interface PlannedRow {
  readonly file: string;
  readonly line: number;
  readonly state: string;
  readonly external_id: string | null;
  readonly occurred_at: string | null;
  readonly priority: number;
  readonly data: string | null;
  readonly raw: string | null;
  readonly source: string;
  readonly problems: string | null;
  /** The other rows of its record, in JSON; null if it has one. */
  readonly others: string | null;
  /** The comments that a combined one carries. */
  readonly parts: string | null;
}

interface OtherRow extends Pick<PlannedRow, 'raw' | 'source'> {
  readonly place: string;
}

async function writeType(db: Database, type: EventType, path: string, names: Names): Promise<void> {
  const has = (what: string): boolean =>
    db.get(`select 1 from event e where type = ? and ${what} limit 1`, type) !== undefined;
  const [isFolded, isCombined] = [has('rows > 1'), has('exists (select 1 from part where event = e.id)')];
  const old = oldColumns(db, type);
  const fields = fieldsIn(db, type);
  const csv = new LineFile(path);
  try {
    csv.add(
      csvHead([
        ...[
          'file',
          'line',
          ...(isFolded ? ['further rows'] : []),
          ...(isCombined ? ['parts'] : []),
          'state',
          'problems',
        ],
        ...old.names.map((name) => `old: ${name}`),
        ...['external_id', ...fields, 'occurred_at'].map((name) => `new: ${name}`),
        'priority',
      ]),
    );
    for await (const row of rowsOf(db, type)) {
      const others = row.others === null ? [] : (JSON.parse(row.others) as OtherRow[]);
      const values = new Map(row.data === null ? [] : namedValues(parseJson(row.data) as JsonObject, names));
      const cells = [
        ...[row.file, row.line, ...(isFolded ? [others.map(({ place }) => place).join('; ')] : [])],
        ...[...(isCombined ? [row.parts] : []), row.state, row.problems],
        ...old.cells([row, ...others]),
        ...[row.external_id, ...fields.map((name) => values.get(name)), row.occurred_at, row.priority],
      ];
      csv.add(csvLine(cells.map((cell) => cell ?? undefined)));
    }
  } finally {
    csv.close();
  }
}

/** In the order of reading: with an index on the type, all rows would be sorted. */
async function* rowsOf(db: Database, type: EventType): AsyncGenerator<PlannedRow, void> {
  const rows = db.each<PlannedRow>(
    `select r.file, r.line, ${STATE_IN_SQL} as state, e.external_id, e.occurred_at, e.priority, e.data, r.raw, r.source,
        (select group_concat(p.message, '; ') from problem p where p.event = e.id) as problems,
        (select group_concat(external_id, '; ' order by position) from part where event = e.id) as parts,
        case when e.rows > 1 then
          (select json_group_array(json_object('place', o.place, 'raw', o.raw, 'source', o.source))
            from row_of w join row o on o.id = w.record where w.event = e.id and w.record <> e.record) end as others
      from event e not indexed join row r on r.id = e.record
      where e.type = ? order by e.id`,
    type,
  );
  let read = 0;
  for (const row of rows) {
    yield row;
    read += 1;
    // Without a pause, Ctrl-C would not be noticed, and memory of the engine would not be freed.
    if (read % BATCH === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The columns of the exports from which events of a type come, and the cells of all rows of one record in them. */
function oldColumns(db: Database, type: EventType) {
  const names: string[] = [];
  const placeOf = (name: string): number => (names.includes(name) ? names.indexOf(name) : names.push(name) - 1);
  /** By source, where the cells of a row stand: by their position, or by their keys. */
  const places = new Map<string, ReadonlyMap<string, number>>();
  for (const { id, name, kind, columns } of sourcesOf(db, type)) {
    const keys: [key: string, name: string][] =
      kind === 'table'
        ? uniqueNames(JSON.parse(columns) as string[]).map((column, at) => [String(at), column])
        : keysIn(db, id).map((key) => [key, key]);
    places.set(name, new Map(keys.map(([key, column]) => [key, placeOf(column)])));
  }
  const cells = (rows: readonly Pick<OtherRow, 'raw' | 'source'>[]): string[] => {
    const found = names.map(() => '');
    const set = (place: number | undefined, value: JsonValue | undefined): void => {
      const text = cellText(value);
      if (place === undefined || text === '' || found[place]!.split('; ').includes(text)) return;
      found[place] = found[place] === '' ? text : `${found[place]}; ${text}`;
    };
    for (const { raw, source } of rows) {
      const [row, at] = [raw === null ? {} : (parseJson(raw) as JsonObject), places.get(source)!];
      for (const [key, value] of Object.entries(row)) set(at.get(key), value);
    }
    return found;
  };
  return { names, cells };
}

interface SourceOf {
  readonly id: number;
  readonly name: string;
  readonly kind: string;
  readonly columns: string;
}

function sourcesOf(db: Database, type: EventType): SourceOf[] {
  return db.all<SourceOf>(
    `select id, name, kind, columns from source where id in (
        select f.source from file f where f.id in (
          select r.file from event e join record r on r.id = e.record where e.type = ?1
          union select r.file from event e join row_of w on w.event = e.id join record r on r.id = w.record
            where e.type = ?1 and e.rows > 1))
      order by id`,
    type,
  );
}

function keysIn(db: Database, source: number): readonly string[] {
  const sql = `select k.key from record r, json_each(r.raw) k
    where r.raw is not null and r.file in (select id from file where source = ?) group by k.key order by min(r.id), min(k.id)`;
  return db.all<{ key: string }>(sql, source).map(({ key }) => key);
}

/** Of stages and users, by their ids in lower case. */
type Names = ReadonlyMap<string, string>;

/** The fields of an event, with the names of stages and owners before their ids. */
function namedValues(data: JsonObject, names: Names): [name: string, text: string][] {
  return [...fieldsOf(data)].flatMap(([name, value]): [string, string][] => {
    const text = cellText(value);
    const named = NAMED[name];
    return [
      ...(named === undefined ? [] : [[named, names.get(text.toLowerCase()) ?? ''] as [string, string]]),
      [name, text],
    ];
  });
}

const NAMED: Readonly<Record<string, string>> = { stage_id: 'stage', owner_id: 'owner' };

/** The names of `namedValues` that events of a type have. */
function fieldsIn(db: Database, type: EventType): string[] {
  const found = db.all<{ name: string }>(
    `select distinct case when c.key is null then f.key else f.key || '.' || c.key end as name
      from event e, json_each(e.data) f
        left join json_each(e.data, '$.' || f.key) c on f.key in (select value from json_each(?2))
      where e.type = ?1 and e.data is not null and f.key <> 'external_id'`,
    type,
    JSON.stringify(CUSTOM_FIELDS),
  );
  const names = found.map(({ name }) => name).sort();
  return names.flatMap((name) => (NAMED[name] === undefined ? [name] : [NAMED[name], name]));
}
