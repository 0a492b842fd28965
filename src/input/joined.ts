import { createHash, type Hash } from 'node:crypto';
import { counted } from '../report/words/numbers.ts';
import type { RawRecord } from '../model.ts';
import { issueOf } from '../report/words/words.ts';
import { shortPath } from '../files/paths.ts';
import type { FileEnd, TableFile, TreeFile, TreeRecord } from './format.ts';
import { FirstRecords } from './heads.ts';
import type { InputFile } from './files.ts';
import { Items, type SourceFile, type SourceHead } from './reading.ts';
import type { FileArrays, FileDigest, Source } from './source.ts';
import { nameOf, numbered } from './reject-columns.ts';
import { TableRows } from './table-rows.ts';
import type { Problem } from '../problem.ts';

/** The files as one source, which reads them one after the other. All have the same format. */
export function asSource(
  name: string,
  files: readonly (TableFile | TreeFile)[],
  before: readonly Problem[],
): Omit<Source, 'expectIds'> {
  const tables = files.filter((file) => file.kind === 'table');
  const trees = files.filter((file) => file.kind === 'tree');
  const { parts, notices, ...head } = tables.length > 0 ? joinTables(tables) : joinTrees(trees);
  const opened = [...before, ...files.flatMap((file) => file.notices ?? []), ...notices];
  let digests: readonly FileDigest[] | undefined;
  let found: readonly Problem[] = [];
  let arrays: readonly FileArrays[] = [];
  return {
    name,
    ...head,
    files: parts.map(({ file: { path, bytes } }) => ({ path, bytes })),
    description: describe(files, head.columns),
    async *batches() {
      const read: (FileEnd & FileDigest)[] = [];
      for (const part of parts) {
        const hash = createHash('sha256');
        const items = new Items(name, part);
        const end = yield* part.read(items, hash);
        const { label, path } = part.file;
        read.push({ ...end, source: name, label, path, rows: items.count, sha256: hash.digest('hex') });
      }
      arrays = read.map((each) => ({ path: each.path, label: shortPath(each.path), names: each.others ?? [] }));
      digests = read.map(({ source, label, path, sha256, rows }) => ({ source, label, path, sha256, rows }));
      const { label } = parts.at(-1)!.file;
      found = [
        ...read.flatMap((each) => each.notices ?? []),
        // All pages but the last say that there are more, so more are missing only if the last one says so too.
        ...(read.every(({ more }) => more) || isShort(read) ? [issueOf('more_pages').in(label)] : []),
        ...(read.every(({ rows }) => rows === 0) ? [issueOf('no_records').in(label)] : []),
      ];
    },
    unusedFixes: () => [],
    digests: () => digests,
    otherArrays: () => arrays,
    notices: () => [...opened, ...found],
  };
}

/** Whether a file names more records than all files have. */
function isShort(read: readonly (FileEnd & FileDigest)[]): boolean {
  const rows = read.reduce((sum, each) => sum + each.rows, 0);
  return rows > 0 && read.some(({ total = 0 }) => total > rows);
}

/** A file whose records go, one by one, to rows that pass them on to `items`. */
function partOf<Read>(
  opened: { readonly file: InputFile; read(hash: Hash): AsyncGenerator<readonly Read[], FileEnd, undefined> },
  rowsFor: (items: Items) => { take(record: Read): void; finish(): void; notices?(): readonly Problem[] },
  letters?: readonly string[],
): SourceFile {
  return {
    file: opened.file,
    letters,
    async *read(items, hash) {
      const rows = rowsFor(items);
      const batches = opened.read(hash);
      try {
        for (;;) {
          const { done, value } = await batches.next();
          if (done) {
            rows.finish();
            yield items.take();
            return { ...value, notices: [...(rows.notices?.() ?? []), ...(value.notices ?? [])] };
          }
          for (const record of value) rows.take(record);
          yield items.take();
        }
      } finally {
        // Whoever leaves the loop early ends the reading of the file.
        await batches.return({});
      }
    },
  };
}

