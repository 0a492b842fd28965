import { createHash } from 'node:crypto';
import { counted } from '../terminal/numbers.ts';
import { issueOf } from '../vocabulary/words.ts';
import { shortPath } from '../files/paths.ts';
import type { FileEnd, TableFile, TreeFile } from './format.ts';
import { converted, Items, type SourceFile, type SourceHead } from './reading.ts';
import { notice, type FileArrays, type FileDigest, type Source, type SourceNotice } from './source.ts';
import { joinTables } from './table.ts';

/** The files as one source, which reads them one after the other. All have the same format. */
export function asSource(name: string, files: readonly (TableFile | TreeFile)[]): Source {
  const tables = files.filter((file) => file.kind === 'table');
  const trees = files.filter((file) => file.kind === 'tree');
  const { parts, notices, ...head } = tables.length > 0 ? joinTables(tables) : joinTrees(trees);
  const opened = [...files.flatMap((file) => file.notices ?? []), ...notices];
  let digests: readonly FileDigest[] | undefined;
  let found: readonly SourceNotice[] = [];
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
        ...(read.every(({ more }) => more) || isShort(read) ? [notice(issueOf('more_pages'), label)] : []),
        ...(read.every(({ rows }) => rows === 0) ? [notice(issueOf('no_records'), label)] : []),
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

function joinTrees(trees: readonly TreeFile[]): SourceHead {
  const parts = trees.map((tree): SourceFile => ({
    file: tree.file,
    read: (items, hash) =>
      converted(tree.read(hash), (records) => {
        for (const record of records) {
          if ('issue' in record) items.unreadable(record.line, record.issue, record.raw && { raw: record.raw });
          else items.row(record.line, { raw: record.raw, ...(record.text !== undefined && { text: record.text }) });
        }
        return items.take();
      }),
  }));
  return { kind: 'tree', columns: [], duplicateColumns: new Set(), parts, notices: [] };
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
