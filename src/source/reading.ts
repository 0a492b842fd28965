import { createHash, type Hash } from 'node:crypto';
import type { ReadItem } from '../model.ts';
import type { FileDigest, Source, SourceNotice } from './source.ts';
import type { TextFile } from './text.ts';

/** Few enough to bound memory, enough to make passing them on cheap. */
const BATCH = 250;

const MORE_PAGES = 'this is one page of an API response, which says that there are more: fetch all pages';

/** Collects the items of one file into batches. */
export class ItemBatches {
  #items: ReadItem[] = [];
  /** Items so far, those already taken included. */
  count = 0;

  add(item: ReadItem): void {
    this.count += 1;
    this.#items.push(item);
  }

  /** The items since the last call, in batches. */
  *take(): Generator<readonly ReadItem[], void, undefined> {
    const items = this.#items;
    this.#items = [];
    for (let start = 0; start < items.length; start += BATCH) yield items.slice(start, start + BATCH);
  }
}

/** What reading a whole file found. */
export interface FileResult {
  readonly rows: number;
  readonly notices: readonly SourceNotice[];
  /** The file is one page of an API response, and says that there are more. */
  readonly more: boolean;
}

/** One file of a source; it can be read any number of times. */
export interface SourceFile {
  readonly file: TextFile;
  read(hash: Hash): AsyncGenerator<readonly ReadItem[], FileResult, undefined>;
}

/** What is known about a source once its files have been opened. */
export interface SourceHead extends Pick<
  Source,
  'name' | 'kind' | 'columns' | 'duplicateColumns' | 'delimiter' | 'description'
> {
  readonly parts: readonly SourceFile[];
  readonly notices: readonly SourceNotice[];
}

/** The head of a source of objects. `what`: the format, for the user. */
export function treeHead(
  name: string,
  what: string,
  files: readonly TextFile[],
  read: (file: TextFile, hash: Hash) => ReturnType<SourceFile['read']>,
): SourceHead {
  return {
    name,
    kind: 'tree',
    columns: [],
    duplicateColumns: new Set(),
    description: [...fileCount(files), `${what}, ${encodingsOf(files)}`].join(', '),
    parts: files.map((file) => ({ file, read: (hash) => read(file, hash) })),
    notices: [],
  };
}

/** `3 files`, if there are several. */
export function fileCount({ length }: readonly TextFile[]): string[] {
  return length > 1 ? [`${length} files`] : [];
}

/** `UTF-8 and windows-1252`. */
export function encodingsOf(files: readonly TextFile[]): string {
  return [...new Set(files.map(({ encoding }) => encoding.name))].join(' and ');
}

/** Reads the files of a source one after the other, as one. */
export function filesSource({ parts, notices, ...head }: SourceHead): Source {
  let digests: readonly FileDigest[] | undefined;
  let found: readonly SourceNotice[] = [];
  return {
    ...head,
    files: parts.map(({ file: { path, bytes } }) => ({ path, bytes })),
    async *batches() {
      const read: (FileResult & FileDigest)[] = [];
      for (const part of parts) {
        const hash = createHash('sha256');
        const result = yield* part.read(hash);
        read.push({ ...result, path: part.file.path, sha256: hash.digest('hex') });
      }
      digests = read.map(({ path, sha256, rows }) => ({ path, sha256, rows }));
      const { shown } = parts.at(-1)!.file;
      found = [
        ...read.flatMap((each) => each.notices),
        // All pages but the last say that there are more, so more are missing only if the last one says so too.
        ...(read.every(({ more }) => more) ? [{ code: 'more_pages', message: MORE_PAGES, file: shown }] : []),
        ...(read.every(({ rows }) => rows === 0)
          ? [{ code: 'no_records', message: 'there are no records', file: shown }]
          : []),
      ];
    },
    originalOf: () => undefined,
    unusedFixes: () => [],
    digests: () => digests,
    notices: () => [...notices, ...found],
  };
}
