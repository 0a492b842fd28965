/** Why acknowledged records are not as the input says, as far as the runs that sent them show it, and where the first of them are. */
import type { FileDigest } from '../input/source.ts';
import type { Place } from '../model.ts';
import { readDocument } from '../report/files/documents.ts';
import type { Database } from '../store/sqlite.ts';
import { DIFFERENCE_CODES } from './known/judge-known.ts';

/** Why acknowledged records are not as the input says. */
export interface RecordDifference {
  /** What alone has changed since they were sent; null if it may be one or the other. */
  readonly by: 'export' | 'mapping' | 'worksheet' | null;
  /** The first of them, with the fields that differ. */
  readonly first: readonly (Pick<Place, 'file' | 'line' | 'record'> & { readonly fields: readonly string[] })[];
}

const MOST_PLACES = 2;

/** Undefined if there is none. `isAnswered`: the worksheet has other names than at the last survey. */
export function readDifference(
  db: Database,
  { mappingSha256, isAnswered }: { mappingSha256: string; isAnswered: boolean },
): RecordDifference | undefined {
  const codes = JSON.stringify(DIFFERENCE_CODES);
  const found = db.all<Omit<RecordDifference['first'][number], 'fields'> & { fields: string | null }>(
    `select r.file, r.line, r.record, (
       select group_concat(distinct c.field) from change c
       where c.entity = e.entity and c.external_id = e.external_id and c.field <> '') as fields
     from event e join row r on r.id = e.record
     where e.state = 'acknowledged' and e.code in (select value from json_each(?)) order by e.id limit ${MOST_PLACES}`,
    codes,
  );
  if (found.length === 0) return undefined;
  const first = found.map(({ fields, ...place }) => ({ ...place, fields: fields === null ? [] : fields.split(',') }));
  return { by: causeOf(db, mappingSha256, isAnswered), first };
}

function causeOf(db: Database, mappingSha256: string, isAnswered: boolean): RecordDifference['by'] {
  const runs = db.all<{ mapping: string; inputs: string }>(
    'select mapping_sha256 as mapping, inputs from checkpoint.run',
  );
  const present = digestsOf(readDocument(db, 'inputs')!);
  const isOther = runs.some(({ mapping }) => mapping !== mappingSha256);
  const hasOther = runs.some(({ inputs }) => digestsOf(JSON.parse(inputs) as readonly FileDigest[]) !== present);
  // A name that the worksheet answers in another way is no change of the export; an earlier worksheet is not known.
  const isNamed = db.get(`select 1 from change where field in ('stage_id', 'owner_id') limit 1`) !== undefined;
  if (isOther) return hasOther || isAnswered ? null : 'mapping';
  if (hasOther) return isAnswered || isNamed ? null : 'export';
  return isAnswered ? 'worksheet' : null;
}

/** The digests of the files of a run, whatever these are called. */
function digestsOf(files: readonly FileDigest[]): string {
  return [...new Set(files.map(({ sha256 }) => sha256))].sort().join();
}
