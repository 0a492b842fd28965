/** What became of each file: its rows, the records that they became, and how they were mapped. */
import { basename } from 'node:path';
import { ENTITIES, kindOf } from '../../kinds/index.ts';
import type { FileDigest } from '../../input/source.ts';
import { outcomeOf, type Entity, type Outcome, type State } from '../../model.ts';
import type { Database } from '../../store/sqlite.ts';
import type { StoredMapping } from '../files/documents.ts';
import { counted, countTexts, enumerated } from '../words/numbers.ts';
import { fieldText, typeName } from '../words/terms.ts';
import { column, sectionOf, type Section } from './figures.ts';

interface EventsOf {
  readonly entity: Entity;
  readonly outcome: Outcome;
  readonly count: number;
}

export interface ExportFate extends FileDigest {
  /** What its rows became, without duplicates. Empty where lookups alone read the file. */
  readonly events: readonly EventsOf[];
  readonly duplicates: number;
  readonly skipped: number;
  readonly unreadable: number;
}

interface Counted {
  readonly source: string;
  readonly label: string;
  readonly entity: Entity | null;
  /** The state of an event, `skipped` or `unreadable`. */
  readonly what: string;
  readonly count: number;
}

/** `inputs`: every file that was read, once for each of its sources. The plan names those that became records. */
export function readExports(db: Database, inputs: readonly FileDigest[]): readonly ExportFate[] {
  const counts = db.all<Counted>(`
    with fate (record, entity, what) as (
      select w.record, e.entity, e.state from row_of w join event e on e.id = w.event
        where e.id not in (select event from part) group by w.event, w.record
      union all select p.record, e.entity, e.state from part p join event e on e.id = p.event
      union all select distinct record, null, 'skipped' from skipped
      union all select record, null, 'unreadable' from problem where event is null and kind = 'read' and severity = 'error' and record is not null
        and record not in (select record from event union all select record from row_of union all select record from part)),
    -- Most events have one row: they are counted without being listed.
    counted (file, entity, what, count) as (
      select r.file, e.entity, e.state, count(*) from event e join record r on r.id = e.record
        where e.id not in (select event from row_of) group by 1, 2, 3
      union all select r.file, fate.entity, fate.what, count(*) from fate join record r on r.id = fate.record group by 1, 2, 3)
    select s.name as source, f.path as label, c.entity, c.what, sum(c.count) as count
    from counted c join file f on f.id = c.file join source s on s.id = f.source
    group by c.file, c.entity, c.what`);
  return inputs.map((input) => {
    const own = counts.filter(({ source, label }) => source === input.source && label === input.label);
    const of = (what: string): number =>
      own.filter((each) => each.what === what).reduce((sum, { count }) => sum + count, 0);
    const events = own.flatMap(({ entity, what, count }): EventsOf[] =>
      entity === null ? [] : [{ entity, outcome: outcomeOf(what as State), count }],
    );
    return {
      ...{ ...input, events },
      ...{ duplicates: of('duplicate'), skipped: of('skipped'), unreadable: of('unreadable') },
    };
  });
}

/** `contacts.csv: 851 rows; 720 leads arrived, 11 leads to fix, 96 duplicates, 24 skipped`. */
export function exportsSection(fates: readonly ExportFate[], isDryRun: boolean): Section | undefined {
  if (fates.length === 0) return undefined;
  const several = (fate: ExportFate): boolean => fates.some((each) => each !== fate && each.label === fate.label);
  return sectionOf({
    id: 'exports',
    title: 'Files that were read',
    columns: [column('label', 'file'), column('number', 'rows'), column('text', 'what became of them')],
    rows: fates.map((fate) => {
      const name = several(fate) ? `${basename(fate.label)} (${fate.source})` : basename(fate.label);
      return [name, fate.rows, fateText(fate, isDryRun)];
    }),
  });
}

const FAILED: readonly Outcome[] = ['invalid', 'rejected', 'blocked'];

function fateText({ events, duplicates, skipped, unreadable }: ExportFate, isDryRun: boolean): string {
  if (events.length + skipped + unreadable === 0) return 'looked up';
  const outcomes = [
    [['acknowledged'], isDryRun ? 'sent before' : 'arrived'],
    [['pending'], isDryRun ? 'ready to send' : 'not sent yet'],
    [FAILED, 'to fix'],
  ] as const;
  const texts = outcomes.flatMap(([names, what]) =>
    ENTITIES.flatMap((entity) => {
      const own = events.filter((each) => each.entity === entity && names.some((name) => name === each.outcome));
      const count = own.reduce((sum, each) => sum + each.count, 0);
      return count === 0 ? [] : [`${counted(count, kindOf(entity).words[0])} ${what}`];
    }),
  );
  return [
    ...texts,
    ...(duplicates > 0 ? [counted(duplicates, 'duplicate')] : []),
    ...countTexts([skipped, 'skipped'], [unreadable, 'unreadable']),
  ].join(', ');
}

/** Whether a file is the one that was read. */
export function digestsSection(inputs: readonly FileDigest[]): Section {
  const digests = new Map(inputs.map(({ label, sha256 }) => [basename(label), sha256]));
  return sectionOf({
    id: 'digests',
    title: 'Files, by their contents',
    columns: [column('label', 'file'), column('path', 'SHA-256')],
    rows: [...digests],
  });
}

/** How the exports were mapped: a table for each entry. */
export function mappingSections({ entries }: StoredMapping): readonly Section[] {
  return entries.map(({ type, source, each, when, fields }, at) => {
    const rows = each === undefined ? 'every row' : `every element of ${each} in every row`;
    return sectionOf({
      id: `mapping-${at + 1}`,
      title: `${typeName(type)}, from ${source}: ${rows}${when === undefined ? '' : ` in which ${when}`}`,
      columns: [column('text', 'from the export'), column('text', 'field in the service'), column('text', 'how')],
      rows: fields.map(({ field, from, how }) => [from, fieldText(field), how.join('\n') || 'as it is']),
    });
  });
}

/** Columns that are listed. */
const MOST_COLUMNS = 200;

/** Without rows and notes if the mapping uses everything. */
export function notUsedSection({ sources, unread_files: files }: StoredMapping): Section {
  const columns = Object.entries(sources).flatMap(([source, { records, unused }]) =>
    Object.entries(unused).map(([name, values]) => ({ name, source, values, records })),
  );
  const filled = columns.filter(({ values }) => values > 0).sort((a, b) => b.values - a.values);
  const empty = columns.filter(({ values }) => values === 0).map(({ name, source }) => `\`${name}\` (${source})`);
  const left = filled.length - MOST_COLUMNS;
  return sectionOf({
    id: 'not-used',
    title: 'Columns and files that are not migrated',
    columns: [
      column('label', 'column'),
      column('label', 'source'),
      column('number', 'values'),
      column('number', 'rows'),
    ],
    rows: filled.slice(0, MOST_COLUMNS).map(({ name, source, values, records }) => [name, source, values, records]),
    notes: [
      ...(left > 0 ? [`${counted(left, 'more column')} with values are not migrated.`] : []),
      ...(empty.length > 0 ? [`Not used and without any value: ${enumerated(empty, 'and')}.`] : []),
      ...(files.length > 0 ? [`These files beside the exports were not read: ${enumerated(files, 'and')}.`] : []),
    ],
  });
}