/** Columns are matched by name, in any order. */
function joinTables(tables: readonly TableFile[]): SourceHead {
  const keys = [...new Set(tables.flatMap(({ header }) => numbered(header)))];
  const columns = keys.map(nameOf);
  const repeated = keys.filter((key) => !key.startsWith('1:')).map(nameOf);
  const duplicateColumns = new Set(repeated.filter((name) => name !== ''));
  const indexes = new Map(keys.map((key, index) => [key, index]));
  const parts = tables.map((table) => {
    const targets = numbered(table.header).map((key) => indexes.get(key)!);
    const { file, header } = table;
    const layout = { file: file.label, header, columns: columns.length, targets };
    const letters = table.letters && targetLetters(table.letters, targets, columns.length);
    return partOf(table, (items) => new TableRows({ ...layout, items }), letters);
  });
  const [first] = tables;
  return {
    kind: 'table',
    columns,
    duplicateColumns,
    ...(columns.length > 1 && first?.delimiter !== undefined && { delimiter: first.delimiter }),
    parts,
    notices: tables.flatMap((table) => headerNotices(table, columns, duplicateColumns)),
  };
}

/** By the columns of the source, of which this sheet may lack some. */
function targetLetters(letters: readonly string[], targets: readonly number[], columns: number): string[] {
  const found = new Array<string>(columns).fill(letters[0] ?? 'A');
  targets.forEach((target, index) => (found[target] = letters[index]!));
  return found;
}

function headerNotices(
  { header, headerLine, file }: TableFile,
  columns: readonly string[],
  duplicates: ReadonlySet<string>,
): Problem[] {
  const present = new Set(header);
  const notices: Problem[] = [];
  const add = (issue: Problem) => notices.push(issue.in(file.label, headerLine));
  for (const name of duplicates) {
    const times = header.filter((other) => other === name).length;
    if (times > 1) add(issueOf('duplicate_column', name, times));
  }
  const last = header.findLastIndex((name) => name !== '');
  const blank = header.slice(0, last).filter((name) => name === '').length;
  if (blank > 0) add(issueOf('blank_column', blank));
  const lacking = columns.filter((name) => name !== '' && !present.has(name)).map((name) => `\`${name}\``);
  if (lacking.length > 0) add(issueOf('missing_column', lacking.join(', ')));
  return notices;
}

function joinTrees(trees: readonly TreeFile[]): SourceHead {
  const textsOf = ({ raw, issue }: TreeRecord): string[] => (issue || !raw ? [] : valuesOf(raw));
  const parts = trees.map((tree) =>
    partOf(tree, (items) => {
      const take = ({ line, issue, raw, text }: TreeRecord): void => {
        if (issue) items.unreadable(line, issue, raw && { raw });
        else items.row(line, { raw: raw!, ...(text !== undefined && { text }) });
      };
      return new FirstRecords(take, textsOf);
    }),
  );
  return { kind: 'tree', columns: [], duplicateColumns: new Set(), parts, notices: [] };
}

/** The texts of a flat record: a sheet that was turned into JSON may have its header as the first one. */
function valuesOf(raw: RawRecord): string[] {
  return Object.values(raw).map((value) =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : '',
  );
}

/** `3 files, UTF-8 and windows-1252, 12 columns`. */
function describe(files: readonly (TableFile | TreeFile)[], columns: readonly string[]): string {
  const traits = (files[0]?.traits ?? []).map((_, at) => [...new Set(files.map((file) => file.traits[at]))]);
  const named = columns.filter((name) => name !== '').length;
  return [
    ...(files.length > 1 ? [`${files.length} files`] : []),
    ...traits.map((each) => each.filter((trait) => trait !== undefined).join(' and ')),
    ...(files[0]?.kind === 'table' ? [counted(named, 'column')] : []),
  ].join(', ');
}
