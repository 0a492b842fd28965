import { createHash, type Hash } from 'node:crypto';
import type { Issue, Place, RawRecord, ReadItem, RecordText } from '../model.ts';
import { notice, type FileArrays, type FileDigest, type Source, type SourceNotice } from './source.ts';
import type { TextFile } from './encoding.ts';
import { issueOf } from '../vocabulary/words.ts';

/**
 * Largest record, in bytes: more than any body that the service accepts (10 MB, service interface, section 8), with room for
 * what a mapping leaves out. Without a limit, an open quote would take the rest of the file into memory.
 */
export const MAX_RECORD = 16 * 1024 * 1024;

const NO_ISSUES: readonly Issue[] = [];

/** Collects the records of one file, and numbers them. */
export class Items {
  readonly #source: string;
  readonly #file: string;
  #items: ReadItem[] = [];
  /** Records so far, those already taken included. */
  count = 0;

  /** `source`: its name. */
  constructor(source: string, { shown }: TextFile) {
    this.#source = source;
    this.#file = shown;
  }

  row(line: number, record: RecordText, issues = NO_ISSUES): void {
    this.#items.push({ kind: 'row', place: this.#place(line), ...record, issues });
  }

  /** `raw`: what is known of the record, for the rejects file. */
  unreadable(line: number, issue: Issue, raw?: RawRecord): void {
    this.#items.push({ kind: 'unreadable', place: this.#place(line), issue, ...(raw ? { raw } : {}) });
  }

  /** The records since the last call. */
  take(): readonly ReadItem[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  #place(line: number): Place {
    this.count += 1;
    return { source: this.#source, file: this.#file, line, record: this.count };
  }
}

/** The part of a record that a message shows. */
export function shorten(text: string): string {
  const clean = text.replaceAll('\0', '\u2400');
  return clean.length > 60 ? `${clean.slice(0, 59)}…` : clean;
}

/** What reading a whole file found. */
export interface FileResult {
  readonly rows: number;
  readonly notices: readonly SourceNotice[];
  /** The file is one page of an API response, and says that there are more. */
  readonly more: boolean;
  /** Of a JSON document: its filled arrays beside that of the records. */
  readonly arrays?: readonly string[];
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
  let arrays: readonly FileArrays[] = [];
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
      arrays = read.map((each, at) => ({ path: each.path, shown: parts[at]!.file.shown, names: each.arrays ?? [] }));
      digests = read.map(({ path, sha256, rows }) => ({ path, sha256, rows }));
      const { shown } = parts.at(-1)!.file;
      found = [
        ...read.flatMap((each) => each.notices),
        // All pages but the last say that there are more, so more are missing only if the last one says so too.
        ...(read.every(({ more }) => more) ? [notice(issueOf('more_pages'), shown)] : []),
        ...(read.every(({ rows }) => rows === 0) ? [notice(issueOf('no_records'), shown)] : []),
      ];
    },
    unusedFixes: () => [],
    digests: () => digests,
    otherArrays: () => arrays,
    notices: () => [...notices, ...found],
  };
}
