/**
 * The plan to sign: one CSV file per event type, the columns of the export beside the fields of the event, and what is
 * left out. Rows are read twice and never kept: first for the columns that occur, then to be written.
 */
import { CsvFile } from '../csv-file.ts';
import { canonicalJson, isObject, parseJson, type JsonObject, type JsonValue } from '../json.ts';
import { EVENT_TYPES, type EventType } from '../model.ts';
import type { Account } from '../service/account.ts';
import { fieldsOf } from '../store/field-hashes.ts';
import type { Database } from '../store/sqlite.ts';
import { fateOf } from './story.ts';

/** Rows between two pauses. */
const BATCH = 1_000;

export const LEFT_OUT_FILE = 'left_out.csv';

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
}

/** Writes the files into an empty directory, and returns their paths. Throws a `UserError` if one cannot be written. */
export async function writePlanCsv(db: Database, directory: string, account: Account | undefined): Promise<string[]> {
  const names = new Names(account);
  const files: string[] = [];
  for (const type of EVENT_TYPES) {
    if (!db.get('select 1 from event where type = ? limit 1', type)) continue;
    files.push(await writeType(db, type, `${directory}/${type.replace('/', '-')}.csv`, names));
  }
  return [...files, writeLeftOut(db, `${directory}/${LEFT_OUT_FILE}`)];
}

async function writeType(db: Database, type: EventType, path: string, names: Names): Promise<string> {
  const [old, fields] = [new Set<string>(), new Set<string>()];
  for await (const row of rowsOf(db, type)) {
    for (const [name] of cellsOf(row)) old.add(name);
    for (const [name] of names.fields(row)) fields.add(name);
  }
  const head = [
    'file',
    'line',
    'state',
    'problems',
    ...labelled('old', old),
    'new: external_id',
    ...labelled('new', fields),
  ];
  const csv = new CsvFile(path, [...head, 'new: occurred_at', 'priority'], { bom: true });
  try {
    for await (const row of rowsOf(db, type)) {
      const [cells, values] = [new Map(cellsOf(row)), new Map(names.fields(row))];
      csv.add([
        ...[row.file, row.line, fateOf(row.state), row.problems ?? ''],
        ...Array.from(old, (name) => cells.get(name)),
        row.external_id ?? '',
        ...Array.from(fields, (name) => values.get(name)),
        ...[row.occurred_at ?? '', row.priority],
      ]);
    }
  } finally {
    csv.close();
  }
  return path;
}

/** In the order of reading: with an index on the type, all rows would be sorted. */
async function* rowsOf(db: Database, type: EventType): AsyncGenerator<PlannedRow, void> {
  const rows = db.each<PlannedRow>(
    `select f.path as file, r.line, e.state, e.external_id, e.occurred_at, e.priority, e.data, r.raw, s.columns,
        (select group_concat(p.message, '; ') from problem p where p.event = e.id) as problems
      from event e not indexed join record r on r.id = e.record join file f on f.id = r.file
        join source s on s.id = f.source
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

/** The cells of a record by their columns; of a column that the export has twice, the second is `Name (2)`. */
function cellsOf({ raw, columns }: PlannedRow): [name: string, text: string][] {
  if (raw === null) return [];
  const record = parseJson(raw);
  if (isObject(record)) return Object.entries(record).map(([name, value]) => [name, textOf(value)]);
  const names = JSON.parse(columns) as string[];
  return (record as readonly string[]).map((cell, at) => {
    const name = names[at] ?? `column ${at + 1}`;
    const first = names.indexOf(name);
    if (first < 0 || first === at) return [name, cell];
    return [`${name} (${names.slice(0, at + 1).filter((other) => other === name).length})`, cell];
  });
}

/** The fields of events, with the names of stages, pipelines and owners beside their ids. */
class Names {
  readonly #stages: ReadonlyMap<string, readonly [pipeline: string, stage: string]>;
  readonly #owners: ReadonlyMap<string, string>;

  constructor(account: Account | undefined) {
    const { pipelines, users } = account ?? { pipelines: [], users: [] };
    this.#stages = new Map(
      pipelines.flatMap(({ name, stages }) =>
        stages.map((stage) => [stage.id.toLowerCase(), [name, stage.name]] as const),
      ),
    );
    this.#owners = new Map(users.map(({ id, names, email = id }) => [id.toLowerCase(), names[0] ?? email]));
  }

  fields({ data }: PlannedRow): [name: string, text: string][] {
    if (data === null) return [];
    return [...fieldsOf(parseJson(data) as JsonObject)].flatMap(([name, value]): [string, string][] => {
      const text = textOf(value);
      if (name === 'owner_id')
        return [
          ['owner', this.#owners.get(text.toLowerCase()) ?? ''],
          [name, text],
        ];
      if (name !== 'stage_id') return [[name, text]];
      const [pipeline, stage] = this.#stages.get(text.toLowerCase()) ?? ['', ''];
      return [
        ['pipeline', pipeline],
        ['stage', stage],
        [name, text],
      ];
    });
  }
}

function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : canonicalJson(value);
}

const LEFT_OUT = ['type', 'external_id', 'file', 'line', 'field', 'original', 'reason'] as const;

function writeLeftOut(db: Database, path: string): string {
  const csv = new CsvFile(path, LEFT_OUT, { bom: true });
  try {
    const rows = db.each<Readonly<Record<(typeof LEFT_OUT)[number], string | number | null>>>(
      `select e.type, e.external_id, f.path as file, r.line, o.field, o.original, o.reason
        from omission o left join event e on e.id = o.event join record r on r.id = o.record join file f on f.id = r.file
        order by o.id`,
    );
    for (const row of rows) csv.add(LEFT_OUT.map((name) => row[name] ?? ''));
  } finally {
    csv.close();
  }
  return path;
}
