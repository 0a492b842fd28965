import { basename, resolve, sep } from 'node:path';
import { NumberText, type JsonObject, type JsonValue } from '../json.ts';
import type { RawRecord, ReadItem, Row } from '../model.ts';
import { didYouMean, ProblemsError, type Problem } from '../problem.ts';
import { restore } from '../cells.ts';
import { openSource } from './open.ts';
import type { Source } from './source.ts';

/** The columns or keys that rejects files add to a record; only the first two are read back. */
const FILE = '_file';
const RECORD = '_record';
const ADDED: ReadonlySet<string> = new Set([FILE, RECORD, '_line', '_error']);

const AS_WRITTEN = 'keep the columns of the rejects file unchanged';

/** A corrected record, and the row of the fix file that it is from. */
interface CorrectedRecord {
  readonly row: Row;
  readonly raw: RawRecord;
}

/** By path of the export, then by record number. */
type CorrectedRecords = ReadonlyMap<string, ReadonlyMap<number, CorrectedRecord>>;

/**
 * The source with single records replaced. `path` is a corrected rejects file, in which `_file` and `_record` identify the
 * record that each row replaces; all other records are read as before. Throws a `ProblemsError` if the file is not of that
 * form or corrects one record twice; reading to the end throws one if it corrects a record that does not exist.
 */
export async function withFixes(
  source: Source,
  path: string,
  options: { readonly display?: (path: string) => string } = {},
): Promise<Source> {
  const fixes = await readFixes(source, path, options);
  const count = [...fixes.values()].reduce((sum, { size }) => sum + size, 0);
  return {
    name: source.name,
    kind: source.kind,
    columns: source.columns,
    duplicateColumns: source.duplicateColumns,
    files: source.files,
    description: `${source.description}, ${count} corrected ${count === 1 ? 'record' : 'records'}`,
    batches: () => apply(source, fixes),
    digests: () => source.digests(),
    notices: () => source.notices(),
  };
}

async function* apply(source: Source, fixes: CorrectedRecords): AsyncGenerator<readonly ReadItem[], void, undefined> {
  const paths = source.files.map(({ path }) => path);
  const used = new Set<CorrectedRecord>();
  let file: string | undefined;
  let ofFile: ReadonlyMap<number, CorrectedRecord> | undefined;
  for await (const batch of source.batches()) {
    yield batch.map((item) => {
      const { place } = item;
      if (place.file !== file) {
        file = place.file;
        ofFile = fixes.get(fileNamed(file, paths) ?? '');
      }
      const fix = ofFile?.get(place.record);
      if (!fix) return item;
      used.add(fix);
      return { kind: 'row', place, raw: fix.raw, issues: fix.row.issues };
    });
  }
  const unused = [...fixes].flatMap(([path, records]) =>
    [...records]
      .filter(([, fix]) => !used.has(fix))
      .map(([record, { row }]) => problem(row, 'unknown_record', `${basename(path)} has no record ${record}`)),
  );
  if (unused.length > 0) throw mistakes(unused);
}

async function readFixes(
  source: Source,
  path: string,
  options: { readonly display?: (path: string) => string },
): Promise<CorrectedRecords> {
  const file = await openSource({ name: source.name, path }, options);
  const paths = source.files.map((one) => one.path);
  const reader = source.kind === 'table' ? tableReader(source, file) : treeReader(source, file);
  const fixes = new Map<string, Map<number, CorrectedRecord>>();
  const problems: Problem[] = [];
  for await (const batch of file.batches()) {
    for (const item of batch) {
      if (item.kind === 'unreadable') {
        problems.push(problem(item, item.issue.code, item.issue.message, item.issue.hint));
        continue;
      }
      const named = reader.named(item);
      const target = fileNamed(named.file, paths);
      const record = /^[1-9]\d*$/.test(named.record) ? Number(named.record) : undefined;
      if (target === undefined) {
        const files = didYouMean(
          basename(named.file),
          paths.map((one) => basename(one)),
        );
        problems.push(
          problem(item, 'unknown_file', `\`${FILE}\` is not a file of this source: "${named.file}"`, files),
        );
      } else if (record === undefined) {
        problems.push(problem(item, 'no_record', `\`${RECORD}\` is not a record number: "${named.record}"`));
      } else {
        const records = fixes.get(target) ?? new Map<number, CorrectedRecord>();
        const other = records.get(record);
        fixes.set(target, records);
        if (other) {
          const where = `already corrected on line ${other.row.place.line}`;
          problems.push(problem(item, 'fixed_twice', `record ${record} of ${basename(target)} is ${where}`));
        } else {
          records.set(record, { row: item, raw: reader.raw(item) });
        }
      }
    }
  }
  if (problems.length > 0) throw mistakes(problems);
  return fixes;
}

