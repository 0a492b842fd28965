import type { EntryWords } from '../mapping/words.ts';

export const MAPPING_FILE = 'mapping.json';

/** What a source has that the mapping does not use. */
export interface UnusedData {
  readonly records: number;
  /** Columns or paths that nothing reads, and how many values each has. */
  readonly unused: Readonly<Record<string, number>>;
}

/** `mapping.json`: how the exports were mapped and what was not, for the report. It has no values of records. */
export interface StoredMapping {
  /** `defaults.timezone`. */
  readonly timezone: string | null;
  readonly entries: readonly EntryWords[];
  readonly sources: Readonly<Record<string, UnusedData>>;
  /** Names of exports that lie beside those that were read. */
  readonly unread_files: readonly string[];
}
