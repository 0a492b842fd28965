/** `errors.csv` and `omitted.csv`: what the plan has of problems and of values left out, as tables. */
import { placedFile } from '../store/plan-schema.ts';
import { COMBINED } from '../kinds/index.ts';
import { csvHead, csvLine } from '../files/csv.ts';
import type { StateDir } from '../files/state-dir.ts';
import type { Database } from '../store/sqlite.ts';
import { ORPHAN, skipText } from '../vocabulary/terms.ts';
import { writeLines } from '../files/write-lines.ts';

export const ERRORS_FILE = 'errors.csv';
export const OMITTED_FILE = 'omitted.csv';
export const IDS_FILE = 'ids.csv';
export const LEFT_OUT_FILE = 'left_out.csv';

const ERROR_COLUMNS =
  'source file line record event_type external_id event_id kind code http_status field message hint attempts at';
const OMITTED_COLUMNS = 'source file line external_id field original reason';
const LEFT_OUT_COLUMNS = 'source file line record reason';
const ID_COLUMNS = 'type external_id service_id';

/** Every event that is not acknowledged and not merely pending. */
export function writeErrors(db: Database, output: StateDir): void {
  writeTable(
    db,
    output.file(ERRORS_FILE),
    ERROR_COLUMNS,
    `
    select s.name as source, ${placedFile('p')} as file, r.line, r.number as record, e.type as event_type, e.external_id,
      iif(p.attempts > 0, (
        select q.id from checkpoint.request q where q.entity = e.entity and q.external_id = e.external_id order by q.n desc limit 1),
        null) as event_id, p.kind, p.code, p.http_status, p.field, p.message, p.hint, p.attempts, p.at
    from problem p join problem_row w on w.problem = p.id left join event e on e.id = p.event
      left join record r on r.id = w.record left join file f on f.id = r.file left join source s on s.id = f.source
    where p.severity = 'error' order by p.id, r.id`,
  );
}

export function writeOmitted(db: Database, output: StateDir): void {
  writeTable(
    db,
    output.file(OMITTED_FILE),
    OMITTED_COLUMNS,
    `
    select s.name as source, ${placedFile('o')} as file, r.line, e.external_id, o.field, o.original, o.reason
    from omission o left join event e on e.id = o.event join record r on r.id = o.record
      join file f on f.id = r.file join source s on s.id = f.source
    order by o.id`,
  );
}

/** Every row of the exports that became no event, and why. */
export function writeLeftOut(db: Database, output: StateDir): void {
  writeTable<SkippedRow>(
    db,
    output.file(LEFT_OUT_FILE),
    LEFT_OUT_COLUMNS,
    `
    select s.name as source, f.path as file, r.line, r.number as record, k.reason
    from (select record, reason from skipped union all select record, code from omission where code = '${ORPHAN}') k
      join record r on r.id = k.record join file f on f.id = r.file join source s on s.id = f.source
    order by r.id`,
    { shown: (row) => ({ ...row, reason: `${skipText(row.reason)} (${row.reason})` }) },
  );
}

type SkippedRow = Readonly<Record<'source' | 'file' | 'line' | 'record' | 'reason', string>>;

/** The ids in the service of everything that was acknowledged: for programs, so without a byte-order mark. */
export function writeIds(db: Database, output: StateDir): void {
  writeTable(
    db,
    output.file(IDS_FILE),
    ID_COLUMNS,
    `
    select type, external_id, service_id from (
      select entity, type, external_id, service_id, is_acknowledged from checkpoint.record
      union all
      select distinct '${COMBINED}', type, external_id, service_id, 1 from checkpoint.carried where is_certain = 1)
    join kind k on k.name = entity
    where is_acknowledged = 1 and service_id is not null order by k.rank, external_id`,
    { bom: false },
  );
}

/**
 * Writes the rows that a statement selects. `columns`: their names, as the statement returns them. `bom`: whether people open the file in a
 * spreadsheet. `seen` is called with each row; `shown` converts it for the file.
 */
export function writeTable<Row extends Readonly<Record<string, string | number | null>>>(
  db: Database,
  path: string,
  columns: string,
  statement: string,
  {
    bom = true,
    seen,
    shown = (row) => row,
  }: { bom?: boolean; seen?: (row: Row) => void; shown?: (row: Row) => Row } = {},
): void {
  const names = columns.split(' ');
  writeLines(path, bom ? csvHead(names) : csvLine(names), db.each<Row>(statement), (row) => {
    seen?.(row);
    const cells = shown(row);
    return csvLine(names.map((name) => cells[name] ?? undefined));
  });
}
