/** Corrected records: copies of rejects that a person has corrected, beside the export (`fixes` of a source). */
import { restore } from '../files/csv.ts';
import type { JsonObject } from '../json.ts';
import type { Place, RawRecord, RecordText, Row } from '../model.ts';
import { counted } from '../report/words/numbers.ts';
import { didYouMean, lineAt, mistake, ProblemsError, type Problem } from '../problem.ts';
import { findFixes } from './files.ts';
import { openSource } from './open.ts';
import { isCells, isRowHash, nameOf, numbered, rejectColumnsIn, rowHasher } from './reject-columns.ts';
import { MIXED, WESTERN } from './text/encoding.ts';
import { SettingError, type FileDigest, type Source, type SourceSpec } from './source.ts';
import { issueOf } from '../report/words/words.ts';

interface Correction {
  readonly place: Place;
  readonly raw: RawRecord;
  /** Indexes of columns that the fix file does not have: the record keeps its own cells there. */
  readonly lacking: readonly number[];
  readonly issues: readonly Problem[];
}

/**
 * The source with the records replaced that its `fixes` correct: each row of a fix file replaces every record whose content its `_row`
 * names, wherever that record is. Of two corrections of one record, the later file applies. A
 * replaced record has the place of its correction, which is where its mistakes can be repaired; all other records are read
 * as before. Throws a `UserError` if a file is missing, and a `ProblemsError` if one cannot be used.
 */
export async function withFixes(source: Source, spec: SourceSpec): Promise<Source> {
  const files = await findFixes(spec);
  if (files.length === 0) return source;
  const corrections = new Map<string, Correction>();
  const digests: FileDigest[] = [];
  const notices: Problem[] = [];
  for (const { path, label } of files) {
    const file = await openFixes(spec, path, (doubt) => notices.push(issueOf('doubtful_encoding', doubt).in(label)));
    const found = await readFixFile(source, file);
    const again = new Map<string, number>();
    for (const [row, correction] of found) {
      const earlier = corrections.get(row)?.place.file;
      if (earlier !== undefined) again.set(earlier, (again.get(earlier) ?? 0) + 1);
      corrections.set(row, correction);
    }
    for (const [earlier, count] of again) notices.push(issueOf('fixed_again', count, earlier).in(label));
    digests.push(...file.digests()!);
  }
  const hashOf = rowHasher(source.columns);
  let unused: readonly Place[] = [];
  return {
    ...source,
    files: [...source.files, ...files],
    description: `${source.description}, ${counted(corrections.size, 'corrected record')}`,
    async *batches() {
      const used = new Set<string>();
      for await (const batch of source.batches()) {
        yield batch.map((item) => {
          if (!item.raw) return item;
          const row = hashOf(item.raw);
          const correction = corrections.get(row);
          if (!correction) return item;
          used.add(row);
          const { place, issues } = correction;
          const corrects = { row, raw: item.raw, place: item.place };
          return { kind: 'row', place, ...corrected(item.raw, item.decimals, correction), issues, corrects };
        });
      }
      unused = [...corrections].flatMap(([row, { place }]) => (used.has(row) ? [] : [place]));
    },
    unusedFixes: () => unused,
    digests: () => source.digests()?.concat(digests),
    notices: () => [...source.notices(), ...notices],
  };
}

/** Spreadsheets may save a copy in another code page: the one of the export, or the usual one. */
async function openFixes(spec: SourceSpec, path: string, doubt: (message: string) => void): Promise<Source> {
  const { name, encoding = MIXED } = spec;
  try {
    return await openSource({ name, path });
  } catch (error) {
    if (!(error instanceof SettingError && error.setting === 'encoding')) throw error;
    const how =
      encoding === MIXED ? `lines that are not UTF-8 text are read as ${WESTERN}` : `it is read as ${encoding}`;
    doubt(`not UTF-8 text, so ${how}: check names with accents`);
    return openSource({ name, path, encoding });
  }
}

function corrected(original: RawRecord, decimals: RecordText['decimals'], { raw, lacking }: Correction): RecordText {
  if (!isCells(original) || !isCells(raw)) return { raw };
  const cells = [...raw];
  for (const index of lacking) cells[index] = original[index] ?? '';
  // A cell that was left as it was is still the number of the sheet.
  return { raw: cells, ...(decimals && { decimals: decimals.filter((index) => cells[index] === original[index]) }) };
}

