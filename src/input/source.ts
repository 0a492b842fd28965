import { UserError } from '../errors.ts';
import type { Place, ReadItem } from '../model.ts';
import type { Problem } from '../problem.ts';

/** What the mapping says about one source, with its path resolved. */
export interface SourceSpec {
  readonly name: string;
  /** An absolute path or glob. The files of a glob are read in natural order, as one source. */
  readonly path: string;
  /** The name of a format; by extension or content if absent. */
  readonly format?: string | undefined;
  readonly encoding?: string;
  readonly delimiter?: string;
  /** CSV: what precedes a quote inside a quoted cell; a quote if absent. */
  readonly escape?: string;
  /** CSV: quotes are characters like others. */
  readonly quote?: 'none';
  /** Line of the header, from 1, if a title precedes it. */
  readonly headerLine?: number;
  /** CSV: the names of the columns, if the file has no header. */
  readonly columns?: readonly string[];
  /** JSON: path to the array of records, to an object whose values are the records, or, with `$` at its end, to one record; the top-level array if absent. */
  readonly records?: string;
  /** Of a workbook; its only one with rows if absent. */
  readonly sheet?: string;
  /** Corrected records: absolute paths or globs. Of two corrections of one record, the later file applies. */
  readonly fixes?: readonly string[];
  /** Without a file, it is a source without records. */
  readonly optional?: boolean;
  /** Named on the command line, where its encoding is set too; otherwise in a mapping. */
  readonly isArgument?: boolean;
}

/** A file that cannot be read as it is set, but perhaps with another value of one setting. */
export class SettingError extends UserError {
  readonly setting: 'encoding' | 'escape' | 'quote' | 'headerLine' | 'records' | 'sheet';
  /** Values that fit the file, as far as they are known: the paths of its arrays, the names of its sheets. */
  readonly choices: readonly string[];

  constructor(
    setting: SettingError['setting'],
    message: string,
    { choices = [], ...options }: { hint: string; cause?: unknown; choices?: readonly string[] },
  ) {
    super(message, options);
    this.setting = setting;
    this.choices = choices;
  }
}

/** What a complete reading of a file found; written to the run line of the checkpoint. */
export interface FileDigest {
  readonly source: string;
  /** As messages name it, with its sheet. */
  readonly label: string;
  readonly path: string;
  /** Of the bytes on disk (of a .gz file, the compressed ones), lower-case hex. */
  readonly sha256: string;
  /** Records read, including unreadable ones. */
  readonly rows: number;
}

/** How often something was met, and the first of them. */
export class Tally<First> {
  count = 0;
  first: First | undefined;

  add(first: First): void {
    this.count += 1;
    this.first ??= first;
  }

  /** What there is to say; nothing if it was not met. */
  each<Said>(say: (count: number, first: First) => Said): Said[] {
    return this.first === undefined ? [] : [say(this.count, this.first)];
  }
}

/** An open export: its dialect is known, and its records can be read any number of times. */
export interface Source {
  readonly name: string;
  /** `table`: rows are cells in the order of `columns`. `tree`: rows are JSON objects and `columns` is empty. */
  readonly kind: 'table' | 'tree';
  /** An optional source without a file: it has no columns and no records. */
  readonly isAbsent?: boolean;
  /** The columns of all files in order of first appearance; the cells of every file are in this order. */
  readonly columns: readonly string[];
  /** Columns that occur more than once in one header: a mistake only if the mapping uses them. */
  readonly duplicateColumns: ReadonlySet<string>;
  /** Records of corrections come last. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** The delimiter of its first file; undefined if there is only one column. */
  readonly delimiter?: string;
  /** The detected dialect, for the user: "UTF-8, `;`, 12 columns". */
  readonly description: string;
  /**
   * Reads all files once, in order, in batches of a few KiB of text or of one record. A record that cannot be read is an
   * `Unreadable`; a file that cannot be read (an open quote, wrong encoding, truncated JSON) throws a `UserError` that
   * names file and line. Every call starts again from the beginning.
   */
  batches(): AsyncGenerator<readonly ReadItem[], void, undefined>;
  /** Says which columns (of JSON, paths) have ids and phone numbers: where a data frame wrote them as decimals, they are read without `.0`. */
  expectIds(paths: Iterable<{ readonly path: string; readonly column: number | undefined }>): void;
  /** Places of corrections that replaced no record in the last complete reading. */
  unusedFixes(): readonly Place[];
  /** One digest per file, of the last complete reading; undefined before the first. */
  digests(): readonly FileDigest[] | undefined;
  /** For each file, the filled arrays of a JSON document beside that of the records, of the last complete reading. */
  otherArrays(): readonly FileArrays[];
  notices(): readonly Problem[];
}

/** An optional source that has no file. */
export function absentSource(name: string): Source {
  return {
    ...{ name, kind: 'table', isAbsent: true, columns: [], duplicateColumns: new Set(), files: [] },
    description: 'not in this export',
    async *batches() {},
    expectIds: () => undefined,
    unusedFixes: () => [],
    digests: () => [],
    otherArrays: () => [],
    notices: () => [],
  };
}

export interface FileArrays {
  readonly path: string;
  /** As messages name it. */
  readonly label: string;
  /** Paths in the document. */
  readonly names: readonly string[];
}

/** The arrays that none of these sources reads, in files that some of them read: `crm.json#webhooks`. */
export function unreadArrays(sources: Iterable<Source>): string[] {
  const unread = new Map<string, FileArrays>();
  for (const found of [...sources].flatMap((source) => source.otherArrays())) {
    const known = unread.get(found.path);
    unread.set(
      found.path,
      known ? { ...known, names: known.names.filter((name) => found.names.includes(name)) } : found,
    );
  }
  return [...unread.values()].flatMap(({ label, names }) => names.map((name) => `${label}#${name}`));
}
