/** The single documents of a plan: what a run stores as JSON, because people read it as a whole. */
import type { FileDigest } from '../input/source.ts';
import type { EntryWords } from '../mapping/words.ts';
import type { StoredAccount } from '../service/account.ts';
import type { Database } from '../store/sqlite.ts';
import type { StoredSummary, SurveySnapshot } from './summary.ts';

/** The parts of a source that the mapping does not use. */
interface UnusedData {
  readonly records: number;
  /** Columns or paths that nothing reads, and how many values each has. */
  readonly unused: Readonly<Record<string, number>>;
}

/** How the exports were mapped and what was not. It has no values of records. */
export interface StoredMapping {
  /** `title` and `customer` of the mapping. */
  readonly title: string | null;
  readonly customer: string | null;
  /** Of phone numbers without a country code. */
  readonly region: string | null;
  /** `defaults.timezone`. */
  readonly timezone: string | null;
  readonly entries: readonly EntryWords[];
  readonly sources: Readonly<Record<string, UnusedData>>;
  /** Names of exports that lie beside those that were read. */
  readonly unread_files: readonly string[];
}

export interface Documents {
  /** Absent until the run has ended. */
  readonly summary: StoredSummary;
  readonly survey: SurveySnapshot;
  readonly mapping: StoredMapping;
  /** Every file that the survey read. */
  readonly inputs: readonly FileDigest[];
  readonly account: StoredAccount;
}

export function readDocument<Name extends keyof Documents>(db: Database, name: Name): Documents[Name] | undefined {
  const row = db.get<{ content: string }>('select content from document where name = ?', name);
  return row && (JSON.parse(row.content) as Documents[Name]);
}

export function storeDocument<Name extends keyof Documents>(db: Database, name: Name, content: Documents[Name]): void {
  db.run('insert or replace into document (name, content) values (?, ?)', name, JSON.stringify(content));
}
