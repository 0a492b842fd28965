/**
 * The plan to sign: one CSV file per event type, the columns of the export beside the fields of the event, and what is
 * left out. Reads the rows twice instead of keeping them: first for their columns, then to write them.
 */
import { csvHead, csvLine } from '../../files/csv.ts';
import { parseJson, type JsonObject } from '../../json.ts';
import { EVENT_TYPES } from '../../kinds/index.ts';
import { placeText, type EventType } from '../../model.ts';
import { writeFile } from '../../report/files/error-files.ts';
import { fieldsOf } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';
import { LineFile } from '../../files/write-lines.ts';
import { fateOf, rawOf } from '../../report/figures/story.ts';
import { valueText } from '../../report/figures/plan.ts';

/** Rows between two pauses. */
const BATCH = 1_000;

interface PlannedRow {
  readonly file: string;
  readonly line: number;
  readonly state: string;
  readonly external_id: string | null;
  readonly occurred_at: string | null;
  readonly priority: number;
  readonly data: string | null;
  readonly raw: string | null;
  readonly columns: string;
  readonly problems: string | null;
  /** The other rows of its record, in JSON. */
  readonly others: string;
  /** The comments that a combined one carries. */
  readonly parts: string | null;
}

/** The cells of all rows of the event's record; of a column that several have, all different values. */
function oldCells(row: PlannedRow): Map<string, string> {
  const cells = new Map<string, string>();
  const others = JSON.parse(row.others) as Pick<PlannedRow, 'raw' | 'columns'>[];
  for (const [name, value] of [row, ...others].flatMap((each) => Object.entries(rawOf(each) ?? {}))) {
    const [before, text] = [cells.get(name), valueText(value)];
    if (before === undefined || before === '') cells.set(name, text);
    else if (text !== '' && !before.split('; ').includes(text)) cells.set(name, `${before}; ${text}`);
  }
  return cells;
}

/** `contacts.csv:2; scores.csv:7`: where the rows of the record stand, but for the first. */
function otherPlaces({ others }: PlannedRow): string {
  return (JSON.parse(others) as Pick<PlannedRow, 'file' | 'line'>[])
    .map(({ file, line }) => placeText({ file, line, record: 0 }))
    .join('; ');
}

/**
 * Writes the files into an empty directory, and returns their paths. `names`: of stages and users, by their ids in lower case.
 * Throws a `UserError` if a file cannot be written.
 */
export async function writePlanCsv(db: Database, directory: string, names: Names): Promise<string[]> {
  const files: string[] = [];
  for (const type of EVENT_TYPES) {
    if (!db.get('select 1 from event where type = ? limit 1', type)) continue;
    files.push(await writeType(db, type, `${directory}/${type.replace('/', '-')}.csv`, names));
  }
  const file = (name: string): string => `${directory}/${name}`;
  writeFile(db, { file }, 'left_out.csv');
  return [...files, file('left_out.csv')];
}

async function writeType(db: Database, type: EventType, path: string, names: Names): Promise<string> {
  const [old, fields] = [new Set<string>(), new Set<string>()];
  let [isFolded, isCombined] = [false, false];
  for await (const row of rowsOf(db, type)) {
    for (const name of oldCells(row).keys()) old.add(name);
    if (otherPlaces(row) !== '') isFolded = true;
    if (row.parts !== null) isCombined = true;
    for (const [name] of fieldsIn(row, names)) fields.add(name);
  }
  const head = [
    'file',
    'line',
    ...(isFolded ? ['further rows'] : []),
    ...(isCombined ? ['parts'] : []),
    'state',
    'problems',
    ...labelled('old', old),
    'new: external_id',
    ...labelled('new', fields),
  ];
  const csv = new LineFile(path);
  try {
    csv.add(csvHead([...head, 'new: occurred_at', 'priority']));
    for await (const row of rowsOf(db, type)) {
      const [cells, values] = [oldCells(row), new Map(fieldsIn(row, names))];
      csv.add(
        csvLine([
          ...[row.file, row.line, ...(isFolded ? [otherPlaces(row)] : []), ...(isCombined ? [row.parts ?? ''] : [])],
          ...[fateOf(row.state), row.problems ?? ''],
          ...Array.from(old, (name) => cells.get(name) ?? ''),
          row.external_id ?? '',
          ...Array.from(fields, (name) => values.get(name)),
          ...[row.occurred_at ?? '', row.priority],
        ]),
      );
    }
  } finally {
    csv.close();
  }
  return path;
}

/** In the order of reading: with an index on the type, all rows would be sorted. */
async function* rowsOf(db: Database, type: EventType): AsyncGenerator<PlannedRow, void> {
  const rows = db.each<PlannedRow>(
    `select r.file, r.line, e.state, e.external_id, e.occurred_at, e.priority, e.data, r.raw, r.columns,
        (select group_concat(p.message, '; ') from problem p where p.event = e.id) as problems,
        (select group_concat(external_id, '; ') from (select external_id from part where event = e.id order by position)) as parts,
        (select json_group_array(json_object('file', o.file, 'line', o.line, 'raw', o.raw, 'columns', o.columns))
          from row_of w join row o on o.id = w.record
          where w.event = e.id and e.rows > 1 and w.record <> e.record) as others
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

function labelled(which: 'old' | 'new', names: ReadonlySet<string>): string[] {
  return Array.from(names, (name) => `${which}: ${name}`);
}

type Names = ReadonlyMap<string, string>;

/** The fields of an event, with the names of stages and owners beside their ids. */
function fieldsIn({ data }: PlannedRow, names: Names): [name: string, text: string][] {
  if (data === null) return [];
  return [...fieldsOf(parseJson(data) as JsonObject)].flatMap(([name, value]): [string, string][] => {
    const text = valueText(value);
    const [, named] = /^(stage|owner)_id$/.exec(name) ?? [];
    return [
      ...(named === undefined ? [] : [[named, names.get(text.toLowerCase()) ?? ''] as [string, string]]),
      [name, text],
    ];
  });
}
