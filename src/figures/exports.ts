/** The fate of each file: its rows, and the records that they became. */
import { basename } from 'node:path';
import { ENTITIES } from '../kinds/index.ts';
import type { FileDigest } from '../input/source.ts';
import type { Entity } from '../model.ts';
import type { Database } from '../store/sqlite.ts';
import { ORPHAN, typeCounts } from '../vocabulary/terms.ts';
import { sectionOf, type Section } from './figures.ts';

export interface ExportFate {
  /** Absolute. */
  readonly path: string;
  readonly sha256: string;
  readonly rows: number;
  /** Undefined of a file that lookups alone read. */
  readonly source: string | undefined;
  /** Events of its rows, without duplicates. */
  readonly events: Readonly<Partial<Record<Entity, number>>>;
  readonly duplicates: number;
  readonly skipped: number;
  readonly unreadable: number;
}

interface Counted {
  readonly source: string;
  readonly path: string;
  readonly what: string;
  readonly count: number;
}

/** `inputs`: every file that was read. The plan names those that became records. */
export function readExports(db: Database, inputs: readonly FileDigest[]): readonly ExportFate[] {
  const counts = db.all<Counted>(`
    with fate (record, what) as (
      select record, iif(state = 'duplicate', 'duplicate', entity) from event
      union select w.record, e.entity from row_of w join event e on e.id = w.event
      union select p.record, e.entity from part p join event e on e.id = p.event
      union select record, 'skipped' from skipped
      union select record, 'skipped' from omission where code = '${ORPHAN}'
      union select record, 'unreadable' from problem where event is null and kind = 'read' and record is not null
        and record not in (select record from event) and record not in (select record from row_of))
    select s.name as source, f.path, fate.what, count(*) as count
    from fate join record r on r.id = fate.record join file f on f.id = r.file join source s on s.id = f.source
    group by f.id, fate.what`);
  return inputs.map(({ path, sha256, rows }) => {
    const own = counts.filter((each) => path.endsWith(each.path.replace(/^(\.\.?[\\/])+/, '')));
    const of = (what: string): number => own.find((each) => each.what === what)?.count ?? 0;
    const events = Object.fromEntries(ENTITIES.flatMap((entity) => (of(entity) > 0 ? [[entity, of(entity)]] : [])));
    return {
      ...{ path, sha256, rows, events, source: own[0]?.source },
      ...{ duplicates: of('duplicate'), skipped: of('skipped'), unreadable: of('unreadable') },
    };
  });
}

/** `contacts.csv: 851 rows, 731 leads, 96 duplicates, 24 skipped`. */
export function exportsSection(fates: readonly ExportFate[]): Section | undefined {
  if (fates.length === 0) return undefined;
  return sectionOf({
    id: 'exports',
    title: 'Files that were read',
    columns: [
      { head: 'file', kind: 'label' },
      { head: 'rows', kind: 'number' },
      { head: 'became of the rows', kind: 'text' },
      { head: 'SHA-256', kind: 'path' },
    ],
    rows: fates.map((fate) => [basename(fate.path), fate.rows, fateText(fate), fate.sha256]),
  });
}

function fateText({ source, events, duplicates, skipped, unreadable }: ExportFate): string {
  if (source === undefined) return 'looked up';
  const types = Object.fromEntries(
    Object.entries(events).map(([entity, count]): [string, number] => [`${entity}/created`, count ?? 0]),
  );
  return [
    ...(Object.keys(events).length > 0 ? [typeCounts(types)] : []),
    ...(duplicates > 0 ? [`${duplicates} duplicates`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(unreadable > 0 ? [`${unreadable} unreadable`] : []),
  ].join(', ');
}
