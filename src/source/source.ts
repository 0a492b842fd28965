import type { ReadItem } from '../model.ts';

/** What the mapping file says of one source; paths already resolved against the mapping file or the working directory. */
export interface SourceSpec {
  readonly name: string;
  /** A path or a glob, absolute. A glob reads its files in name order as one source. */
  readonly path: string;
  readonly format?: 'csv' | 'json' | 'ndjson';
  readonly encoding?: string;
  readonly delimiter?: string;
  /** 1-based line of the header, when a title precedes it. */
  readonly headerLine?: number;
  /** JSON: path to the array of records; the top-level array when absent. */
  readonly records?: string;
}

/** What one complete reading of a file found; compared between passes and written to the checkpoint's run line. */
export interface FileDigest {
  readonly path: string;
  /** Of the bytes on disk (compressed, where it is a .gz), lower-case hex. */
  readonly sha256: string;
  /** Records delivered, unreadable ones included. */
  readonly rows: number;
}

/** Something true of a whole source that a person should know before sending: a header that occurs twice, `has_more: true`, … */
export interface SourceNotice {
  readonly code: string;
  readonly message: string;
  readonly file: string;
  readonly line?: number;
}

/** An export that was opened: its dialect is known, its rows can be read any number of times. */
export interface Source {
  readonly name: string;
  /** `table`: rows are cells in the order of `columns`. `tree`: rows are JSON objects and `columns` is empty. */
  readonly kind: 'table' | 'tree';
  /** Union of the headers of all files, in order of first appearance; cells of every file arrive in this order. */
  readonly columns: readonly string[];
  /** Columns that occur more than once in one header: a mistake only where a mapping uses them. */
  readonly duplicateColumns: ReadonlySet<string>;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** Dialect as read: "UTF-8, `;`, 12 columns"; for people. */
  readonly description: string;
  /**
   * Reads the input once, in order, in batches of a few hundred at most. Row-level trouble arrives as `Unreadable`;
   * what makes the file as a whole unreadable (an open quote, wrong encoding, truncated JSON) throws a `UserError`
   * that names file and line. Every call reads the files again from their beginning.
   */
  batches(): AsyncGenerator<readonly ReadItem[], void, undefined>;
  /** Digests of the last complete reading, one a file; undefined before the first. */
  digests(): readonly FileDigest[] | undefined;
  notices(): readonly SourceNotice[];
}

/** Size of the input on disk. */
export function bytesOf(sources: ReadonlyMap<string, Source>): number {
  return [...sources.values()].flatMap(({ files }) => files).reduce((sum, { bytes }) => sum + bytes, 0);
}