/** How to read the rows of a fix file. */
interface RejectsReader {
  named(row: Row): { readonly file: string; readonly record: string };
  raw(row: Row): RawRecord;
}

function tableReader(source: Source, file: Source): RejectsReader {
  if (file.kind !== 'table')
    throw mistakes([
      mistake(file, 'wrong_format', `source \`${source.name}\` is a table, so its fix file must be CSV`),
    ]);
  const there = numbered(file.columns.map((name) => (source.columns.includes(name) ? name : restore(name))));
  const wanted = numbered(source.columns);
  const [fileKey = '', recordKey = ''] = numbered([FILE, RECORD]);
  const problems = [
    ...[...wanted, fileKey, recordKey]
      .filter((key) => !there.includes(key))
      .map((key) => mistake(file, 'missing_column', `missing column \`${nameOf(key)}\``, AS_WRITTEN)),
    ...there
      .filter((key) => !wanted.includes(key) && !ADDED.has(nameOf(key)))
      .map((key) => {
        const near = didYouMean(nameOf(key), source.columns) ?? AS_WRITTEN;
        return mistake(file, 'unknown_column', `unknown column \`${nameOf(key)}\`: the export does not have it`, near);
      }),
  ];
  if (problems.length > 0) throw mistakes(problems);
  const cell = (row: Row, index: number): string => restore((row.raw as readonly string[])[index] ?? '');
  const places = wanted.map((key) => there.indexOf(key));
  return {
    named: (row) => ({
      file: cell(row, there.indexOf(fileKey)).trim(),
      record: cell(row, there.indexOf(recordKey)).trim(),
    }),
    raw: (row) => places.map((index) => cell(row, index)),
  };
}

function treeReader(source: Source, file: Source): RejectsReader {
  if (file.kind !== 'tree')
    throw mistakes([
      mistake(file, 'wrong_format', `source \`${source.name}\` is JSON, so its fix file must be NDJSON`),
    ]);
  const text = (value: JsonValue | undefined): string =>
    typeof value === 'string' || typeof value === 'number' || value instanceof NumberText ? String(value) : '';
  return {
    named: ({ raw }) => ({ file: text((raw as JsonObject)[FILE]), record: text((raw as JsonObject)[RECORD]) }),
    raw: ({ raw }) => Object.fromEntries(Object.entries(raw as JsonObject).filter(([key]) => !ADDED.has(key))),
  };
}

/** Keys that distinguish columns with the same name: `1:Status`, `2:Status`. */
function numbered(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    return `${nth}:${name}`;
  });
}

function nameOf(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}

/**
 * The one export that `_file` refers to: by its path, else by the end of its path, else by its file name. The rejects file
 * may have been written in a different working directory.
 */
function fileNamed(text: string, paths: readonly string[]): string | undefined {
  const absolute = resolve(text);
  if (paths.includes(absolute)) return absolute;
  const tail = `${sep}${text.replace(/^(?:\.{1,2}[\\/])+/, '')}`;
  const ends = paths.filter((path) => path.endsWith(tail));
  if (ends.length > 0) return ends.length === 1 ? ends[0] : undefined;
  const names = paths.filter((path) => basename(path) === basename(text));
  return names.length === 1 ? names[0] : undefined;
}

function problem({ place }: ReadItem, code: string, message: string, suggestion?: string): Problem {
  return {
    code,
    message,
    severity: 'error',
    at: { file: place.file, line: place.line, column: 1 },
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

/** A problem with the fix file as a whole. */
function mistake(file: Source, code: string, message: string, suggestion?: string): Problem {
  return {
    code,
    message,
    severity: 'error',
    at: { file: file.files[0]!.path, line: 1, column: 1 },
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

function mistakes(problems: readonly Problem[]): ProblemsError {
  return new ProblemsError('the corrected records cannot be used', problems);
}
