import type { Hash } from 'node:crypto';
import type { RawRecord } from '../model.ts';
import type { InputFile } from './files.ts';
import type { SourceSpec } from './source.ts';
import type { Problem } from '../problem.ts';

/** What a setting of a format may be in a mapping. */
export type SettingKind = 'name' | 'names' | 'text' | 'character' | 'count' | 'none';

/**
 * A format of exports. Everything about it is here: the mapping schema, the checks, `init` and the reading of sources walk through the
 * table of formats (`formats.ts`).
 */
export interface Format {
  /** As `format` of a source names it. */
  readonly name: string;
  /** How names of such files end, in lower case, without the dot; `.gz` may follow. */
  readonly extensions: readonly string[];
  /** The keys of a source that this format reads, as a mapping writes them. */
  readonly settings: Readonly<Record<string, SettingKind>>;
  /** Whether a file is of this format, by its first bytes and whatever its name; absent where bytes do not show it. */
  readonly isIn?: (head: Buffer) => boolean;
  /**
   * Looks at the beginning of a file, for its columns. The settings are in `spec`, in camel case. Throws a `UserError`
   * if the file cannot be read with them, a `SettingError` if another value of one may help.
   */
  open(file: InputFile, spec: SourceSpec): Promise<TableFile | TreeFile>;
}

interface OpenFile {
  /** `label` may name a part of the file: `crm.xlsx#Deals`. */
  readonly file: InputFile;
  /** How it is read, for the user: encoding, delimiter. */
  readonly traits: readonly string[];
  readonly notices?: readonly Problem[];
}

export interface TableFile extends OpenFile {
  readonly kind: 'table';
  /** The names of the columns, trimmed; an empty string for a column without a name. */
  readonly header: readonly string[];
  readonly headerLine: number;
  /** Of a sheet: the letter of each column. */
  readonly letters?: readonly string[];
  readonly delimiter?: string;
  /** The records below the header, a batch at a time. Every byte on disk goes through `hash`, as in `readBytes`. */
  read(hash: Hash): AsyncGenerator<readonly TableRecord[], FileEnd, undefined>;
}

/** The cells of a record; trailing ones may be missing. */
export interface TableRecord {
  readonly cells: readonly string[];
  readonly line: number;
  /** Of a sheet: as in `RecordText`. */
  readonly decimals?: readonly number[];
  /** A blank line precedes it. */
  readonly afterBlank?: boolean;
  readonly issue?: Problem;
}

export interface TreeFile extends OpenFile {
  readonly kind: 'tree';
  /** As in a table. */
  read(hash: Hash): AsyncGenerator<readonly TreeRecord[], FileEnd, undefined>;
}

/** An object, or the reason why there is none (with its readable part, for the rejects file). */
export interface TreeRecord {
  readonly line: number;
  readonly raw?: RawRecord | undefined;
  /** As in `RecordText`. */
  readonly text?: string;
  readonly issue?: Problem;
}

export interface FileEnd {
  readonly notices?: readonly Problem[];
  /** The file is one page of an API response, and says that there are more. */
  readonly more?: boolean;
  /** The number of records that the file names around them; 0 if it names none. */
  readonly total?: number;
  /** Other lists of records in the file: arrays of a JSON document, sheets of a workbook. */
  readonly others?: readonly string[];
}
