import { join } from 'node:path';
import { csvHead, csvLine } from '../../files/csv.ts';
import { canonicalJson, parseJson, type JsonObject } from '../../json.ts';
import type { RawRecord } from '../../model.ts';
import { rejectColumnsFor, rowHasher } from '../../input/reject-columns.ts';
import type { StateDir } from '../../files/state-dir.ts';
import type { Database } from '../../store/sqlite.ts';
import { writeLines } from '../../files/write-lines.ts';
import { publishDirectory, type WrittenBeside } from './own-files.ts';

export const REJECTS = 'rejects';

interface SourceRow {
  readonly name: string;
  readonly kind: 'table' | 'tree';
  readonly columns: string;
}

/** A record with errors, which are joined in one text. */
interface RejectRow {
  readonly path: string;
  readonly line: number;
  readonly raw: string;
  readonly original: string | null;
  readonly error: string;
}

/**
 * Writes `rejects/<source>.csv` or `.ndjson`: the original records behind the errors, to be corrected. People correct them in
 * place and keep their own files beside them: only files that are as a run left them are replaced or deleted. Throws a `UserError`.
 */
export function writeRejects(db: Database, output: StateDir): Promise<readonly WrittenBeside[]> {
  return publishDirectory(db, output, REJECTS, (directory) =>
    faultySources(db).map((source) => {
      const name = `${source.name}.${source.kind === 'table' ? 'csv' : 'ndjson'}`;
      writeSource(db, source, join(directory, name));
      return name;
    }),
  );
}

function faultySources(db: Database): SourceRow[] {
  return db.all<SourceRow>(`
    select distinct s.name, s.kind, s.columns
    from problem p join problem_row w on w.problem = p.id join row r on r.id = w.record join source s on s.name = r.source
    where p.severity = 'error' and r.raw is not null order by s.id`);
}

/** Each record once, however many of its events failed, and once those that one correction replaces. */
function writeSource(db: Database, { name, kind, columns: json }: SourceRow, path: string): void {
  const columns = JSON.parse(json) as string[];
  const hashOf = rowHasher(columns);
  const rows = db.each<RejectRow>(
    `select r.file as path, r.line, r.raw, r.original,
       group_concat(case when p.field is null then p.message else p.field || ': ' || p.message end, '; ' order by p.id) as error
     from problem p join problem_row w on w.problem = p.id join row r on r.id = w.record
     where p.severity = 'error' and r.raw is not null and r.source = ?
     group by r.id order by r.id`,
    name,
  );
  const { file, line, error, row: hash } = rejectColumnsFor(columns);
  const head = kind === 'table' ? csvHead([...columns, file, line, error, hash]) : '';
  const corrections = new Set<string>();
  writeLines(path, head, rows, (row) => {
    if (row.original !== null) {
      const correction = `${row.original} ${row.path}:${row.line}`;
      if (corrections.has(correction)) return '';
      corrections.add(correction);
    }
    const raw = parseJson(row.raw) as RawRecord;
    const sha = row.original ?? hashOf(raw);
    if (kind === 'tree') return treeLine(raw as JsonObject, row, sha);
    // Extra cells would shift the added columns; the error describes them.
    const cells = columns.map((_, at) => (raw as readonly string[])[at]);
    return csvLine([...cells, row.path, row.line, row.error, sha]);
  });
}

function treeLine(raw: JsonObject, row: RejectRow, sha: string): string {
  const names = rejectColumnsFor(Object.keys(raw));
  const added = { [names.file]: row.path, [names.line]: row.line, [names.error]: row.error, [names.row]: sha };
  return `${canonicalJson({ ...raw, ...added })}\n`;
}
