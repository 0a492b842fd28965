/** Why acknowledged records are not as the input says, as far as the runs that sent them show it, and where the first of them are. */
import type { RecordDifference } from '../report/summary.ts';
import { placedFile } from '../store/plan-schema.ts';
import type { Database } from '../store/sqlite.ts';
import { DIFFERENCE_CODES } from './judge/judge-known.ts';

const MOST_PLACES = 2;

/** Undefined if there is none. `isAnswered`: the worksheet has other names than at the last survey. */
export function readDifference(
  db: Database,
  { mappingSha256, isAnswered }: { mappingSha256: string; isAnswered: boolean },
): RecordDifference | undefined {
  const codes = JSON.stringify(DIFFERENCE_CODES);
  const found = db.all<Omit<RecordDifference['first'][number], 'fields'> & { fields: string | null }>(
    `select ${placedFile()} as file, r.line, r.number as record, (
       select group_concat(distinct c.field) from change c
       where c.entity = e.entity and c.external_id = e.external_id and c.field <> '') as fields
     from event e join record r on r.id = e.record join file f on f.id = r.file
     where e.state = 'acknowledged' and e.code in (select value from json_each(?)) order by e.id limit ${MOST_PLACES}`,
    codes,
  );
  if (found.length === 0) return undefined;
  const first = found.map(({ fields, ...place }) => ({ ...place, fields: fields === null ? [] : fields.split(',') }));
  return { by: causeOf(db, mappingSha256, isAnswered), first };
}

function causeOf(db: Database, mappingSha256: string, isAnswered: boolean): RecordDifference['by'] {
  const digests = `select group_concat(sha256) from (select distinct value ->> 'sha256' as sha256 from json_each(%) order by 1)`;
  const { mappings, exports: inputs } = db.get<{ mappings: number; exports: number }>(
    `select count(*) filter (where mapping_sha256 <> ?) as mappings, count(*) filter (
       where (${digests.replace('%', 'inputs')}) is not (
         ${digests.replace('%', `(select content from document where name = 'inputs')`)})) as exports
     from checkpoint.run`,
    mappingSha256,
  )!;
  // A name that the worksheet answers in another way is no change of the export; an earlier worksheet is not known.
  const isNamed = db.get(`select 1 from change where field in ('stage_id', 'owner_id') limit 1`) !== undefined;
  if (mappings > 0) return inputs > 0 || isAnswered ? null : 'mapping';
  if (inputs > 0) return isAnswered || isNamed ? null : 'export';
  return isAnswered ? 'worksheet' : null;
}
