/** The files that have a row for each problem, what is left out, and id in the service. */
import { placedFile } from '../../store/plan-schema.ts';
import { COMBINED, KINDS } from '../../kinds/index.ts';
import { csvHead, csvLine } from '../../files/csv.ts';
import type { StateDir } from '../../files/state-dir.ts';
import type { Database } from '../../store/sqlite.ts';
import { writeLines } from '../../files/write-lines.ts';

type SelectedRow = Readonly<Record<string, string | number | null>>;

/** A file with the rows that a statement selects. */
interface SelectedFile {
  /** Their names, as the statement returns them. */
  readonly columns: string;
  readonly statement: string;
  readonly options?: TableOptions<SelectedRow>;
}

const FILES = {
  /** Every event that is not acknowledged and not merely pending. */
  'errors.csv': {
    columns:
      'source file line record event_type external_id event_id kind code http_status field message hint attempts at',
    statement: `
    select r.source, ${placedFile('p')} as file, r.line, r.record, e.type as event_type, e.external_id,
      iif(p.attempts > 0, (
        select q.id from checkpoint.request q where q.entity = e.entity and q.external_id = e.external_id order by q.n desc limit 1),
        null) as event_id, p.kind, p.code, p.http_status, p.field, p.message, p.hint, p.attempts, p.at
    from problem p join problem_row w on w.problem = p.id left join event e on e.id = p.event
      left join row r on r.id = w.record
    where p.severity = 'error' order by p.id, r.id`,
  },
  /** Every value and (without a field) every row that is left out. */
  'left_out.csv': {
    columns: 'source file line external_id field original reason',
    statement: 'select source, file, line, external_id, field, original, reason from left_out',
  },
  /** The ids in the service of everything that was acknowledged: for programs, so without a byte-order mark. */
  'ids.csv': {
    columns: 'type external_id service_id',
    statement: `
    select type, external_id, service_id from checkpoint.record
    where entity = ?1 and is_acknowledged = 1 and service_id is not null
    union all
    select distinct type, external_id, service_id from checkpoint.carried
    where ?1 = '${COMBINED}' and is_certain = 1 and service_id is not null
    order by external_id`,
    // In the order in which they are stored: sorting a million of them would take longer than writing the file.
    options: { bom: false, each: KINDS.map(({ name }) => name) },
  },
} as const satisfies Readonly<Record<string, SelectedFile>>;

/** Writes one of the files from the plan and the checkpoint. */
export function writeFile(db: Database, output: Pick<StateDir, 'file'>, name: keyof typeof FILES): void {
  const { columns, statement, options }: SelectedFile = FILES[name];
  writeTable(db, output.file(name), columns, statement, options);
}

interface TableOptions<R> {
  /** Whether people open the file in a spreadsheet. */
  readonly bom?: boolean;
  /** The statement runs once for each, as its only value. */
  readonly each?: readonly string[];
  /** Converts a row for the file. */
  readonly shown?: (row: R) => R;
}

/** Writes the rows that a statement selects. `columns`: their names, as the statement returns them. */
export function writeTable<R extends SelectedRow>(
  db: Database,
  path: string,
  columns: string,
  statement: string,
  { bom = true, each, shown = (row) => row }: TableOptions<R> = {},
): void {
  const names = columns.split(' ');
  function* selected(): Generator<R> {
    if (!each) yield* db.each<R>(statement);
    for (const value of each ?? []) yield* db.each<R>(statement, value);
  }
  writeLines(path, bom ? csvHead(names) : csvLine(names), selected(), (row) => {
    const cells = shown(row);
    return csvLine(names.map((name) => cells[name] ?? undefined));
  });
}