const AS_WRITTEN = 'keep the columns of the rejects file unchanged';
const IDENTICAL =
  'a correction replaces every record with the original content: keep one of the lines, or correct identical records in the export';

/**
 * The corrections in a fix file of this source, by the hash of the record that each replaces. Rows that were left as they
 * are correct nothing. Throws a `ProblemsError` with everything that is wrong with the file.
 */
async function readFixFile(source: Source, file: Source): Promise<ReadonlyMap<string, Correction>> {
  const read = source.kind === 'table' ? tableReader(source, file) : treeReader(source, file);
  const hashOf = rowHasher(source.columns);
  const corrections = new Map<string, Correction>();
  const problems: Problem[] = [];
  for await (const batch of file.batches()) {
    for (const item of batch) {
      const at = lineAt(item.place);
      if (item.kind === 'unreadable') {
        problems.push(item.issue.with({ at }));
        continue;
      }
      const { column, row, raw, lacking } = read(item);
      const content = hashOf(raw);
      const other = corrections.get(row);
      if (!isRowHash(row)) {
        problems.push(mistake('no_row', `\`${column}\` does not name a record: "${row}"`, at, AS_WRITTEN));
      } else if (other && content !== row && content !== hashOf(other.raw)) {
        const message = `this record is already corrected on line ${other.place.line}, with other values`;
        problems.push(mistake('fixed_twice', message, at, IDENTICAL));
      } else if (content !== row) corrections.set(row, { place: item.place, raw, lacking, issues: item.issues });
    }
  }
  refuse(problems);
  return corrections;
}

/** A row of a fix file: the column that names the record that it replaces, what that column contains, and the record. */
type ReadRow = (row: Row) => Pick<Correction, 'raw' | 'lacking'> & { readonly column: string; readonly row: string };

function tableReader(source: Source, file: Source): ReadRow {
  const at = { file: file.files[0]!.path, line: 1, column: 1 };
  if (file.kind !== 'table')
    refuse([mistake('wrong_format', `source \`${source.name}\` is a table, so its fix file must be CSV`, at)]);
  const added = rejectColumnsIn(file.columns);
  const there = numbered(file.columns.map((name) => (source.columns.includes(name) ? name : restore(name))));
  const wanted = numbered(source.columns);
  const rowIndex = there.indexOf(numbered([added.row])[0]!);
  const unknown = there.filter((key) => !wanted.includes(key) && !Object.values(added).includes(nameOf(key)));
  refuse([
    ...(rowIndex < 0 ? [mistake('missing_column', `missing column \`${added.row}\``, at, AS_WRITTEN)] : []),
    ...unknown.map(nameOf).map((name) => {
      const message = `unknown column \`${name}\`: the export does not have it`;
      return mistake('unknown_column', message, at, didYouMean(name, source.columns) ?? AS_WRITTEN);
    }),
  ]);
  const cell = (row: Row, index: number): string => restore((row.raw as readonly string[])[index] ?? '');
  const places = wanted.map((key) => there.indexOf(key));
  const lacking = places.flatMap((place, index) => (place < 0 ? [index] : []));
  return (row) => ({
    column: added.row,
    row: cell(row, rowIndex).trim(),
    raw: places.map((index) => cell(row, index)),
    lacking,
  });
}

function treeReader(source: Source, file: Source): ReadRow {
  const at = { file: file.files[0]!.path, line: 1, column: 1 };
  if (file.kind !== 'tree')
    refuse([mistake('wrong_format', `source \`${source.name}\` is JSON, so its fix file must be NDJSON`, at)]);
  return ({ raw }) => {
    const record = raw as JsonObject;
    const added = rejectColumnsIn(Object.keys(record));
    const own = Object.entries(record).filter(([key]) => !Object.values(added).includes(key));
    const row = record[added.row];
    return {
      column: added.row,
      row: typeof row === 'string' ? row : '',
      raw: Object.fromEntries(own),
      lacking: [],
    };
  };
}

function refuse(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new ProblemsError('the corrected records cannot be used', problems);
}
