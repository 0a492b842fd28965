/** Documents: what a run stores in its plan as JSON, and `verify` in the checkpoint, because it is read as a whole. */
import type { Entity, EventType } from '../../model.ts';
import type { FileDigest } from '../../input/source.ts';
import type { NamedOtherwise } from '../../mapping/not-in-export.ts';
import type { EntryWords } from '../../mapping/words.ts';
import type { Account } from '../../service/account.ts';
import { readSetting, storeSetting } from '../../store/setting.ts';
import type { Database } from '../../store/sqlite.ts';
import type { Paces } from '../../rate.ts';

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
  readonly not_in_export: StoredLacking;
  /** Lines that are still marked `set this`, and what they say until then. */
  readonly assumed: readonly { readonly place: string; readonly text: string }[];
}

/** What the mapping reads and the exports do not have, by names of sources. */
interface StoredLacking {
  readonly sources: readonly string[];
  /** Events of which there are none without the columns. */
  readonly entries: readonly {
    readonly type: EventType;
    readonly source: string;
    readonly columns: readonly string[];
  }[];
  readonly values: readonly { readonly source: string; readonly column: string }[];
  /** Columns that the mapping names otherwise. */
  readonly named: readonly NamedOtherwise[];
}

/** Findings of a survey that are not in the plan: the document `survey`. */
export interface SurveySnapshot extends Paces {
  /** The name of the mapping file. */
  readonly mapping: string;
  readonly migration: string;
  readonly base_url: string | null;
  readonly at: string;
  /** The options of the command that resumes it. */
  readonly options: readonly string[];
  /** Of the worksheet; absent if every name has an answer. */
  readonly names?: OpenNames | undefined;
}

/** Names without an answer, and where the worksheet has them. */
export interface OpenNames {
  /** As messages name it. */
  readonly file: string;
  /** Whether the mapping names the worksheet. */
  readonly isNamed: boolean;
  readonly rows: readonly {
    readonly line: number;
    readonly kind: string;
    readonly pipeline: string;
    readonly oldName: string;
    readonly suggestions: readonly string[];
  }[];
}

export interface Documents {
  /** Absent until the run has ended. */
  readonly summary: object;
  readonly survey: SurveySnapshot;
  readonly mapping: StoredMapping;
  /** Every file that the survey read. */
  readonly inputs: readonly FileDigest[];
  readonly account: Account;
}

export function readDocument<Name extends keyof Documents>(db: Database, name: Name): Documents[Name] | undefined {
  const row = db.get<{ content: string }>('select content from document where name = ?', name);
  return row && (JSON.parse(row.content) as Documents[Name]);
}

export function storeDocument<Name extends keyof Documents>(db: Database, name: Name, content: Documents[Name]): void {
  db.run('insert or replace into document (name, content) values (?, ?)', name, JSON.stringify(content));
}

/** Of the records of one type. `equal`, `different`, `missing` and `unreadable` add up to those that were read back. */
interface VerifiedRecords {
  /** Acknowledged in the checkpoint. */
  readonly acknowledged: number;
  readonly read_back: number;
  /** Without a difference in any field that was shown. */
  readonly equal: number;
  readonly different: number;
  readonly missing: number;
  /** Without a field that could be compared. */
  readonly unreadable: number;
  /** Why the service shows none of them; null if it shows some. */
  readonly not_shown: string | null;
  /** Fields that were sent and that no answer showed. */
  readonly not_readable: readonly string[];
}

/** What `verify` found: counts and names of fields, no values. */
export interface StoredVerification {
  /** ISO 8601. */
  readonly at: string;
  /** The plan that the service was compared with; the digest is null if it has none. */
  readonly plan: { readonly digest: string | null; readonly is_dry_run: boolean };
  /** How many records of each type were read back at most. */
  readonly sample: number | 'all';
  /** Why it ended as it did: `same`, `different`, … */
  readonly reason: string;
  readonly records: Readonly<Record<Entity, VerifiedRecords>>;
}

const NAME = 'verification';

/** `checkpoint`: the checkpoint itself, opened to write. */
export function storeVerification(checkpoint: Database, found: StoredVerification): void {
  storeSetting(checkpoint, NAME, JSON.stringify(found));
}

/** `db`: from `readState`. */
export function readVerification(db: Database): StoredVerification | undefined {
  const stored = readSetting(db, NAME, 'checkpoint');
  return stored === undefined ? undefined : (JSON.parse(stored) as StoredVerification);
}
